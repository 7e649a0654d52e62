"""The parcels app."""

from django.apps import AppConfig


class ParcelsConfig(AppConfig):
    """Parcel tracking."""

    name = "parcels"

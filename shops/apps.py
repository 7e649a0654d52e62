"""The shops app."""

from django.apps import AppConfig


class ShopsConfig(AppConfig):
    """Shops and their tokens."""

    name = "shops"

"""The shops app."""

from django.apps import AppConfig


class ShopsConfig(AppConfig):
    """Shops, tokens and carrier contracts."""

    name = "shops"

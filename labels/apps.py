"""The labels app."""

from django.apps import AppConfig


class LabelsConfig(AppConfig):
    """Shipping labels."""

    name = "labels"

"""The project's settings, URLs, error shape and demonstration."""

__version__ = "0.1.0"

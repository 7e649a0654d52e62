"""The project's settings, URLs, error shape and demonstration."""

"""The project's own app: its commands, and warnings of defaults that suit one machine only."""

from importlib import import_module
from typing import Any

from django.apps import AppConfig
from django.conf import settings
from django.core import checks, signals

from config.api.errors import log_unhandled


class ServiceConfig(AppConfig):
    """Sets up signals, the log-in's too, system checks and tracing when the project is loaded."""

    name = "config"

    def ready(self) -> None:
        from config.login import audit_trail, devices, factors, sessions  # noqa: F401, PLC0415 - they need the models

        import_module("config.desk.locale").translate_models()
        if settings.OTEL_EXPORTER_OTLP_ENDPOINT:
            import_module("config.ops.tracing").install()
        signals.got_request_exception.connect(log_unhandled)
        checks.register(first_look_defaults)


def first_look_defaults(app_configs: Any, **kwargs: Any) -> list[checks.CheckMessage]:
    """List defaults that are allowed and rarely wanted; `serve` logs them as warnings, `check` shows them."""
    if settings.DEBUG:
        return []
    found: list[tuple[str, str]] = []
    if settings.DATABASES["default"]["ENGINE"].endswith("sqlite3"):
        found.append(("config.I001", "DATABASE_URL is SQLite, which serves one machine: set PostgreSQL."))
    if not settings.REDIS_URL:
        found.append(("config.I002", "REDIS_URL is not set: each process counts the rate limit for itself."))
    for name, days in settings.KEEP_SUGGESTED_DAYS.items():
        text = f"{name} is not set, so nothing is removed: {days} suits most, `never` keeps it for ever."
        found.append(("config.I003", text))
    return [checks.Info(text, id=name) for name, text in found]

"""The project's own app: its commands, and a word at the start about what serves one machine only."""

import logging

from django.apps import AppConfig
from django.conf import settings
from django.core import signals
from django.core.cache import close_caches
from django.db import close_old_connections, reset_queries

logger = logging.getLogger("service.start")


class ServiceConfig(AppConfig):
    """Warns an operator of defaults that are meant for a first look."""

    name = "config"

    def ready(self) -> None:
        trim_signals()
        if not settings.DEBUG:
            warn_of_defaults()


def trim_signals() -> None:
    """Take off each request what does nothing for it: Django's receivers cost more than a look-up's own code.

    No cache here has anything to close. Old connections are closed after each request, so not again before it.
    The list of queries that `reset_queries` empties is kept with DEBUG only.
    """
    signals.request_finished.disconnect(close_caches)
    signals.request_started.disconnect(close_old_connections)
    if not settings.DEBUG:
        signals.request_started.disconnect(reset_queries)


def warn_of_defaults() -> None:
    if settings.DATABASES["default"]["ENGINE"].endswith("sqlite3"):
        logger.warning("DATABASE_URL is SQLite: it serves one machine; set PostgreSQL for production")
    if not settings.REDIS_URL:
        logger.warning("REDIS_URL is not set: each process counts the rate limit for itself")

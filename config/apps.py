"""The project's own app: its commands, and a word at the start about what serves one machine only."""

import logging

from django.apps import AppConfig
from django.conf import settings

logger = logging.getLogger("service.start")


class ServiceConfig(AppConfig):
    """Warns an operator of defaults that are meant for a first look."""

    name = "config"

    def ready(self) -> None:
        if settings.DEBUG:
            return
        if settings.DATABASES["default"]["ENGINE"].endswith("sqlite3"):
            logger.warning("DATABASE_URL is SQLite: it serves one machine; set PostgreSQL for production")
        if not settings.REDIS_URL:
            logger.warning("REDIS_URL is not set: each process counts the rate limit for itself")

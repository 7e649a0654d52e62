"""Serves the API, the admin and the health pages."""

from typing import Any

from django.conf import settings
from django.core.management.base import CommandParser

from config.ops import serving
from shops.management import base


class Command(base.Command):
    """Serve until SIGTERM, then finish the requests in flight. All other options are settings."""

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--host", default=settings.SERVE_HOST)
        parser.add_argument("--port", type=int, default=settings.SERVE_PORT)
        parser.add_argument("--workers", type=int, default=settings.SERVE_WORKERS)

    def handle(self, *args: Any, **options: Any) -> None:
        serving.serve(**{name: options[name] for name in ("host", "port", "workers")})

"""Writes the API's description anew."""

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand

from config.openapi.document import as_yaml, generate
from config.openapi.views import FILE


class Command(BaseCommand):
    """``openapi``."""

    help = "Write config/openapi/openapi.yaml from the code."

    def handle(self, *args: Any, **options: Any) -> None:
        Path(FILE).write_bytes(as_yaml(generate()))

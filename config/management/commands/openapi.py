"""Writes the API's description anew."""

from typing import Any

from config.openapi.document import as_yaml, generate
from config.openapi.views import FILE
from shops import commands


class Command(commands.Command):
    """``openapi``."""

    help = "Write config/openapi/openapi.yaml from the code."

    def handle(self, *args: Any, **options: Any) -> None:
        FILE.write_bytes(as_yaml(generate()))

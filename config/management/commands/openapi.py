"""Writes the API's description."""

from typing import Any

from django.core.management import CommandError

from config.docs.openapi.document import as_yaml, generate
from config.docs.openapi.views import FILE
from shops.management import base


class Command(base.Command):
    """Write config/docs/openapi/openapi.yaml from source.yaml and the code."""

    def handle(self, *args: Any, **options: Any) -> None:
        text = as_yaml(generate())
        try:
            FILE.write_bytes(text)
        except OSError as error:
            raise CommandError(f"{FILE} can't be written: {error.strerror}") from None

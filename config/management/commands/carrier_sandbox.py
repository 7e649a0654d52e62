"""Runs the carriers' sandbox, which sells labels without a contract."""

import importlib
import os
from typing import Any

from django.core.management.base import CommandError, CommandParser

from carriers.sandbox.journeys import PACE_NAME, pace_of
from shops.management import base


class Command(base.Command):
    """Serve a sandbox of both carriers: real PDFs that ship nothing. GET / explains it. Ctrl-C ends it."""

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--host", default="127.0.0.1")
        parser.add_argument("--port", type=int, default=8100)
        parser.add_argument("--pace", default=os.environ.get(PACE_NAME, ""), help="journey's seconds a second")

    def handle(self, *args: Any, **options: Any) -> None:
        host, port = options["host"], options["port"]
        if not host:  # it would be every address of the machine
            raise CommandError("--host: needs a host name or an address")
        try:
            # Labels are drawn with reportlab, which only the demo's requirements install.
            sandbox = importlib.import_module("carriers.sandbox.server")
        except ModuleNotFoundError as error:
            raise CommandError(f"the sandbox needs {error.name}, which requirements-demo.txt installs") from None
        try:
            pace = pace_of(options["pace"])
        except ValueError:
            raise CommandError(f"--pace {options['pace']!r} is not a number above 0") from None
        try:
            sandbox.serve(host, port, pace)
        except (OSError, OverflowError, UnicodeError) as error:
            raise CommandError(f"--host {host!r} --port {port} can't be used: {error}") from None

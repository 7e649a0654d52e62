"""What all commands share."""

import sys
from typing import Any, NoReturn

from django.core.management import base


class OneLineParser(base.CommandParser):
    """Reports bad arguments as the commands report any bad input: in one line, without the usage."""

    def error(self, message: str) -> NoReturn:
        if not self.called_from_command_line:
            raise base.CommandError(f"Error: {message}")
        sys.stderr.write(f"{self.prog}: {message}\n")
        sys.exit(2)


class Command(base.BaseCommand):
    """A command whose every complaint is one line on standard error."""

    requires_system_checks = []  # they are for `check`, `migrate` and the server's start; their remarks are lines too

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> base.CommandParser:
        parser = super().create_parser(prog_name, subcommand, **kwargs)
        parser.__class__ = OneLineParser
        return parser

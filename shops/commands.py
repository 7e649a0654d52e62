"""What all commands share."""

import sys
from typing import IO, Any, NoReturn

from django.core.management import base
from django.db import OperationalError


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

    def execute(self, *args: Any, **options: Any) -> str | None:
        try:
            return super().execute(*args, **options)
        except OperationalError as error:  # it can't be reached, or is being restarted
            first_line = next(iter(str(error).splitlines()), "")
            raise base.CommandError(f"the database can't be used: {first_line}") from error


def standard_input() -> IO[bytes]:
    """Standard input, as bytes; raise CommandError where it is closed."""
    if sys.stdin is None:
        raise base.CommandError("standard input: is closed")
    return sys.stdin.buffer

"""What all commands share."""

import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import IO, Any, NoReturn

from django.core.management import base
from django.db import OperationalError, ProgrammingError

from shops.models import Shop

# A table or a column that is missing, in PostgreSQL's codes and in SQLite's words.
MISSING_STATES = {"42P01", "42703"}
MISSING_WORDS = re.compile(r"no such (table|column)|.* has no column named")


class OneLineParser(base.CommandParser):
    """Reports bad arguments as the commands report any bad input: in one line, without the usage."""

    def error(self, message: str) -> NoReturn:
        if not self.called_from_command_line:
            raise base.CommandError(f"Error: {message}")
        sys.stderr.write(f"{self.prog}: {' '.join(message.split())}\n")
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
        except (OperationalError, ProgrammingError) as error:
            raise base.CommandError(f"the database can't be used: {reason(error)}") from error

    def print(self, text: str) -> None:
        """Print a line on standard output, at once; raise CommandError where that can't be.

        Inside a transaction what was made is then undone: nobody has seen its identifier.
        """
        try:
            self.stdout.write(text)
            self.stdout.flush()
        except OSError as error:  # it is full, or nobody reads it
            with suppress(OSError):  # Python would try again when it ends
                os.dup2(os.open(os.devnull, os.O_WRONLY), self.stdout.fileno())
            raise base.CommandError(f"standard output: {error.strerror}") from None
        except AttributeError:  # what Python makes of one that was closed before it started
            raise base.CommandError("standard output: is closed") from None


def reason(error: Exception) -> str:
    """Say in one line why the database can't be used: most often it can't be reached, or has no tables yet."""
    first_line = next(iter(str(error).splitlines()), "")
    is_missing = getattr(error.__cause__, "sqlstate", None) in MISSING_STATES or MISSING_WORDS.match(first_line)
    return f"{first_line} (run `manage.py migrate` first)" if is_missing else first_line


@contextmanager
def reading(name: str) -> Iterator[None]:
    """Raise CommandError where FILE can't be opened or read."""
    try:
        yield
    except OSError as error:
        raise base.CommandError(f"FILE: {name!r}: {error.strerror}") from None


def find_shop(shop_id: str) -> Shop:
    """Return the shop that a command was given as SHOP_ID; raise CommandError."""
    try:
        return Shop.objects.get(id=shop_id)
    except Shop.DoesNotExist:
        raise base.CommandError(f"SHOP_ID: there is no shop {shop_id!r}") from None


def standard_input() -> IO[bytes]:
    """Standard input, as bytes; raise CommandError where it is closed."""
    if sys.stdin is None:
        raise base.CommandError("standard input: is closed")
    return sys.stdin.buffer

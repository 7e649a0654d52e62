"""The base of all commands, and the arguments that several take."""

import getpass
import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any, NoReturn

from django.conf import settings
from django.core.management import base
from django.db import DatabaseError, OperationalError, ProgrammingError
from django.db.migrations.exceptions import MigrationSchemaMissing

from shops.db.failures import is_read_only, is_servers_own, lacks_migrations
from shops.models import Shop
from shops.staff.audit.models import AuditEntry, Channel
from shops.staff.audit.recording import Actor, acting

MAX_NAME = AuditEntry._meta.get_field("actor").max_length
MISSING_WORDS = re.compile(r"no such (table|column)|.* has no column named")  # SQLite's, of a missing table or column


class OneLineParser(base.CommandParser):
    """Reports bad arguments in one line, without the usage, as commands report any bad input."""

    def error(self, message: str) -> NoReturn:
        if not self.called_from_command_line:
            raise base.CommandError(f"Error: {message}")
        sys.stderr.write(f"{self.prog}: {' '.join(message.split())}\n")
        sys.exit(2)


class Command(base.BaseCommand):
    """A command that reports every error in one line on standard error; its help is its class's docstring."""

    requires_system_checks = []  # `check`, `migrate` and the server run them; here they would print further lines

    def __init_subclass__(cls) -> None:
        cls.help = cls.help or " ".join((cls.__doc__ or "").split())

    def get_version(self) -> str:
        return settings.VERSION

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> base.CommandParser:
        parser = super().create_parser(prog_name, subcommand, **kwargs)
        parser.__class__ = OneLineParser
        return parser

    def execute(self, *args: Any, **options: Any) -> str | None:
        with acting(Actor(operator()[:MAX_NAME], Channel.COMMAND)):
            return super().execute(*args, **options)

    def print(self, text: str) -> None:
        """Print a line on standard output at once; raise CommandError, which undoes a transaction, if that fails."""
        try:
            self.stdout.write(text)
            self.stdout.flush()
        except OSError as error:  # the disk is full, or the reader is gone
            discard(self.stdout)
            raise base.CommandError(f"standard output: {error.strerror}") from None
        except AttributeError:  # Python has none if it was closed before the start
            raise base.CommandError("standard output: is closed") from None

    def report_done(self, text: str) -> None:
        """Say on standard error what is done and can't be undone: that nobody can read it is no failure."""
        try:
            self.stderr.write(text)
        except OSError:
            discard(self.stderr)
        except AttributeError:  # it was closed before the start
            pass


def unusable(error: DatabaseError) -> str:
    """Say in one line why the database can't be used; nothing of an error that is a fault of ours."""
    is_usual = isinstance(error, OperationalError | ProgrammingError | MigrationSchemaMissing)
    # SQLite's of a file that is no database, or is damaged, is of the class itself.
    is_damaged = type(error) is DatabaseError or is_servers_own(error)
    if not (is_usual or is_damaged or is_read_only(error)):
        return ""
    first_line = next(iter(str(error).splitlines()), "")  # most often it is unreachable or has no tables yet
    is_missing = lacks_migrations(error) or MISSING_WORDS.match(first_line)
    return f"the database can't be used: {first_line}{' (run `manage.py migrate` first)' * bool(is_missing)}"


class CustomerCommand(Command):
    def add_arguments(self, parser: base.CommandParser) -> None:
        parser.add_argument("shop_id", metavar="SHOP_ID")
        parser.add_argument("email", metavar="EMAIL", help="upper and lower case make no difference")


def discard(stream: base.OutputWrapper) -> None:
    """Send what could not be written, which Python would try again at exit, nowhere."""
    with suppress(OSError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def operator() -> str:
    """Return the name of the one who runs the command: OPERATOR's, else the operating system's."""
    try:
        name = settings.OPERATOR or os.environ.get("SUDO_USER") or getpass.getuser()
        return name.encode(errors="replace").decode()  # a system's name may be no UTF-8
    except (KeyError, OSError):  # a container's user may have no name
        return f"uid {os.getuid()}"


@contextmanager
def open_file(name: str) -> Iterator[IO[bytes]]:
    """Open FILE, or standard input for ``-``; raise CommandError."""
    if name == "-":
        yield standard_input()
        return
    with file_errors(name):
        file = Path(name).open("rb")  # noqa: SIM115 - closed below; only the opening raises CommandError
    with file:
        yield file


@contextmanager
def file_errors(name: str) -> Iterator[None]:
    """Turn errors of opening and reading FILE into a CommandError."""
    try:
        yield
    except OSError as error:
        raise base.CommandError(f"FILE: {name!r}: {error.strerror}") from None


def find_shop(shop_id: str) -> Shop:
    """Return the shop with this SHOP_ID; raise CommandError."""
    try:
        return Shop.objects.get(id=shop_id)
    except Shop.DoesNotExist:
        raise base.CommandError(f"SHOP_ID: there is no shop {shop_id!r}") from None


def standard_input() -> IO[bytes]:
    """Return standard input as bytes; raise CommandError if it is closed."""
    if sys.stdin is None:
        raise base.CommandError("standard input: is closed")
    return sys.stdin.buffer

"""Runs commands in this process, and what they change."""

import io
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from manage import main
from shops.contracts.models import CarrierContract


@contextmanager
def standard_input(text: str | bytes) -> Iterator[None]:
    content = text if isinstance(text, bytes) else text.encode()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(content), encoding="utf-8"))
        yield


def call(*arguments: str, stdin: str | bytes = "") -> tuple[str, str]:
    """Run a command; return its standard output and standard error."""
    out, err = StringIO(), StringIO()
    with standard_input(stdin):
        call_command(*arguments, stdout=out, stderr=err)
    return out.getvalue(), err.getvalue()


def refused(*arguments: str, stdin: str | bytes = "") -> str:
    """Run a command that is refused and prints nothing; return what it says, which is one line."""
    out, err = StringIO(), StringIO()
    with standard_input(stdin), pytest.raises(CommandError) as caught:
        call_command(*arguments, stdout=out, stderr=err)
    assert (out.getvalue(), err.getvalue()) == ("", "")
    (line,) = str(caught.value).splitlines()
    return line


def run_here(*arguments: str | Path, stdin: str | bytes = "") -> tuple[int, str, str]:
    """Run a command line as ``manage.py`` does; return its exit code, standard output and standard error.

    It closes the database's connection at its end, so the test needs ``transactional_db``. Its terminal is not UTF-8.
    """
    out, err, code = io.TextIOWrapper(io.BytesIO(), encoding="ascii"), StringIO(), 0
    with standard_input(stdin), redirect_stdout(out), redirect_stderr(err), pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.argv", ["manage.py", *map(str, arguments)])
        patch.setattr("django.setup", lambda: None)  # it is set up, with pytest's logging
        try:
            main()
        except SystemExit as end:  # whose text a process prints at its end, and its code is 1 then
            code = 1 if isinstance(end.code, str) else int(end.code or 0)
            err.write(f"{end.code}\n" * isinstance(end.code, str))
    out.flush()
    return code, out.buffer.getvalue().decode(), err.getvalue()


def contracts() -> list[dict[str, Any]]:
    """All rows of contracts, with all that a command may change."""
    return list(CarrierContract.objects.order_by("id").values())

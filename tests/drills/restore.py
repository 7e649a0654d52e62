"""The restore drill: times a copy of a PostgreSQL and its recovery to a moment: ``python -m tests.drills.restore``.

deploy/backup.sh copies a database of a chosen size while it is written to. The recovery must bring back exactly the
transactions that were committed before the moment. tests/labels/test_point_in_time.py asks the carriers' side of it.
"""

import argparse
import os
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg

from tests.labels.backups import BACKUP, programs, remove_locks
from tests.support.services import postgresql
from tests.support.waiting import until

SCALE_OF_A_GIGABYTE = 67  # pgbench's
TRANSACTIONS = 20_000
COUNT = "SELECT count(*) FROM pgbench_history"


@contextmanager
def timed(title: str) -> Iterator[None]:
    started_s = time.monotonic()
    yield
    print(f"{title:<40} {time.monotonic() - started_s:6.1f} s", flush=True)


def pgbench(environment: dict[str, str], *options: str) -> None:
    subprocess.run(["pgbench", *options], env=environment, check=True, capture_output=True)


def ask(url: str, query: str) -> str:
    with psycopg.connect(url, autocommit=True) as connection:
        row = connection.execute(query).fetchone()
    assert row
    return str(row[0])


@contextmanager
def backup(url: str, folder: Path) -> Iterator[None]:
    """Run the backup until the WAL of the block has arrived too."""
    with subprocess.Popen([BACKUP, "run", folder], env=programs(url), stderr=subprocess.DEVNULL) as process:
        try:
            with timed("copy"):
                until(lambda: list(folder.glob("copies/*/complete")) or process.poll() is not None, timeout_s=3600)
            yield
            until((folder / "wal" / ask(url, "SELECT pg_walfile_name(pg_switch_wal())")).exists)
        finally:
            process.terminate()


def size(folder: Path) -> str:
    return f"{sum(file.stat().st_size for file in folder.rglob('*') if file.is_file()) / 1e9:.2f} GB"


def drill(folder: Path, gigabytes: float) -> None:
    with postgresql(folder / "pg") as url:
        pgbench(programs(url), "--initialize", "--scale", str(round(gigabytes * SCALE_OF_A_GIGABYTE)))
        print(f"{'data':<40} {size(folder / 'pg' / 'base')}")
        with backup(url, folder / "backup"):
            pgbench(programs(url), "--transactions", str(TRANSACTIONS))
            expected, moment = ask(url, COUNT), ask(url, "SELECT clock_timestamp()")
            pgbench(programs(url), "--transactions", "100")
        print(f"{'backup, with the WAL':<40} {size(folder / 'backup')}")
        owner = (folder / "pg").stat()
    with timed("restore: the copy is unpacked"):
        subprocess.run([BACKUP, "restore", folder / "backup", folder / "restored", moment], check=True)
    remove_locks(folder / "restored")
    for path in folder.rglob("*"):
        os.chown(path, owner.st_uid, owner.st_gid)
    with timed("recovery to the moment"), postgresql(folder / "restored") as url:
        until(lambda: ask(url, "SELECT pg_is_in_recovery()") == "False", timeout_s=3600)
        found = ask(url, COUNT)
    print(f"{'transactions before the moment':<40} {expected}, restored {found}")
    assert found == expected


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.drills.restore", description=__doc__)
    parser.add_argument("--gigabytes", type=float, default=1)
    with tempfile.TemporaryDirectory(prefix="drill-", ignore_cleanup_errors=True) as name:
        os.environ["XDG_RUNTIME_DIR"] = name
        drill(Path(name), parser.parse_args().gigabytes)


if __name__ == "__main__":
    main()

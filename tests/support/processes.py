"""Commands and servers in processes of their own, on the database of the test that starts them."""

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from django.db import connection

from tests.support import programs
from tests.support.programs import Process, ended
from tests.support.services import ENVIRONMENT
from tests.support.waiting import WAIT_TIMEOUT_S

ROOT = programs.ROOT
counter = count(os.getpid())  # a drill started by the same worker begins elsewhere
# Below the ports that the system hands out by itself; a thousand for each worker of pytest-xdist, of which each pass
# of the suite may have ten.
PORTS = 1_000


def environment() -> dict[str, str]:
    """Return the environment of a process that works on the test's database (``transactional_db``)."""
    name = str(connection.settings_dict["NAME"])
    is_sqlite = connection.vendor == "sqlite"
    url = f"sqlite:///{name}" if is_sqlite else urlsplit(os.environ["DATABASE_URL"])._replace(path=f"/{name}").geturl()
    shared = {name: os.environ[name] for name in ("PATH", "REDIS_URL", "TMPDIR") if name in os.environ}
    return ENVIRONMENT | shared | {"DATABASE_URL": url, "PYTHONWARNINGS": "error"}


def start_command(*arguments: str | bytes | Path, **settings: str) -> "subprocess.Popen[bytes]":
    """Start a command, with these settings changed."""
    return subprocess.Popen(
        [sys.executable, "manage.py", *arguments],
        cwd=ROOT,
        env=environment() | settings,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def end_other_sessions() -> None:
    """End what other processes still do on the test's database: PostgreSQL finishes a statement of a killed client."""
    if connection.vendor == "postgresql":
        others = "datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'"
        with connection.cursor() as cursor:
            cursor.execute(f"SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE {others}")


def run_command(*arguments: str | bytes | Path, stdin: bytes = b"", **settings: str) -> tuple[int, str, str]:
    """Run a command as an operator does; return its exit code, standard output and standard error.

    Warnings of a start on SQLite are left out.
    """
    with ended(start_command(*arguments, **settings)) as process:
        out, err = process.communicate(stdin, timeout=WAIT_TIMEOUT_S)
    lines = [line for line in err.decode().splitlines(keepends=True) if '"service.start"' not in line]
    return process.returncode, out.decode(), "".join(lines)


def run_module(name: str, *arguments: str) -> str:
    """Run a program that sets up its own services; return what it printed."""
    command = [sys.executable, "-m", name, *arguments]
    # Ctrl-C reaches it from here only, and once: it ends its services then, which a second one would disturb.
    program = subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True
    )
    with ended(program, signal.SIGINT) as process:
        output, _ = process.communicate()  # for as long as a test may take
    assert process.returncode == 0, output
    return output


def free_port() -> int:
    """Give a port that nothing listens on, and that no other test will take before its server does."""
    worker = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
    first = int(os.environ.get("FIRST_PORT", "10000")) + worker % 10 * PORTS
    while True:
        port = first + next(counter) % PORTS
        with suppress(OSError), socket.create_server(("127.0.0.1", port)):
            return port


class Server(Process):
    """The service as production runs it, on a free port; its log holds both output streams."""

    def __init__(
        self, variables: dict[str, str], log: Path, *, workers: int = 1, threads: int | None = None, **options: Any
    ) -> None:
        port, own = free_port(), {"SERVE_THREADS": str(threads)} if threads else {}
        command = [sys.executable, "manage.py", "serve", "--port", str(port), "--workers", str(workers)]
        super().__init__(command, variables | own, log, port=port, **options)

    @property
    def metrics_port(self) -> int:
        return int(self.variables["METRICS_PORT"])


@contextmanager
def served(
    log: Path,
    settings: dict[str, str] | None = None,
    *,
    workers: int = 1,
    threads: int | None = None,
    with_metrics: bool = False,
) -> Iterator[Server]:
    """Serve with these settings on top; stop it afterwards.

    A server that finds no folder for its metrics makes one, and starts a second time.
    """
    own = {
        "METRICS_PORT": str(free_port() if with_metrics else 0),
        "PROMETHEUS_MULTIPROC_DIR": str(log.with_suffix(".metrics")) if with_metrics else "",
        "DJANGO_SETTINGS_MODULE": "tests.support.server_settings",
    }
    with Server(environment() | own | (settings or {}), log, workers=workers, threads=threads) as server:
        yield server
        server.stop(WAIT_TIMEOUT_S)

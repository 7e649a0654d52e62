"""Commands and servers in processes of their own, on the database of the test that starts them."""

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from urllib.parse import urlsplit

from django.db import connection

from tests.support.programs import ended
from tests.support.services import ENVIRONMENT
from tests.support.waiting import WAIT_TIMEOUT_S, until

ROOT = Path(__file__).parent.parent.parent
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


@dataclass(frozen=True)
class Server:
    """The service as production runs it; its log holds both output streams."""

    port: int
    metrics_port: int
    process: "subprocess.Popen[bytes]"
    log: Path


@contextmanager
def served(
    log: Path,
    settings: dict[str, str] | None = None,
    *,
    workers: int = 1,
    threads: int | None = None,
    with_metrics: bool = False,
) -> Iterator[Server]:
    """Run `manage.py serve` with these settings on top; yield when it listens, stop it afterwards."""
    port, metrics_port = free_port(), free_port() if with_metrics else 0
    command = [sys.executable, "manage.py", "serve", "--port", str(port)]
    command += ["--workers", str(workers)]
    own = {"METRICS_PORT": str(metrics_port), "DJANGO_SETTINGS_MODULE": "tests.support.server_settings"}
    own |= {"SERVE_THREADS": str(threads)} if threads else {}
    variables = environment() | own | (settings or {})
    with (
        log.open("wb") as output,
        ended(subprocess.Popen(command, cwd=ROOT, env=variables, stdout=output, stderr=output)) as process,
    ):
        wait_for_port(port, process)
        yield Server(port, metrics_port, process, log)


@contextmanager
def server(log: Path, settings: dict[str, str] | None = None) -> Iterator[int]:
    """Serve the application in a process of its own, with its log in a file; yield the port."""
    with served(log, settings) as running:
        yield running.port


def wait_for_port(port: int, process: "subprocess.Popen[bytes]") -> None:
    until(lambda: is_listening(port) or process.poll() is not None)
    if process.poll() is not None:
        raise RuntimeError("the server ended before it listened")


def is_listening(port: int) -> bool:
    with suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
        return True
    return False

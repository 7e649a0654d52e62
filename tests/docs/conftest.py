"""The demo, run as by `make demo`, on a database of its own."""

import os
import re
import shutil
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import psycopg
import pytest

from tests.support import migrated
from tests.support.processes import ROOT, free_port
from tests.support.programs import ended

LAST_LINE = "Ctrl-C ends it."
TIMEOUT_S = 120


@dataclass(frozen=True)
class Demo:
    """The demo's output, and its environment."""

    url: str
    token: str
    sandbox_url: str
    printed: str
    collection: Path
    environment: dict[str, str]

    def command(self, *arguments: str) -> str:
        """Run a command of the service in its environment; return the output."""
        return run([sys.executable, "manage.py", *arguments], self.environment).strip()

    def read(self, command: list[str], folder: Path = ROOT, **variables: str) -> str:
        """Run a reader's program, which finds the service by its address and token; return the output."""
        own = {"URL": self.url, "TOKEN": self.token, "PATH": os.environ["PATH"], "PYTHONUTF8": "1"}
        return run(command, own | variables, folder, may_fail=True)


def run(command: list[str], environment: dict[str, str], folder: Path = ROOT, *, may_fail: bool = False) -> str:
    """Return what a program prints, with its errors where it may fail."""
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, encoding="utf-8", timeout=TIMEOUT_S, check=False
    )
    assert may_fail or not done.returncode, done.stderr
    return done.stdout + (done.stderr if done.returncode else "")


@contextmanager
def database(folder: Path) -> Iterator[str]:
    """Create an empty database of the run's kind; yield its URL."""
    url = os.environ["DATABASE_URL"]
    if url.startswith("sqlite"):
        migrated.copy_to(folder / "demo.sqlite3")
        yield f"sqlite:///{folder / 'demo.sqlite3'}"
        return
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {folder.name}")
        yield urlsplit(url)._replace(path=f"/{folder.name}").geturl()
        connection.execute(f"DROP DATABASE {folder.name} WITH (FORCE)")


@pytest.fixture(scope="package")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Demo]:
    """The demonstration, which ends with the tests of this folder: its background work goes on meanwhile.

    They share its shop, so its limit is that of many.
    """
    with demonstration(tmp_path_factory.mktemp("demo"), RATE_LIMIT="1000/60s") as running:
        yield running


@pytest.fixture
def own_demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Demo]:
    """A demonstration in which nobody has ordered anything, with the usual limit."""
    with demonstration(tmp_path_factory.mktemp("demo")) as running:
        yield running


@contextmanager
def demonstration(folder: Path, **variables: str) -> Iterator[Demo]:
    collection = folder / "parcels.http"
    with database(folder) as database_url:
        environment = {
            "DEBUG": "1",
            "DATABASE_URL": database_url,
            "LABELS_DIR": str(folder / "labels"),
            "PATH": os.environ["PATH"],
            "PYTHONUNBUFFERED": "1",
            **variables,
        }
        command = [sys.executable, "manage.py", "demo", "--port", str(free_port()), "--collection", str(collection)]
        with (
            (folder / "demo.log").open("wb") as log,
            ended(subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=log)) as process,
        ):
            printed = read_until_ready(process, folder / "demo.log")
            yield Demo(
                url=found(r"running at (\S+)\.", printed),
                token=found(r"Bearer (\S+)'", printed),
                sandbox_url=found(r"(http://\S+)/ledger", printed),
                printed=printed,
                collection=collection,
                environment=environment,
            )


@pytest.fixture
def path(stand_in: str) -> str:
    """A PATH with the system's curl, or with our stand-in where there is none."""
    return os.environ["PATH"] if shutil.which("curl") else stand_in


@pytest.fixture
def stand_in(tmp_path: Path) -> str:
    """A PATH with our stand-in for curl, which runs the same lines."""
    script = tmp_path / "bin" / "curl"
    script.parent.mkdir()
    script.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{Path(__file__).with_name("curl.py")}" "$@"\n')
    script.chmod(stat.S_IRWXU)
    return f"{script.parent}{os.pathsep}{os.environ['PATH']}"


def read_until_ready(process: "subprocess.Popen[bytes]", log: Path) -> str:
    assert process.stdout
    lines = []
    for line in process.stdout:  # ends with the process if the demo fails
        lines.append(line.decode())
        if lines[-1].strip() == LAST_LINE:
            return "".join(lines)
    raise RuntimeError(f"the demo did not start: {log.read_text()}")


def found(pattern: str, text: str) -> str:
    match = re.search(pattern, text)
    assert match, pattern
    return match[1]

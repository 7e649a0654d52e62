"""Versions of the service out of git, each in a folder and with processes of its own."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import orjson

from tests.drills.http_client import call
from tests.drills.process import Process
from tests.support.processes import ROOT, free_port
from tests.support.waiting import until

MIGRATIONS = "*/migrations/*.py"
# The tables that a change is made to where N has none of its own: those that look-ups and orders read and write.
CHANGED = {"shops": "AccessToken", "parcels": "Parcel", "labels": "ShippingLabel"}
FIELD = """
{model}.add_to_class("upgrade_note", models.TextField(null=True, default="new"))
"""
COLUMNS = """
from django.db import migrations, models

class Migration(migrations.Migration):
    dependencies = [("{app}", "{last}")]
    operations = [
        migrations.AddField("{model}", "upgrade_note", models.TextField(null=True)),
        migrations.AddField("{model}", "upgrade_count", models.IntegerField(db_default=0)),
    ]
"""
INDEX = """
from django.db import migrations, models
from shops.db.indexes import AddIndexConcurrently

class Migration(migrations.Migration):
    atomic = False
    dependencies = [("{app}", "9998_upgrade_columns")]
    operations = [
        AddIndexConcurrently("{model}", models.Index(fields=["upgrade_note"], name="upgrade_{app}")),
    ]
"""


def git(*words: str) -> str:
    done = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=False)
    return done.stdout.strip()


def version_before() -> str:
    """Return the newest release's tag, or where there is none the commit that made the present migrations."""
    return git("describe", "--tags", "--abbrev=0", "--match", "v*", "HEAD~1") or git(
        "log", "-1", "--format=%h", "--", MIGRATIONS
    )


class Version:
    """A commit's files, and the processes that run them."""

    def __init__(self, name: str, commit: str, folder: Path) -> None:
        self.name, self.folder = name, folder / name
        self.log = folder / f"{name}.log"
        self.processes: list[Process] = []
        self.is_changed = False
        self.folder.mkdir()
        archive = subprocess.run(["git", "archive", commit], cwd=ROOT, capture_output=True, check=True).stdout
        subprocess.run(["tar", "--extract", "--directory", self.folder], input=archive, check=True)

    @property
    def migrations(self) -> dict[str, bytes]:
        return {str(path.relative_to(self.folder)): path.read_bytes() for path in self.folder.glob(MIGRATIONS)}

    def change_tables(self) -> None:
        """Add to hot tables what a release may add: a column that this version fills, another, and an index."""
        self.is_changed = True
        for app, model in CHANGED.items():
            folder = self.folder / app / "migrations"
            names = {"app": app, "model": model, "last": max(folder.glob("0*.py")).stem}
            (folder / "9998_upgrade_columns.py").write_text(COLUMNS.format(**names))
            (folder / "9999_upgrade_index.py").write_text(INDEX.format(**names))
            with (self.folder / app / "models.py").open("a") as models:
                models.write(FIELD.format(**names))

    def manage(self, *words: str, stdin: bytes = b"") -> str:
        """Run a command; return what it printed."""
        command = [sys.executable, "manage.py", *words]
        with self.log.open("ab") as log:
            done = subprocess.run(command, cwd=self.folder, input=stdin, stdout=subprocess.PIPE, stderr=log, check=True)
        return done.stdout.decode().strip()

    def start(self, stack: ExitStack) -> None:
        """Start the server."""
        self.port = free_port()
        self.run(stack, "serve", "--host", "127.0.0.1", "--port", str(self.port), "--workers", "1")
        self.processes[0].wait_until_listening(self.port)

    def run(self, stack: ExitStack, *words: str) -> None:
        command = [sys.executable, "manage.py", *words]
        self.processes.append(stack.enter_context(Process(command, dict(os.environ), self.log, cwd=self.folder)))

    def readiness(self) -> int:
        return call(self.port, "GET", "/readyz").status

    def wait_until_ready(self) -> None:
        until(lambda: self.readiness() == 200)

    def stop(self) -> list[str]:
        """Send SIGTERM to all its processes; return the faults."""
        codes = [process.stop() for process in self.processes]
        self.processes = []
        return [f"{self.name}: exit code {code}" for code in codes if code]

    def errors(self) -> Iterator[str]:
        """Yield the lines of its log that tell of an error."""
        for line in self.log.read_bytes().splitlines():
            try:
                level = orjson.loads(line)["level"]
            except orjson.JSONDecodeError:
                level = "ERROR" if line.startswith(b"Traceback") else ""
            if level in ("ERROR", "CRITICAL"):
                yield f"{self.name}: {line.decode()}"

"""Versions of the service out of git, each in a folder of its own."""

import re
import subprocess
import sys
from pathlib import Path

from tests.support.processes import ROOT

MIGRATIONS = "*/migrations/*.py"
# The tables that a change is made to: those that look-ups and orders read and write.
CHANGED = {"shops": "AccessToken", "parcels": "Parcel", "labels": "ShippingLabel"}
FIELD = """
from django.db import models
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


RELEASED = re.compile(r"^The commit is `(\w+)`", re.MULTILINE)


def git(*words: str, folder: Path = ROOT) -> str:
    done = subprocess.run(["git", *words], cwd=folder, capture_output=True, text=True, check=False)
    return done.stdout.strip()


def version_before() -> str:
    """Return the newest release's tag, or the commit that the changelog names."""
    tag = git("describe", "--tags", "--abbrev=0", "--match", "v*", "HEAD~1")
    return tag or RELEASED.findall((ROOT / "CHANGELOG.md").read_text())[0]


def migrations(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.glob(MIGRATIONS)}


def extract(commit: str, folder: Path, repository: Path = ROOT, *, with_its_packages: bool = False) -> None:
    """Put a commit's files into a folder, with this run's packages or with the commit's own."""
    folder.mkdir()
    archive = subprocess.run(["git", "archive", commit], cwd=repository, capture_output=True, check=True).stdout
    subprocess.run(["tar", "--extract", "--directory", folder], input=archive, check=True)
    if not with_its_packages:
        (folder / ".venv").symlink_to(ROOT / ".venv")
        return
    subprocess.run([sys.executable, "-m", "venv", folder / ".venv"], check=True)
    pip = [str(folder / ".venv/bin/python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, "--require-hashes", "-r", str(folder / "requirements-extras.txt")], check=True)


def check_out_changed(folder: Path) -> None:
    """Clone HEAD, and add to hot tables what a release may add: a column that it fills, another, and an index."""
    git("clone", "--quiet", "--shared", str(ROOT), str(folder))
    for app, model in CHANGED.items():
        made = folder / app / "migrations"
        names = {"app": app, "model": model, "last": max(made.glob("0*.py")).stem}
        (made / "9998_upgrade_columns.py").write_text(COLUMNS.format(**names))
        (made / "9999_upgrade_index.py").write_text(INDEX.format(**names))
        (module,) = (path for path in (folder / app).glob("models*") if path.name in {"models", "models.py"})
        with (module / "__init__.py" if module.is_dir() else module).open("a") as models:
            models.write(FIELD.format(**names))
    git("add", "--all", folder=folder)
    who = ["-c", "user.name=Drill", "-c", "user.email=drill@example.com"]
    git(*who, "commit", "--quiet", "--message", "Changed tables", folder=folder)


def manage(folder: Path, *words: str, stdin: str = "") -> str:
    """Run a command of a version; return what it printed."""
    command = [str(folder / ".venv/bin/python"), "manage.py", *words]
    with (folder.parent / "commands.log").open("ab") as log:
        done = subprocess.run(
            command, cwd=folder, input=stdin, text=True, stdout=subprocess.PIPE, stderr=log, check=True
        )
    return done.stdout.strip()

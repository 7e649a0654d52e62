"""An SQLite file as the migrations leave it: a run of the whole suite makes it once and copies it."""

import fcntl
import os
import shutil
import subprocess
import sys
from pathlib import Path

VARIABLE = "MIGRATED_SQLITE"  # the file's path; another run has none, as its few databases are not worth a process


def copy_to(file: Path) -> None:
    """Copy the file if the run has one, made by whoever needs it first: migrating takes two seconds of a processor."""
    if VARIABLE not in os.environ:
        return
    migrated = Path(os.environ[VARIABLE])
    with migrated.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not migrated.exists():
            make(migrated)
    shutil.copyfile(migrated, file)


def make(migrated: Path) -> None:
    unfinished = migrated.with_suffix(".unfinished")
    variables = dict(os.environ) | {"DATABASE_URL": f"sqlite:///{unfinished}"}
    command = [sys.executable, "manage.py", "migrate", "--verbosity", "0"]
    subprocess.run(command, cwd=Path(__file__).parent.parent.parent, env=variables, check=True)
    unfinished.rename(migrated)

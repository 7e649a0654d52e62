"""Looks for migrations that hold up requests by their locks: ``python -m tests.locks``.

The SQL of each migration after the apps' first ones is given to squawk. It exits with 1 if squawk refuses something.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import django
from django.db import connection
from django.db.migrations.loader import MigrationLoader

from tests.support.services import ENVIRONMENT, postgresql

SQUAWK = Path(sys.executable).with_name("squawk")
OLDEST_POSTGRESQL = "15"
OUR_APPS = ("config", "shops", "parcels", "labels")
# Rules of taste, and those that are kept elsewhere: `migrate` sets lock_timeout by itself, and tests look at what
# the previous version needs.
LEFT_OUT = (
    "ban-drop-constraint,prefer-bigint-over-int,prefer-bigint-over-smallint,prefer-identity,prefer-robust-stmts,prefer-text-field,"
    "require-lock-timeout,require-statement-timeout,ban-drop-table"
)


def main() -> int:
    with tempfile.TemporaryDirectory(prefix="locks-", ignore_cleanup_errors=True) as folder:
        os.environ.update(ENVIRONMENT | {"XDG_RUNTIME_DIR": folder})
        with postgresql(Path(folder) / "pg") as url:  # Django asks it for its version while it writes the SQL
            os.environ["DATABASE_URL"] = url
            django.setup()
            found = {name: refused(sql, in_transaction=atomic) for name, sql, atomic in later_migrations()}
            connection.close()
    for name, told in found.items():
        print(f"{name}: {told or 'fine'}")
    return 1 if any(found.values()) else 0


def later_migrations() -> list[tuple[str, str, bool]]:
    """Return name and SQL of each migration of ours that can meet a table in use, and whether it is a transaction."""
    loader = MigrationLoader(connection, replace_migrations=False)
    keys = [key for key in sorted(loader.graph.nodes) if key[0] in OUR_APPS and not key[1].startswith("0001")]
    migrations = [loader.graph.nodes[key] for key in keys]
    return [(str(each), "\n".join(loader.collect_sql([(each, False)])), bool(each.atomic)) for each in migrations]


def refused(sql: str, *, in_transaction: bool) -> str:
    """Return squawk's findings, a line each; nothing if there are none."""
    options = ["--reporter", "gcc", "--pg-version", OLDEST_POSTGRESQL, "--exclude", LEFT_OUT]
    options += ["--assume-in-transaction"] if in_transaction else []
    done = subprocess.run([SQUAWK, *options], input=sql, capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1):
        raise RuntimeError(done.stderr)
    return done.stdout.strip()


if __name__ == "__main__":
    sys.exit(main())

"""The restore drill: ``python -m tests.drills.restore [--labels N] [--gigabytes G]``.

First it buys labels, restores the database to a moment before some of them with deploy/backup.sh, and puts these back
with ``recover``. Then it times a copy of a database of a chosen size, written to meanwhile, and its recovery, which
must bring back exactly the transactions that were committed before the moment.
"""

import os
import subprocess
import tempfile
from pathlib import Path

from tests.drills import settlement
from tests.drills.harness import finish, read_options
from tests.drills.printing import say, timed
from tests.labels.backups import DRILL_TIMEOUT_S, ask, backed_up, hand_over, programs, recovered, restore
from tests.support.services import postgresql

SCALE_OF_A_GIGABYTE = 67  # pgbench's
TRANSACTIONS = 20_000
COUNT = "SELECT count(*) FROM pgbench_history"


def pgbench(environment: dict[str, str], *options: str) -> None:
    subprocess.run(["pgbench", *options], env=environment, check=True, capture_output=True)


def size(folder: Path) -> str:
    return f"{sum(file.stat().st_size for file in folder.rglob('*') if file.is_file()) / 1e9:6.2f} GB"


def time_restore(folder: Path, gigabytes: float) -> list[str]:
    """Return a fault unless all transactions before the moment came back, and none after it."""
    print("a database of pgbench's")
    with postgresql(folder / "pg") as url:
        with timed("filled"):
            pgbench(programs(url), "--initialize", "--scale", str(round(gigabytes * SCALE_OF_A_GIGABYTE)))
        say("data", size(folder / "pg" / "base"))
        with backed_up(url, folder / "backup", timeout_s=DRILL_TIMEOUT_S) as copy_s:
            say("copy", f"{copy_s:6.1f} s")
            pgbench(programs(url), "--transactions", str(TRANSACTIONS))
            expected, moment = ask(url, COUNT), ask(url, "SELECT clock_timestamp()")
            pgbench(programs(url), "--transactions", "100")
        say("backup, with the WAL", size(folder / "backup"))
        owner = (folder / "pg").stat()
    with timed("restore: the copy is unpacked"):
        restore(folder / "backup", folder / "restored", moment)
    hand_over(folder, owner)
    with timed("recovery to the moment"), recovered(folder / "restored", timeout_s=DRILL_TIMEOUT_S) as url:
        found = ask(url, COUNT)
    say("transactions before the moment", f"{expected}, restored {found}")
    return [] if found == expected else [f"{expected} transactions before the moment, restored {found}"]


if __name__ == "__main__":
    options = read_options(labels=200, gigabytes=1.0)
    faults = settlement.drill(options.labels) if options.labels else []
    if options.gigabytes:
        with tempfile.TemporaryDirectory(prefix="drill-", ignore_cleanup_errors=True) as name:
            os.environ["XDG_RUNTIME_DIR"] = name
            faults += time_restore(Path(name), options.gigabytes)
    finish(faults)

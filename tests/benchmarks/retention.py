"""``python -m tests.benchmarks.retention``: what removing parcels by age costs, and what look-ups notice of it.

A PostgreSQL and a Redis of its own, full of parcels of up to 20 days; those older than 10 are removed while look-ups
go on, one after the other, in another process's place: this one. fsync is off, as in the tests' servers.
"""

import argparse
import os
import random
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path
from statistics import quantiles

from tests.benchmarks.__main__ import SHOP, environment, prepare
from tests.services import postgresql

KEEP_DAYS = "10"
BASELINE = 5_000


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.retention", description=__doc__)
    parser.add_argument("--parcels", type=int, default=200_000)
    parser.add_argument("--batch", default="500")
    options = parser.parse_args()
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="bench-", ignore_cleanup_errors=True)))
        os.environ.update(environment(), XDG_RUNTIME_DIR=str(folder), KEEP_PARCELS_DAYS=KEEP_DAYS)
        os.environ["DATABASE_URL"] = stack.enter_context(postgresql(folder / "pg"))
        prepare(options.parcels)
        find_a_customer()
        print(f"look-ups alone:               {latencies(options.parcels, until=None)}")
        timed("apply_retention", "--dry-run").wait()
        process = timed("apply_retention", "--batch", options.batch)
        print(f"look-ups beside the removal:  {latencies(options.parcels, until=process)}")
        timed("apply_retention").wait()


def timed(*arguments: str) -> "subprocess.Popen[bytes]":
    """Start a command that tells how long it took."""
    code = (
        "import sys, time; started = time.monotonic(); "
        "from django.core.management import execute_from_command_line as run; run(sys.argv); "
        "print(f'{\" \".join(sys.argv[1:])}: {time.monotonic() - started:.1f} s, its start included')"
    )
    return subprocess.Popen([sys.executable, "-c", code, *arguments])


def latencies(parcels: int, *, until: "subprocess.Popen[bytes] | None") -> str:
    """Look parcels up until a process has ended, or a fixed number of times; tell how long the answers took."""
    from parcels.reading import find  # noqa: PLC0415 - after the set-up
    from tests.benchmarks.load import numbers  # noqa: PLC0415

    rng, taken_ms = random.Random(1), []
    while until.poll() is None if until else len(taken_ms) < BASELINE:
        number = numbers(rng.randrange(parcels))[0]
        started_at = time.perf_counter()
        find(shop_id=SHOP, number=number)
        taken_ms.append((time.perf_counter() - started_at) * 1000)
    cuts = quantiles(taken_ms, n=1000)
    return (
        f"{len(taken_ms)} look-ups, p50 {cuts[499]:.2f}  p99 {cuts[989]:.2f}  p99.9 {cuts[998]:.2f}  "
        f"longest {max(taken_ms):.1f} ms"
    )


def find_a_customer() -> None:
    """Find one by an address that is nobody's, which reads all there is to read, and show how."""
    from django.db import connection  # noqa: PLC0415 - after the set-up

    from parcels.erasure import parcels_of  # noqa: PLC0415

    with connection.cursor() as cursor:
        cursor.execute("VACUUM")
    connection.force_debug_cursor = True
    started_at = time.monotonic()
    parcels_of(SHOP, "nobody@example.com")
    print(f"a customer looked for in all parcels: {(time.monotonic() - started_at) * 1000:.0f} ms")
    for query in connection.queries:
        with connection.cursor() as cursor:
            cursor.execute(f"EXPLAIN {query['sql']}".replace("%", "%%"), [])
            print("  ", cursor.fetchall()[0][0])
    connection.force_debug_cursor = False


if __name__ == "__main__":
    main()

"""The retention benchmark: ``python -m tests.benchmarks.retention [--parcels N]``.

It measures the cost of removing data by age, and its effect on look-ups, on a PostgreSQL of its own with parcels of up
to 20 days. A process removes those older than 10 days while this one looks parcels up, one after the other. Then half
as many labels lose keys and addresses. fsync is off, as in the tests' servers.
"""

import random
import subprocess
import sys
import time
from datetime import timedelta
from statistics import quantiles
from typing import TYPE_CHECKING

from tests.drills.environment import environment
from tests.drills.options import read_options
from tests.drills.shop import SHOP

if TYPE_CHECKING:
    from collections.abc import Callable

KEEP_DAYS = 10
LABEL_DAYS = 20
AGE = """
UPDATE labels_shippinglabel SET idempotency_key = 'k' || order_id,
    finished_at = now() - interval '1 day' * (right(id, 7)::int %% %s)
"""
BASELINE = 5_000  # look-ups


def main() -> None:
    options = read_options(__doc__, parcels=200_000)
    with environment("postgresql", {"KEEP_PARCELS_DAYS": KEEP_DAYS}):
        from tests.benchmarks.parcels import load_parcels

        load_parcels(SHOP, options.parcels)
        find_a_customer()
        print(f"look-ups alone:               {latencies(options.parcels, until=None)}")
        timed("apply_retention", "--dry-run").wait()
        process = timed("apply_retention")
        print(f"look-ups during the removal:  {latencies(options.parcels, until=process)}")
        timed("apply_retention").wait()
        age_labels(options.parcels // 2)


def age_labels(count: int) -> None:
    """Fill the labels' table, half of it with old labels; time each operation on them."""
    from django.utils import timezone

    from labels.personal_data import erasure, retention

    fill_labels(count)
    before = timezone.now() - timedelta(days=KEEP_DAYS)
    steps: dict[str, Callable[[], int]] = {
        "a customer's labels found": lambda: len(erasure.labels_of(SHOP, "nobody@example.com")),
        "keys released": lambda: retention.release_keys(before=before, batch_size=500, is_dry_run=False),
        "addresses removed": lambda: retention.remove_addresses(before=before, batch_size=500, is_dry_run=False),
    }
    for name, do in steps.items():
        started_at = time.monotonic()
        done = do()
        print(f"{count} labels: {name}: {done} in {time.monotonic() - started_at:.2f} s")


def fill_labels(count: int) -> None:
    from django.db import connection

    from tests.benchmarks.desk import load_labels

    with connection.cursor() as cursor:
        load_labels(cursor, count)
        cursor.execute(AGE, [LABEL_DAYS])


def timed(*arguments: str) -> "subprocess.Popen[bytes]":
    """Start a command that prints its duration."""
    code = (
        "import sys, time; started = time.monotonic(); "
        "from django.core.management import execute_from_command_line as run; run(sys.argv); "
        "print(f'{\" \".join(sys.argv[1:])}: {time.monotonic() - started:.1f} s, including its start')"
    )
    return subprocess.Popen([sys.executable, "-c", code, *arguments])


def latencies(parcels: int, *, until: "subprocess.Popen[bytes] | None") -> str:
    """Look parcels up until a process has ended, or a fixed number of times; describe the latencies."""
    from parcels.queries import find
    from tests.benchmarks.parcels import any_number

    rng = random.Random(1)
    taken_ms: list[float] = []
    while until.poll() is None if until else len(taken_ms) < BASELINE:
        number = any_number(rng, parcels)
        started_at = time.perf_counter()
        find(shop_id=SHOP, number=number)
        taken_ms.append((time.perf_counter() - started_at) * 1000)
    cuts = quantiles(taken_ms, n=1000)
    return (
        f"{len(taken_ms)} look-ups, p50 {cuts[499]:.2f}  p99 {cuts[989]:.2f}  p99.9 {cuts[998]:.2f}  "
        f"longest {max(taken_ms):.1f} ms"
    )


def find_a_customer() -> None:
    """Search for an unknown e-mail address, which reads all rows there are to read; print the query plans."""
    from django.db import connection

    from parcels.personal_data.erasure import parcels_of

    with connection.cursor() as cursor:
        cursor.execute("VACUUM")
    connection.force_debug_cursor = True
    started_at = time.monotonic()
    parcels_of(SHOP, "nobody@example.com")
    print(f"a customer's parcels found among all: {(time.monotonic() - started_at) * 1000:.0f} ms")
    for query in connection.queries:
        with connection.cursor() as cursor:
            cursor.execute(f"EXPLAIN {query['sql']}".replace("%", "%%"), [])
            print("  ", cursor.fetchall()[0][0])
    connection.force_debug_cursor = False


if __name__ == "__main__":
    main()

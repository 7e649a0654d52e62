"""The retention benchmark: ``python -m tests.benchmarks.retention [--parcels N]``.

It measures the cost of removing data by age, and its effect on look-ups, on a PostgreSQL of its own with parcels of up
to 20 days. A process removes those older than 10 days while this one looks parcels up, one after the other. Then half
as many labels lose keys and addresses. fsync is off, as in the tests' servers.
"""

import argparse
import random
import subprocess
import sys
import time
from datetime import timedelta
from functools import partial
from statistics import quantiles

from django.db import connection
from django.utils import timezone

from tests.drills.environment import Environment
from tests.drills.harness import play
from tests.drills.printing import did
from tests.drills.shop import SHOP
from tests.drills.sql import execute

KEEP_DAYS = 10
LABEL_DAYS = 20
AGE = """
UPDATE labels_shippinglabel SET idempotency_key = 'k' || order_id,
    finished_at = now() - interval '1 day' * (right(id, 7)::int %% %s)
"""
BASELINE = 5_000  # look-ups


def benchmark(_: Environment, options: argparse.Namespace) -> None:
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
    from labels.personal_data import erasure, retention
    from tests.benchmarks.desk import load_labels

    load_labels(count)
    execute(AGE, [LABEL_DAYS])
    before = timezone.now() - timedelta(days=KEEP_DAYS)
    print(f"{count} labels:")
    did("a customer's labels found", lambda: len(erasure.labels_of(SHOP, "nobody@example.com")))
    for name, act in {"keys released": retention.release_keys, "addresses removed": retention.remove_addresses}.items():
        did(name, partial(act, before=before, batch_size=500, is_dry_run=False))


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
    from parcels.personal_data.erasure import parcels_of

    execute("VACUUM")
    connection.force_debug_cursor = True
    started_at = time.monotonic()
    parcels_of(SHOP, "nobody@example.com")
    print(f"a customer's parcels found among all: {(time.monotonic() - started_at) * 1000:.0f} ms")
    for query in list(connection.queries):
        [[plan], *_] = execute(f"EXPLAIN {query['sql']}")
        print("  ", plan)
    connection.force_debug_cursor = False


if __name__ == "__main__":
    play(benchmark, {"KEEP_PARCELS_DAYS": KEEP_DAYS}, parcels=200_000)

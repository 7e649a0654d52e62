"""``python -m tests.benchmarks.retention``: what removing things by age costs, and what look-ups notice of it.

A PostgreSQL of its own, full of parcels of up to 20 days; those older than 10 are removed by a process of their own
while look-ups go on in this one, one after the other. Then half as many labels lose keys and addresses. fsync is
off, as in the tests' servers.
"""

import argparse
import os
import random
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from datetime import timedelta
from pathlib import Path
from statistics import quantiles
from typing import TYPE_CHECKING

from tests.benchmarks.__main__ import SHOP, environment, prepare
from tests.support.services import postgresql

if TYPE_CHECKING:
    from collections.abc import Callable

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
        age_labels(options.parcels // 2)


def age_labels(count: int) -> None:
    """Fill the labels' table, a half with old labels; time each thing that is done to them."""
    from django.utils import timezone

    from labels import erasure, retention
    from labels.models import ShippingLabel

    now = timezone.now()
    address = {"firstName": "Zoé", "lastName": "Lefèvre", "address1": "3 rue de l'Église", "city": "Lyon"}
    address |= {"zip": "69002", "countryCode": "FR", "phone": "+33472001122", "email": "zoe@example.com"}
    ShippingLabel.objects.bulk_create(
        (
            ShippingLabel(
                shop_id=SHOP, state="label_generated", leased_until=now, order_id=f"o{number}", sender=address,
                recipient=address, weights_kg=["1"], idempotency_key=f"k{number}",
                finished_at=now - timedelta(days=number % 20),
            )
            for number in range(count)
        ),
        batch_size=1000,
    )  # fmt: skip
    before = now - timedelta(days=10)
    steps: dict[str, Callable[[], int]] = {
        "a customer looked for": lambda: len(erasure.labels_of(SHOP, "nobody@example.com", [])),
        "keys released": lambda: retention.release_keys(before=before, batch_size=500, is_dry_run=False),
        "addresses removed": lambda: retention.remove_addresses(before=before, batch_size=500, is_dry_run=False),
    }
    for name, do in steps.items():
        started_at = time.monotonic()
        done = do()
        print(f"{count} labels: {name}: {done} in {time.monotonic() - started_at:.2f} s")


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
    from parcels.queries import find
    from tests.benchmarks.load import numbers

    rng = random.Random(1)
    taken_ms: list[float] = []
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
    from django.db import connection

    from parcels.erasure import parcels_of

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

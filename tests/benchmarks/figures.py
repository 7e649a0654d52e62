"""The figures' benchmark: ``python -m tests.benchmarks.figures [--parcels N] [--labels N]``.

On a PostgreSQL of its own, filled with labels of 60 days and parcels of 20: the duration of the counts that `work`
makes, the queries and the time of the first page and of the figures for finance, and an export of all labels in a
process of its own. fsync is off, as in the tests' servers.
"""

import argparse
import json
import logging
import random
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from datetime import timedelta
from statistics import median
from typing import TYPE_CHECKING, Any

from tests.drills.environment import environment
from tests.drills.shop import RECIPIENT, SENDER, SHOP

if TYPE_CHECKING:
    from django.test import Client

DAYS = 60
SHOPS = 100
ONE_FOLLOWED_IN = 10  # parcels
VISITS = 9
PATHS = {"first page": "/admin/", "finance": "/admin/labels/labelfigure/"}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.figures", description=__doc__)
    parser.add_argument("--parcels", type=int, default=2_000_000)
    parser.add_argument("--labels", type=int, default=500_000)
    parser.add_argument("--export", choices=["csv", "xlsx"], help=argparse.SUPPRESS)  # in a process of its own
    options = parser.parse_args()
    if options.export:
        export(options.export)
        return
    with environment("postgresql", {}):
        fill(options.parcels, options.labels)
        time_counts()
        time_pages()
        for kind in ("csv", "xlsx"):
            subprocess.run([sys.executable, "-m", "tests.benchmarks.figures", "--export", kind], check=True)


def fill(parcels: int, labels: int) -> None:
    from django.db import connection

    from shops.models import Shop
    from tests.benchmarks.parcels import load_parcels

    Shop.objects.bulk_create(Shop(id=f"shop-{number}", name=f"Shop {number}") for number in range(SHOPS))
    load_parcels(SHOP, parcels)
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE parcels_parcelnumber SET carrier_code = 'alpha', last_event_at = created_at,"
            " followed_since = now(), due_at = now() + interval '1 hour', checked_at = now(), outcome = 'known'"
            " WHERE hashtext(parcel_id) %% %s = 0",
            [ONE_FOLLOWED_IN],
        )
        columns, rows = label_rows(labels)
        with cursor.copy(f"COPY labels_shippinglabel ({', '.join(columns)}) FROM STDIN") as copy:
            for row in rows:
                copy.write_row(row)
        cursor.execute("VACUUM ANALYZE")
    print(f"{parcels} parcels, {labels} labels of {SHOPS} shops")


def label_rows(labels: int) -> tuple[list[str], Iterator[list[Any]]]:
    """Return the columns of labels, and their rows, most of them bought."""
    from django.db import connection
    from django.utils import timezone

    from carriers.products import PRODUCTS
    from labels.ids import id_prefix
    from labels.models import ShippingLabel

    rng, now = random.Random(1), timezone.now()
    products = [product for product in PRODUCTS.values() if product.carrier in ("alpha", "beta")]
    fields = {str(field.column): field for field in ShippingLabel._meta.concrete_fields}

    def rows() -> Iterator[list[Any]]:
        for number in range(labels):
            at = now - timedelta(days=DAYS) * (1 - number / labels)
            product = rng.choice(products)
            state = rng.choices(["label_generated", "failed", "cancelled"], [90, 8, 2])[0]
            label = ShippingLabel(
                id=f"{id_prefix(at)}{number:07d}", shop_id=f"shop-{rng.randrange(SHOPS)}", state=state, created_at=at,
                finished_at=at, leased_until=at, order_id=f"o{number}", carrier_code=product.carrier,
                product_code=product.code, sender=SENDER, recipient=RECIPIENT, tracking_numbers=[f"XU{number:09d}FR"],
                weights_kg=[str(rng.randrange(1, 3000) / 100)],
                error_code=f"{product.carrier.upper()}_UNAVAILABLE" if state == "failed" else "",
            )  # fmt: skip
            values = (field.get_db_prep_save(getattr(label, field.attname), connection) for field in fields.values())
            yield [value.dumps(value.obj) if hasattr(value, "dumps") and value.dumps else value for value in values]

    return list(fields), rows()


def timed(name: str, do: Callable[[], object]) -> None:
    started_at = time.monotonic()
    found = do()
    print(f"{name}: {time.monotonic() - started_at:.2f} s ({found} days)")


def time_counts() -> None:
    from labels.figures import counting as labels
    from parcels.figures import counting as parcels

    timed("labels, first count", labels.recount)
    timed("labels, a count five minutes later", labels.recount)
    timed("parcels, any count", parcels.recount)


def staff(name: str) -> "Client":
    from django.test.utils import setup_test_environment

    from tests.support.api import logged_in

    setup_test_environment(debug=False)
    logging.disable()  # a line a request
    return logged_in(name=name, is_superuser=True)


def time_pages() -> None:
    from tests.support.api import query_count

    browser = staff("ada")
    for name, path in PATHS.items():
        queries = query_count(browser, path)
        taken_ms = []
        for _ in range(VISITS):
            started_at = time.perf_counter()
            browser.get(path)
            taken_ms.append((time.perf_counter() - started_at) * 1000)
        print(f"{name}: {queries} queries, median {median(taken_ms):.0f} ms, longest {max(taken_ms):.0f} ms")


def export(kind: str) -> None:
    """Take an export of all labels as a client does, and print its cost."""
    import django

    django.setup()
    browser = staff(f"ada-{kind}")
    before_kb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    started_at = time.monotonic()
    response: Any = browser.get(f"/admin/labels/shippinglabel/export.{kind}")
    first_s, size = 0.0, 0
    for chunk in response.streaming_content:
        first_s = first_s or time.monotonic() - started_at
        size += len(chunk)
    taken_s = time.monotonic() - started_at
    peak_kb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    facts = {"first byte (s)": round(first_s, 1), "all (s)": round(taken_s, 1), "MB": round(size / 1e6)}
    print(f"{kind} {json.dumps(facts)}, peak memory {peak_kb // 1024} MiB, before it {before_kb // 1024} MiB")


if __name__ == "__main__":
    main()

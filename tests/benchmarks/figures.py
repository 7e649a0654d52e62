"""The figures' benchmark: ``python -m tests.benchmarks.figures [--parcels N] [--labels N]``.

On a PostgreSQL of its own, filled with labels of 60 days and parcels of 20: the duration of the counts that `work`
makes, the queries and the time of the first page and of the figures for finance, and an export of all labels in a
process of its own. fsync is off, as in the tests' servers.
"""

import argparse
import json
import logging
import resource
import subprocess
import sys
import time
from functools import partial
from typing import TYPE_CHECKING, Any

import django
from django.test.utils import setup_test_environment

from carriers.products import PRODUCTS
from tests.drills.environment import Environment
from tests.drills.harness import play
from tests.drills.printing import did, timed_ms
from tests.drills.shop import SHOP
from tests.drills.sql import execute

if TYPE_CHECKING:
    from django.test import Client

DAYS = 60
SHOPS = 100
ONE_FOLLOWED_IN = 10  # parcels
# Labels of all shops and products, of which one in fifty is cancelled.
OF_SHOPS = """
UPDATE labels_shippinglabel SET shop_id = 'shop-' || right(id, 7)::int %% %(shops)s,
    product_code = (%(codes)s::text[])[1 + place %% cardinality(%(codes)s)],
    carrier_code = (%(carriers)s::text[])[1 + place %% cardinality(%(codes)s)],
    state = CASE WHEN random() < 0.02 THEN 'cancelled' ELSE state END
FROM (SELECT id AS own, right(id, 7)::int / 7 AS place FROM labels_shippinglabel) l WHERE id = own
"""
FOLLOWED = """
UPDATE parcels_parcelnumber SET carrier_code = 'alpha', last_event_at = created_at, followed_since = now(),
    due_at = now() + interval '1 hour', checked_at = now(), outcome = 'known' WHERE hashtext(parcel_id) %% %s = 0
"""
VISITS = 9
PATHS = {"first page": "/admin/", "finance": "/admin/labels/labelfigure/"}


def benchmark(_: Environment, options: argparse.Namespace) -> None:
    fill(options.parcels, options.labels)
    time_counts()
    time_pages()
    for kind in ("csv", "xlsx"):
        subprocess.run([sys.executable, "-m", "tests.benchmarks.figures", "--export", kind], check=True)


def settings(options: argparse.Namespace) -> dict[str, object]:
    if options.export:
        export(options.export)
        sys.exit()
    return {}


def fill(parcels: int, labels: int) -> None:
    from shops.models import Shop
    from tests.benchmarks.desk import load_labels
    from tests.benchmarks.parcels import load_parcels

    Shop.objects.bulk_create(Shop(id=f"shop-{number}", name=f"Shop {number}") for number in range(SHOPS))
    load_parcels(SHOP, parcels)
    execute(FOLLOWED, [ONE_FOLLOWED_IN])
    load_labels(labels, days=DAYS)
    carriers = [each.carrier for each in PRODUCTS.values()]
    execute(OF_SHOPS, {"shops": SHOPS, "codes": [*PRODUCTS], "carriers": carriers})
    execute("VACUUM ANALYZE")
    print(f"{parcels} parcels, {labels} labels of {SHOPS} shops")


def time_counts() -> None:
    from labels.figures import counting as labels
    from parcels.figures import counting as parcels

    did("labels, first count (days)", labels.recount)
    did("labels, a count five minutes later (days)", labels.recount)
    did("parcels, any count (days)", parcels.recount)


def staff(name: str) -> "Client":
    from tests.support.api import logged_in

    setup_test_environment(debug=False)
    logging.disable()  # a line a request
    return logged_in(name=name, is_superuser=True)


def time_pages() -> None:
    from tests.support.api import query_count

    browser = staff("ada")
    for name, path in PATHS.items():
        queries = query_count(browser, path)
        median, _, longest = timed_ms(partial(browser.get, path), VISITS)
        print(f"{name}: {queries} queries, median {median:.0f} ms, longest {longest:.0f} ms")


def export(kind: str) -> None:
    """Take an export of all labels as a client does, and print its cost."""
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
    play(benchmark, settings, parcels=2_000_000, labels=500_000, export=("", "csv", "xlsx"))

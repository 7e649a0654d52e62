"""The benchmark of the staff's pages: ``python -m tests.benchmarks.desk [--parcels N] [--labels N]``, on PostgreSQL.

For each list, filter and kind of search it prints the queries, the best time of three, and the CPU time of Python and
of PostgreSQL, in the process, without HTTP; pages above `GOAL_MS` are marked.
"""

import argparse
import logging
import string
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from django.db import connection
from django.test.utils import CaptureQueriesContext

from tests.drills.environment import Environment
from tests.drills.harness import play
from tests.drills.printing import timed
from tests.drills.shop import PRODUCTS, RECIPIENT, SENDER, SHOP, carrier_of
from tests.drills.sql import execute

ROUNDS = 3
GOAL_MS = 150
DAYS = 90  # of the labels
FAILED_EVERY = 12
CODES = ("ALPHA_ADDRESS_REJECTED", "BETA_ADDRESS_REJECTED", "ALPHA_UNAVAILABLE", "BETA_REQUEST_REJECTED")
FOLLOW = """
UPDATE parcels_parcelnumber SET carrier_code = 'beta', followed_since = now(), due_at = now(),
    last_event_at =
        1000 * extract(epoch FROM now() - (random() + CASE WHEN random() < 0.002 THEN 20 ELSE 1 END) * interval '1 day')
WHERE random() < 0.1
"""
# Of 100 parcels or labels one is a small shop's, of 1,000 parcels one has a rare status, of 100,000 one a rare carrier.
UNEVEN = (
    "UPDATE parcels_parcel SET shop_id = 'small' WHERE id LIKE '%37'",
    "UPDATE parcels_parcelnumber SET shop_id = 'small' WHERE parcel_id LIKE '%37'",
    "UPDATE parcels_parcel SET last_status = 'DELIVERY_FAILURE' WHERE id LIKE '%777'",
    "UPDATE parcels_parcel SET carrier_code = 'other' WHERE id LIKE '%55555'",
    "UPDATE labels_shippinglabel SET shop_id = 'small' WHERE id LIKE '%37'",
    "UPDATE labels_shippinglabel SET state = 'cancelled' WHERE id LIKE '%4242'",
    "UPDATE labels_shippinglabel SET state = 'unknown', tracking_numbers = '[]' WHERE id LIKE '%50001'",
)
# Each bought label has a parcel; the carriers do not have those of the newest third yet.
BOUGHT = """
UPDATE parcels_parcelnumber n SET state = 'bought', label = l.id FROM labels_shippinglabel l
WHERE l.state = 'label_generated' AND n.parcel_id = 'B00' || right(l.id, 7) AND n.number LIKE '%0FR'
"""
WAITING = "UPDATE parcels_parcel SET handed_in_at = NULL WHERE id < 'B' || lpad((%s::int / 3)::text, 9, '0')"
LABELS_TABLE = "labels_shippinglabel"
LABEL_SAMPLES = 96  # after which carriers, failures and their codes are the same again
# The columns of a label of its own, in SQL.
OWN = {
    "id": "pg_temp.id_prefix(at) || lpad(i::text, 7, '0')",
    **dict.fromkeys(("created_at", "finished_at", "leased_until"), "at"),
    "order_id": "'L' || i",
    "recipient": "s.recipient || jsonb_build_object('firstName', 'Zoé' || i % 1000 || 'x',"
    " 'lastName', 'Lefèvre' || i || 'y', 'zip', (10000 + i % 80000)::text, 'phone', '+336' || lpad(i::text, 8, '0'),"
    " 'email', 'person' || i || '@mail.example')",
    "search_words": "array_to_tsvector(ARRAY['nzoe' || i % 1000 || 'x', 'nlefevre' || i || 'y',"
    " 'z' || 10000 + i % 80000, 'p336' || lpad(i::text, 8, '0'), 'p6' || lpad(i::text, 8, '0'),"
    " 'eperson' || i || '@mail.example'])",
    "tracking_numbers": "CASE s.state WHEN 'failed' THEN '[]'"
    " ELSE jsonb_build_array('8R' || lpad(i::text, 11, '0')) END",
}
FUNCTION = """
CREATE OR REPLACE FUNCTION pg_temp.id_prefix(at timestamptz) RETURNS text STABLE LANGUAGE sql
RETURN (SELECT string_agg(substr('{}', (ms / (36 ^ digit)::bigint % 36)::int + 1, 1), '' ORDER BY digit DESC)
        FROM (SELECT floor(1000 * extract(epoch FROM at - '{}'))::bigint AS ms) time, generate_series(0, 7) digit)
"""
AT = "'{}'::timestamptz - {} * (i + 1) / {}.0 * interval '1 day'"


def benchmark(_: Environment, options: argparse.Namespace) -> None:
    with timed(f"{options.parcels} parcels and {options.labels} labels loaded"):
        load(options.parcels, options.labels)
    show_pages(options.parcels, options.labels)
    show_sizes()


def load(parcels: int, labels: int) -> None:
    from shops.models import Shop
    from tests.benchmarks.parcels import NUMBERS, PARCELS, loading, make_parcels

    Shop.objects.create(id="small", name="Small")
    with connection.cursor() as cursor, loading(cursor, PARCELS, NUMBERS, LABELS_TABLE):
        make_parcels(cursor, SHOP, parcels)
        cursor.execute(FOLLOW)
        make_labels(cursor, labels)
        for statement in (*UNEVEN, BOUGHT):
            cursor.execute(statement)
        cursor.execute(WAITING, [labels])
    execute("VACUUM ANALYZE")


def load_labels(count: int, days: int = DAYS) -> None:
    from tests.benchmarks.parcels import loading

    with connection.cursor() as cursor, loading(cursor, LABELS_TABLE):
        make_labels(cursor, count, days)


def make_labels(cursor: Any, count: int, days: int = DAYS) -> None:
    """Make labels of the last days, each to a recipient of its own."""
    from labels.ids import EPOCH
    from tests.benchmarks.parcels import columns_of, make_rows

    cursor.execute(FUNCTION.format(string.digits + string.ascii_uppercase, EPOCH))
    samples = [columns_of(sample_label(number)) for number in range(LABEL_SAMPLES)]
    make_rows(cursor, LABELS_TABLE, samples, OWN, count, AT.format(datetime.now(UTC).isoformat(), days, count))


def sample_label(number: int) -> Any:
    """Return a label, of which every twelfth has failed."""
    from labels.models import ShippingLabel

    carrier = carrier_of(number // FAILED_EVERY + number)
    is_failed = number % FAILED_EVERY == 0
    return ShippingLabel(
        shop_id=SHOP,
        state="failed" if is_failed else "label_generated",
        carrier_code=carrier,
        product_code=PRODUCTS[carrier],
        sender=SENDER,
        recipient=RECIPIENT,
        weights_kg=["1.25"],
        error_code=CODES[number // FAILED_EVERY % len(CODES)] if is_failed else "",
        error_message="The carrier refused the address." if is_failed else "",
    )


def show_pages(parcels: int, labels: int) -> None:
    from config.postgresql.base import DatabaseWrapper
    from tests.benchmarks.desk_pages import pages
    from tests.support.api import logged_in

    connection.close()
    DatabaseWrapper.is_serving = True  # pages are planned as in `serve`
    logging.disable()  # a line a request
    browser = logged_in(is_superuser=True)
    for name, path in pages(parcels, labels).items():
        show(browser, name, path)


def show(browser: Any, name: str, path: str) -> None:
    """Print the cost of a page, in the best of its rounds."""
    rounds = []
    for _ in range(ROUNDS):
        with CaptureQueriesContext(connection) as captured:
            before = time.perf_counter(), time.process_time(), database_cpu_s()
            status = browser.get(path).status_code
            after = time.perf_counter(), time.process_time(), database_cpu_s()
        rounds.append([1000 * (end - begin) for end, begin in zip(after, before, strict=True)])
    took_ms, python_ms, database_ms = min(rounds)
    print(
        f"{name:45} {status} {len(captured):3} queries {took_ms:5.0f} ms, CPU: Python {python_ms:4.0f}, "
        f"PostgreSQL {database_ms:4.0f}{'  <-- slow' if took_ms > GOAL_MS else ''}",
        flush=True,
    )


def database_cpu_s() -> float:
    """Return the CPU time of the connection's process; `/proc` has it in nanoseconds there."""
    connection.ensure_connection()
    pid = connection.connection.info.backend_pid
    return int(Path(f"/proc/{pid}/schedstat").read_text().split()[0]) / 10**9


def show_sizes() -> None:
    for name in ("parcel_search_words", "label_search_words", "label_error"):
        [[size]] = execute("SELECT pg_size_pretty(pg_relation_size(%s))", [name])
        print(f"{name}: {size}")


if __name__ == "__main__":
    play(benchmark, parcels=2_000_000, labels=500_000)

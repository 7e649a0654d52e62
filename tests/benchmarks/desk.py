"""The benchmark of the staff's pages: ``python -m tests.benchmarks.desk [--parcels N] [--labels N]``, on PostgreSQL.

For each list, filter and kind of search it prints the queries, the best time of three, and the CPU time of Python and
of PostgreSQL, in the process, without HTTP; pages above `GOAL_MS` are marked.
"""

import argparse
import logging
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from tests.drills.environment import environment
from tests.drills.shop import PRODUCTS, RECIPIENT, SENDER, SHOP, carrier_of

ROUNDS = 3
GOAL_MS = 150
DAYS = 90
FAILED_EVERY = 12
CODES = ("ALPHA_ADDRESS_REJECTED", "BETA_ADDRESS_REJECTED", "ALPHA_UNAVAILABLE", "BETA_REQUEST_REJECTED")
FOLLOW = """
UPDATE parcels_parcelnumber SET carrier_code = 'beta', followed_since = now(), due_at = now(),
    last_event_at =
        1000 * extract(epoch FROM now() - CASE WHEN random() < 0.002 THEN 20 ELSE 1 END * interval '1 day')::bigint
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
)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.desk", description=__doc__)
    parser.add_argument("--parcels", type=int, default=2_000_000)
    parser.add_argument("--labels", type=int, default=500_000)
    options = parser.parse_args()
    with environment("postgresql", {}):
        from django.db import connections

        load(options.parcels, options.labels)
        show_pages(options.parcels, options.labels)
        show_sizes()
        connections.close_all()


def load(parcels: int, labels: int) -> None:
    from django.db import connection

    from shops.models import Shop
    from tests.benchmarks.parcels import load_parcels

    started_at = time.monotonic()
    Shop.objects.create(id="small", name="Small")
    load_parcels(SHOP, parcels)
    with connection.cursor() as cursor:
        cursor.execute(FOLLOW)
        load_labels(cursor, labels)
        for statement in UNEVEN:
            cursor.execute(statement)
        cursor.execute("VACUUM ANALYZE")
    print(f"{parcels} parcels and {labels} labels loaded in {time.monotonic() - started_at:.0f} s", flush=True)


def load_labels(cursor: Any, count: int) -> None:
    from django.db import connection

    from labels.models import ShippingLabel

    fields = {str(field.column): field for field in ShippingLabel._meta.concrete_fields}
    with cursor.copy(f"COPY {ShippingLabel._meta.db_table} ({', '.join(fields)}) FROM STDIN") as copy:
        for label in some_labels(count):
            values = ((field, field.pre_save(label, add=True)) for field in fields.values())
            copy.write_row([field.get_db_prep_save(value, connection) for field, value in values])


def some_labels(count: int) -> Iterator[Any]:
    """Yield labels of the last days, each to a recipient of its own; every twelfth has failed, a few are to decide."""
    from labels.ids import id_prefix
    from labels.models import ShippingLabel

    now = datetime.now(UTC)
    for index in range(count):
        ordered_at = now - timedelta(days=DAYS) * (index + 1) / count
        carrier = carrier_of(index // FAILED_EVERY + index)
        is_failed, is_open = index % FAILED_EVERY == 0, index % 50_000 == 1
        yield ShippingLabel(
            id=id_prefix(ordered_at) + f"{index:07d}",
            shop_id=SHOP,
            state="failed" if is_failed else "unknown" if is_open else "label_generated",
            created_at=ordered_at,
            finished_at=ordered_at,
            leased_until=ordered_at,
            order_id=f"L{index}",
            carrier_code=carrier,
            product_code=PRODUCTS[carrier],
            sender=SENDER,
            recipient=recipient(index),
            weights_kg=["1.25"],
            tracking_numbers=[] if is_failed or is_open else [f"8R{index:011d}"],
            error_code=CODES[index // FAILED_EVERY % len(CODES)] if is_failed else "",
            error_message="The carrier refused the address." if is_failed else "",
        )


def recipient(index: int) -> dict[str, str]:
    return RECIPIENT | {
        "firstName": f"Zoé{index % 1000}x",
        "lastName": f"Lefèvre{index}y",
        "zip": f"{10_000 + index % 80_000}",
        "phone": f"+336{index:08d}",
        "email": f"person{index}@mail.example",
    }


def show_pages(parcels: int, labels: int) -> None:
    from tests.benchmarks.desk_pages import pages
    from tests.support.api import logged_in

    logging.disable()  # a line a request
    browser = logged_in(is_superuser=True)
    for name, path in pages(parcels, labels).items():
        show(browser, name, path)


def show(browser: Any, name: str, path: str) -> None:
    """Print the cost of a page, in the best of its rounds."""
    from django.db import connection
    from django.test.utils import CaptureQueriesContext

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
    from django.db import connection

    connection.ensure_connection()
    pid = connection.connection.info.backend_pid
    return int(Path(f"/proc/{pid}/schedstat").read_text().split()[0]) / 10**9


def show_sizes() -> None:
    from django.db import connection

    with connection.cursor() as cursor:
        for name in ("parcel_search_words", "label_search_words", "label_error"):
            cursor.execute("SELECT pg_size_pretty(pg_relation_size(%s))", [name])
            print(f"{name}: {cursor.fetchone()[0]}")


if __name__ == "__main__":
    main()

"""The benchmark of the staff's pages: ``python -m tests.benchmarks.desk [--parcels N] [--labels N]``, on PostgreSQL.

It prints the queries and the milliseconds of each list and of each kind of search, in the process, without HTTP.
"""

import argparse
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from statistics import median
from typing import Any

from tests.drills.environment import environment
from tests.drills.shop import RECIPIENT, SENDER, SHOP

ROUNDS = 5
DAYS = 90
FAILED_EVERY = 12
CODES = ("ALPHA_ADDRESS_REJECTED", "BETA_ADDRESS_REJECTED", "ALPHA_UNAVAILABLE", "BETA_REQUEST_REJECTED")
LABELS, PARCELS = "/admin/labels/shippinglabel/", "/admin/parcels/parcel/"
FOLLOW = """
INSERT INTO parcels_parceltracking (parcel_id, shop_id, carrier_code, carrier_events, label_numbers, added_numbers,
    are_texts_erased, last_event_at, followed_since, next_check_at, outcome, failures)
SELECT id, shop_id, 'beta', '[]', '[]', '[]', false,
    1000 * extract(epoch FROM now() - CASE WHEN random() < 0.002 THEN 20 ELSE 1 END * interval '1 day')::bigint,
    now(), now(), '', 0
FROM parcels_parcel WHERE random() < 0.1
"""


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.desk", description=__doc__)
    parser.add_argument("--parcels", type=int, default=2_000_000)
    parser.add_argument("--labels", type=int, default=500_000)
    options = parser.parse_args()
    with environment("postgresql", {}):
        from django.db import connections

        load(options.parcels, options.labels)
        from tests.support.api import logged_in

        browser = logged_in(is_superuser=True)
        for name, path in pages(options.parcels, options.labels).items():
            show(browser, name, path)
        show_sizes()
        connections.close_all()


def load(parcels: int, labels: int) -> None:
    from django.db import connection

    from tests.benchmarks.parcels import load_parcels

    started_at = time.monotonic()
    load_parcels(SHOP, parcels)
    with connection.cursor() as cursor:
        cursor.execute(FOLLOW)
        load_labels(cursor, labels)
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
        is_failed, is_open = index % FAILED_EVERY == 0, index % 50_000 == 1
        yield ShippingLabel(
            id=id_prefix(ordered_at) + f"{index:07d}",
            shop_id=SHOP,
            state="failed" if is_failed else "unknown" if is_open else "label_generated",
            created_at=ordered_at,
            finished_at=ordered_at,
            leased_until=ordered_at,
            order_id=f"L{index}",
            carrier_code="alpha" if index % 2 else "beta",
            product_code="alpha-18" if index % 2 else "beta_domicile_sans_signature_france",
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


def pages(parcels: int, labels: int) -> dict[str, str]:
    """Return the pages to measure, by name."""
    from tests.benchmarks.parcels import numbers

    number, label = numbers(parcels // 2)[0], labels // 2
    searched = {
        "tracking number": number,
        "tracking number, lower case": number.lower(),
        "beginning of it, many": number[:6],
        "order number": f"#{parcels // 3}",
        "order id": f"{5_400_000_000 + parcels // 3}",
        "order id of a label": f"l{label}",
        "parcel id": f"B{parcels // 2:09d}",
        "label's number": f"8R{label:011d}",
        "a tenth's last name": "Martin",
        "a tenth's first name, accents left out": "zoe",
        "first and last name": "zoe martin",
        "last name of one": f"LEFEVRE{label}Y",
        "beginning of a last name": f"lefèvre{label // 100}",
        "name and postal code": "martin 75011",
        "postal code": "75011",
        "phone, national": f"06 {label:08d}",
        "phone, international": f"+33 (0)6{label:08d}",
        "phone of many parcels": "+33 6 00 00 10 00",
        "e-mail": f"person{label}@mail.example",
        "e-mail, upper case": f"PERSON{label}@MAIL.EXAMPLE",
        "beginning of an e-mail": f"person{label // 100}",
        "beginning of all e-mails": "customer",
        "no hit: number": "ZZ9999999ZZ",
        "no hit: digits": "99999999999999",
        "no hit: name": "Nobody Atall",
        "no hit: e-mail": "nobody@nowhere.example",
        "no hit: phone": "+49 30 1234567",
    }
    lists = {
        "labels": LABELS,
        "labels by reason": f"{LABELS}?reason={CODES[0]}",
        "labels by a reason that none has": f"{LABELS}?reason=ALPHA_CREDENTIALS_REJECTED",
        "labels by product": f"{LABELS}?product=alpha-18",
        "labels by a product that none has": f"{LABELS}?product=relais",
        "labels by a carrier and shop, this month": f"{LABELS}?carrier=alpha&shop__id__exact={SHOP}&when=month",
        "labels of today": f"{LABELS}?when=today",
        "failed labels of one day": f"{LABELS}?state=failed&created_from={day(40)}&created_to={day(40)}",
        "unknown labels": f"{LABELS}?state=unknown",
        "labels to decide": f"{LABELS}to-decide/",
        "parcels": PARCELS,
        "parcels, the oldest first": f"{PARCELS}?o=8",
        "parcels of this month": f"{PARCELS}?when=month",
        "parcels by status": f"{PARCELS}?status=EXCEPTION",
        "parcels without news for 14 days": f"{PARCELS}?silent=14",
    }
    return {f"search: {name}": f"/admin/search/?q={quoted(text)}" for name, text in searched.items()} | lists


def day(days_ago: int) -> str:
    return (datetime.now(UTC) - timedelta(days=days_ago)).date().isoformat()


def quoted(text: str) -> str:
    from urllib.parse import quote

    return quote(text)


def show(browser: Any, name: str, path: str) -> None:
    """Print the cost of a page: the queries, the first and the median milliseconds, those of the queries."""
    from django.db import connection
    from django.test.utils import CaptureQueriesContext

    took_ms, asked_ms, status = [], [], 0
    for _ in range(ROUNDS):
        with CaptureQueriesContext(connection) as captured:
            started_at = time.perf_counter()
            status = browser.get(path).status_code
            took_ms.append((time.perf_counter() - started_at) * 1000)
        asked_ms.append(sum(float(query["time"]) for query in captured) * 1000)
    print(
        f"{name:45} {status} {len(captured):3} queries, first {took_ms[0]:6.0f} ms, median {median(took_ms):5.0f} ms, "
        f"of which the database {median(asked_ms):5.0f} ms",
        flush=True,
    )


def show_sizes() -> None:
    from django.db import connection

    with connection.cursor() as cursor:
        for name in ("parcel_search_words", "label_search_words", "label_error"):
            cursor.execute("SELECT pg_size_pretty(pg_relation_size(%s))", [name])
            print(f"{name}: {cursor.fetchone()[0]}")


if __name__ == "__main__":
    main()

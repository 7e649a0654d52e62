"""Loads parcels into PostgreSQL fast: a few thousand samples, then copies of them made by the database.

Each copy has its own id, numbers, order and customer; indexes are built after the rows.
"""

import random
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.db import connection
from django.utils import timezone

from parcels.models import Parcel, TrackingNumber
from parcels.samples import DAY_MS, sample_parcels, tracking_number
from parcels.serializers import ImportedParcelSerializer
from parcels.tracking.timeline import handed_in

DISTINCT_SAMPLES = 2_000
PARCELS_A_CUSTOMER = 60  # more than a search returns
FIELDS = {str(field.column): field for field in Parcel._meta.concrete_fields if not field.generated}
PARCELS, NUMBERS = Parcel._meta.db_table, TrackingNumber._meta.db_table
# The columns of `parcel_row` in SQL, of the copy `i` of a sample `s`.
OWN = {
    "search_words": "ts_delete(s.search_words, ARRAY['p33' || 600000000 + s.place / 60, "
    "'ecustomer+' || s.place / 60 || '@example.com'])"
    " || array_to_tsvector(ARRAY['p33' || 600000000 + i / 60, 'ecustomer+' || i / 60 || '@example.com'])",
    "id": "'B' || lpad(i::text, 9, '0')",
    "order_id": "5400000000 + i / 2",
    "order_number": "'#' || i / 2",
    "tracking_id": "pg_temp.number(i, 0)",
    "tracking_numbers": "'[\"' || pg_temp.number(i, 0) || "
    "CASE WHEN i % 3 = 0 THEN '\",\"' || pg_temp.number(i, 1) ELSE '' END || '\"]'",
    "customer_email": "'customer+' || i / 60 || '@example.com'",
    "created_at": "s.created_at - s.place * 7919 % 86400000 + i * 7919 % 86400000",
}
# Rows are made in their order: one side of each join is hashed.
WHILE_LOADING = {
    "session_replication_role": "replica",
    "enable_mergejoin": "off",
    "enable_nestloop": "off",
    "work_mem": "'64MB'",
    "maintenance_work_mem": "'512MB'",
}
FUNCTION = """
CREATE OR REPLACE FUNCTION pg_temp.number(i bigint, part int) RETURNS text IMMUTABLE LANGUAGE sql
RETURN 'XU' || lpad((i * 10 + part)::text, 9, '0') || 'FR'
"""
COPY_SAMPLES = f"""
INSERT INTO {PARCELS} ({{columns}}) SELECT {{values}}
FROM generate_series({{samples}}::bigint, {{parcels}} - 1) i
JOIN (SELECT substr(id, 2)::bigint AS place, * FROM {PARCELS}) s ON place = i % {{samples}}
"""
MAKE_NUMBERS = f"""
INSERT INTO {NUMBERS} (shop_id, number, parcel_id, created_at)
SELECT shop_id, pg_temp.number(i, part), id, created_at
FROM (SELECT substr(id, 2)::bigint AS i, id, shop_id, created_at FROM {PARCELS}) p
JOIN generate_series(0, 1) part ON part = 0 OR i % 3 = 0
"""


def load_parcels(shop_id: str, parcels: int) -> None:
    """Put parcels of the shop and their numbers into empty tables."""
    with connection.cursor() as cursor, loading(cursor, PARCELS, NUMBERS):
        make_parcels(cursor, shop_id, parcels)


def make_parcels(cursor: Any, shop_id: str, parcels: int) -> None:
    samples = load_samples(cursor, shop_id, parcels)
    cursor.execute(FUNCTION)
    columns = {name: OWN.get(name, f"s.{name}") for name in FIELDS}
    names, values = ", ".join(columns), ", ".join(columns.values())
    cursor.execute(COPY_SAMPLES.format(columns=names, values=values, samples=samples, parcels=parcels))
    cursor.execute(MAKE_NUMBERS)


def load_samples(cursor: Any, shop_id: str, parcels: int) -> int:
    """Copy the first parcels; return their number."""
    rows = list(sample_rows(shop_id))[:parcels]
    with cursor.copy(f"COPY {PARCELS} ({', '.join(FIELDS)}) FROM STDIN") as copy:
        for index, row in enumerate(rows):
            copy.write_row(list(parcel_row(row, index).values()))
    cursor.execute(f"ANALYZE {PARCELS}")
    return len(rows)


@contextmanager
def loading(cursor: Any, *tables: str) -> Iterator[None]:
    """Leave indexes and foreign keys' checks out while rows are written; build and count afterwards."""
    cursor.execute(
        "SELECT indexname, indexdef FROM pg_indexes WHERE tablename = ANY(%s) AND indexname NOT IN"
        " (SELECT conname FROM pg_constraint)",
        [list(tables)],
    )
    indexes = cursor.fetchall()
    for name, _ in indexes:
        cursor.execute(f"DROP INDEX {name}")
    for name, value in WHILE_LOADING.items():
        cursor.execute(f"SET {name} = {value}")
    yield
    for _, definition in indexes:
        cursor.execute(definition)
    for name in WHILE_LOADING:
        cursor.execute(f"RESET {name}")
    cursor.execute("ANALYZE")


def sample_rows(shop_id: str) -> Iterator[dict[str, Any]]:
    """Yield sample parcels as columns ready for the database."""
    serializer = ImportedParcelSerializer()
    for sample in sample_parcels(DISTINCT_SAMPLES, now_ms=time.time_ns() // 10**6):
        parcel = Parcel(**serializer.run_validation(sample), shop_id=shop_id, imported_at=timezone.now())
        parcel.handed_in_at = handed_in(parcel)
        yield {
            column: field.get_db_prep_save(field.pre_save(parcel, add=True), connection)
            for column, field in FIELDS.items()
        }


def numbers(index: int) -> list[str]:
    """Return the tracking numbers of the parcel at `index`: two for every third, one for the others."""
    return [tracking_number("alpha", index, part) for part in range(2 if index % 3 == 0 else 1)]


def any_number(rng: random.Random, parcels: int) -> str:
    """Choose a tracking number of any parcel."""
    return rng.choice(numbers(rng.randrange(parcels)))


def any_search(rng: random.Random, parcels: int) -> str:
    """Choose a search's query string; each search finds 50 parcels, but for the last customer's."""
    return f"?email=customer%2B{rng.randrange(parcels // PARCELS_A_CUSTOMER)}@example.com"


def parcel_row(sample: dict[str, Any], index: int) -> dict[str, Any]:
    own = numbers(index)
    customer = index // PARCELS_A_CUSTOMER
    words = [word for word in sample["search_words"].split() if word[1] in "nz"]
    return sample | {
        "search_words": " ".join([*words, f"'p33{600_000_000 + customer}'", f"'ecustomer+{customer}@example.com'"]),
        "id": f"B{index:09d}",
        "order_id": f"{5_400_000_000 + index // 2}",
        "order_number": f"#{index // 2}",
        "tracking_id": own[0],
        "tracking_numbers": '["' + '","'.join(own) + '"]',
        "customer_email": f"customer+{customer}@example.com",
        "created_at": sample["created_at"] + index * 7919 % DAY_MS,  # parcels of all samples take turns
    }

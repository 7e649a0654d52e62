"""Loads rows into PostgreSQL fast: copies that the database makes of samples, with ids and customers of their own.

Indexes are built after the rows.
"""

import random
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from django.db import connection
from django.db.models import Model
from django.utils import timezone

from parcels.models import Parcel, TrackingNumber
from parcels.samples import sample_parcels, tracking_number
from parcels.serializers import ImportedParcelSerializer
from parcels.tracking.timeline import handed_in

DISTINCT_SAMPLES = 2_000
PARCELS_A_CUSTOMER = 60  # more than a search returns
PARCELS, NUMBERS = Parcel._meta.db_table, TrackingNumber._meta.db_table
# The columns of a parcel of its own, in SQL.
OWN = {
    "search_words": "s.search_words"
    " || array_to_tsvector(ARRAY['p33' || 600000000 + i / 60, 'ecustomer+' || i / 60 || '@example.com'])",
    "id": "'B' || lpad(i::text, 9, '0')",
    "order_id": "5400000000 + i / 2",
    "order_number": "'#' || i / 2",
    "tracking_id": "pg_temp.number(i, 0)",
    "tracking_numbers": "'[\"' || pg_temp.number(i, 0) || "
    "CASE WHEN i % 3 = 0 THEN '\",\"' || pg_temp.number(i, 1) ELSE '' END || '\"]'",
    "customer_email": "'customer+' || i / 60 || '@example.com'",
    "created_at": "s.created_at + i * 7919 % 86400000",  # parcels of all samples take turns
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
    cursor.execute(FUNCTION)
    make_rows(cursor, PARCELS, list(sample_rows(shop_id)), OWN, parcels)
    cursor.execute(MAKE_NUMBERS)


def make_rows(
    cursor: Any, table: str, samples: Sequence[Mapping[str, Any]], own: Mapping[str, str], count: int, at: str = "now()"
) -> None:
    """Make so many rows, each a copy of one of the samples in turn, but for some columns of its own.

    In their SQL `i` is the number of the row, from 0 on, `at` its moment, and `s` its sample.
    """
    names = ", ".join(samples[0])
    cursor.execute(f"CREATE TEMP TABLE samples AS SELECT {names}, 0::bigint AS place FROM {table} LIMIT 0")
    with cursor.copy(f"COPY samples ({names}, place) FROM STDIN") as copy:
        for place, sample in enumerate(samples):
            copy.write_row([*sample.values(), place])
    cursor.execute("ANALYZE samples")
    columns = ", ".join(own.get(name, f"s.{name}") for name in samples[0])
    numbered = f"SELECT i, {at} AS at FROM generate_series(0::bigint, {count - 1}) i"
    places = f"JOIN samples s ON place = i % {len(samples)}"
    cursor.execute(f"INSERT INTO {table} ({names}) SELECT {columns} FROM ({numbered}) own {places}")
    cursor.execute("DROP TABLE samples")


def columns_of(row: Model) -> dict[str, Any]:
    """Return an instance as columns ready for the database."""
    fields = [field for field in row._meta.concrete_fields if not field.generated]
    return {str(field.column): field.get_db_prep_save(field.pre_save(row, add=True), connection) for field in fields}


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
    """Yield sample parcels, found by their customers' names and places alone."""
    serializer = ImportedParcelSerializer()
    for sample in sample_parcels(DISTINCT_SAMPLES, now_ms=time.time_ns() // 10**6):
        parcel = Parcel(**serializer.run_validation(sample), shop_id=shop_id, imported_at=timezone.now())
        parcel.handed_in_at = handed_in(parcel)
        columns = columns_of(parcel)
        words = [word for word in columns["search_words"].split() if word[1] in "nz"]
        yield columns | {"search_words": " ".join(words)}


def numbers(index: int) -> list[str]:
    """Return the tracking numbers of the parcel at `index`: two for every third, one for the others."""
    return [tracking_number("alpha", index, part) for part in range(2 if index % 3 == 0 else 1)]


def any_number(rng: random.Random, parcels: int) -> str:
    """Choose a tracking number of any parcel."""
    return rng.choice(numbers(rng.randrange(parcels)))


def any_search(rng: random.Random, parcels: int) -> str:
    """Choose a search's query string; each search finds 50 parcels, but for the last customer's."""
    return f"?email=customer%2B{rng.randrange(parcels // PARCELS_A_CUSTOMER)}@example.com"

"""Loads parcels into PostgreSQL fast: copies of a few thousand samples, each with its own numbers and order."""

import random
import time
from collections.abc import Iterator
from typing import Any

from django.db import connection
from django.utils import timezone

from parcels.models import Parcel, TrackingNumber
from parcels.samples import sample_parcels, tracking_number
from parcels.serializers import ImportedParcelSerializer

DISTINCT_SAMPLES = 2_000
PARCELS_A_CUSTOMER = 60  # more than a search returns
FIELDS = {str(field.column): field for field in Parcel._meta.concrete_fields if not field.generated}


def load_parcels(shop_id: str, parcels: int) -> None:
    """Copy parcels of the shop and their numbers into empty tables."""
    samples = list(sample_rows(shop_id))
    with connection.cursor() as cursor:
        with cursor.copy(f"COPY {Parcel._meta.db_table} ({', '.join(FIELDS)}) FROM STDIN") as copy:
            for index in range(parcels):
                copy.write_row(list(parcel_row(samples[index % len(samples)], index).values()))
        statement = f"COPY {TrackingNumber._meta.db_table} (shop_id, number, parcel_id, created_at) FROM STDIN"
        with cursor.copy(statement) as copy:
            for index in range(parcels):
                row = parcel_row(samples[index % len(samples)], index)
                for number in numbers(index):
                    copy.write_row([shop_id, number, row["id"], row["created_at"]])
        cursor.execute("ANALYZE")


def sample_rows(shop_id: str) -> Iterator[dict[str, Any]]:
    """Yield sample parcels as columns ready for the database."""
    serializer = ImportedParcelSerializer()
    for sample in sample_parcels(DISTINCT_SAMPLES, now_ms=time.time_ns() // 10**6):
        parcel = Parcel(**serializer.run_validation(sample), shop_id=shop_id, imported_at=timezone.now())
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
        "created_at": sample["created_at"] + index % 1000,
    }

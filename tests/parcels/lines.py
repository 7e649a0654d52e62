"""Lines to import, and the results of importing them."""

from collections.abc import Iterator
from typing import Any

import orjson
import pytest

from parcels.importing.reading import NothingImportedError
from parcels.models import Parcel, TrackingNumber
from shops.models import Shop
from tests.support.factories import ParcelLineFactory, import_lines

Report = list[tuple[int, str]]


def line(**fields: Any) -> bytes:
    return orjson.dumps(ParcelLineFactory(**fields))


def many(count: int, prefix: str = "M", **fields: Any) -> Iterator[bytes]:
    """Yield lines that differ in what is a parcel's own only: making each anew takes longer than importing it."""
    sample = ParcelLineFactory(**fields)
    for name in (f"{prefix}{number}" for number in range(count)):
        numbers = {"trackingId": name, "trackingNumbers": [name]}
        yield orjson.dumps(sample | numbers | {"id": name, "orderId": name, "orderNumber": f"#{name}"})


def snapshot() -> list[Any]:
    return [list(Parcel.objects.order_by("id").values()), list(TrackingNumber.objects.order_by("number").values())]


def refused(shop: Shop, *lines: bytes) -> Report:
    """Import lines of which some are bad; check that nothing changed, and return the report."""
    before, report = snapshot(), Report()
    with pytest.raises(NothingImportedError):
        import_lines(shop, lines, lambda *bad: report.append(bad))
    assert snapshot() == before
    return report


def skipped(shop: Shop, *lines: bytes) -> tuple[int, Report]:
    """Import lines and skip the bad ones; return how many were imported, and the report."""
    report = Report()
    return import_lines(shop, lines, lambda *bad: report.append(bad), is_strict=False), report

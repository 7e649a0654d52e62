"""Compares parcels' documents with their columns."""

from typing import Any

import orjson

from parcels import queries
from parcels.models import Parcel
from parcels.serializers import ParcelSerializer


def assert_documents_agree() -> None:
    """Fail unless each parcel's document is what its columns say, and there is one."""
    parcels: Any = Parcel.objects.raw(f"SELECT *, {queries.DOCUMENT} AS document FROM parcels_parcel p")
    assert parcels
    for parcel in parcels:
        columns = {name: getattr(parcel, str(field.source)) for name, field in ParcelSerializer().fields.items()}
        assert parcel.document.encode() == orjson.dumps(columns)

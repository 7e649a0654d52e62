"""Compares parcels' documents with their columns."""

import orjson

from parcels.models import DOCUMENT, Parcel
from parcels.serializers import ParcelSerializer


def assert_documents_agree() -> None:
    """Fail unless each parcel's document is what its columns say, and there is one."""
    parcels = Parcel.objects.annotate(document=DOCUMENT)
    assert parcels
    for parcel in parcels:
        columns = {name: getattr(parcel, str(field.source)) for name, field in ParcelSerializer().fields.items()}
        assert bytes(parcel.document) == orjson.dumps(columns)

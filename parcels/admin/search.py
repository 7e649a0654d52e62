"""Finds parcels by what staff type."""

import orjson
from django.db.models import Q

from parcels.models import Parcel, TrackingNumber
from shops.staff.search import Key, RowSearch, spellings


def order_numbers(text: str) -> set[str]:
    """Return the spellings of an order's number: no index ignores its ``#``."""
    typed = spellings(text)
    return typed | {"#" + spelling for spelling in typed} | {text.removeprefix("#")}


def in_town(town: str) -> Q:
    """Make the condition of a destination whose town begins so, as its JSON has it."""
    return Q(destination__icontains=f'"city":{orjson.dumps(town).decode()[:-1]}')


PARCELS = Parcel.objects.all()
KEYS = (
    Key(TrackingNumber.objects.all(), "number", "parcel", has_mixed=False),
    *(Key(PARCELS, "order_number", spelled=order_numbers), Key(PARCELS, "order_id"), Key(PARCELS, "id")),
)
SEARCH = RowSearch(PARCELS, KEYS, in_town)

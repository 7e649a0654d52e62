"""Finds parcels by what staff type."""

from typing import Any

import orjson
from django.db.models import Q, QuerySet

from parcels.models import Parcel, TrackingNumber
from shops.staff.search import RowSearch, begin_in_any_case, begin_with, in_any_case, spellings


def whole(text: str) -> QuerySet[Any, Any]:
    """Find the ids of all shops' parcels with this tracking number, order number, order id or id.

    Every part is an exact look-up along an index. Case, spaces and the ``#`` of an order number, which no index
    ignores, are covered by looking up several spellings, and indexes of keys in mixed case.
    """
    typed = spellings(text)
    parcels = Parcel.objects.order_by().values("pk")
    return (
        TrackingNumber.objects.order_by()
        .filter(number__in=typed)
        .values("parcel")
        .union(
            parcels.filter(order_number__in=order_numbers(text)),
            parcels.filter(order_id__in=typed),
            parcels.filter(pk__in=typed),
            in_any_case(parcels, "order_number", text, "#" + text),
            in_any_case(parcels, "order_id", text),
            in_any_case(parcels, "id", text),
            all=True,
        )
    )


def with_email(text: str) -> QuerySet[Any, Any]:
    """Find the ids of all shops' parcels of this customer."""
    return Parcel.objects.order_by().values("pk").filter(customer_email__in=spellings(text))


def order_numbers(text: str) -> set[str]:
    typed = spellings(text)
    return typed | {"#" + spelling for spelling in typed} | {text.removeprefix("#")}


def beginning(text: str) -> set[str]:
    """Find the ids of parcels with a number or an id that begins with the text."""
    typed = spellings(text)
    parcels = Parcel.objects.all()
    return (
        begin_with(TrackingNumber.objects.all(), "number", typed, "parcel")
        | begin_in_any_case(parcels, "order_number", order_numbers(text))
        | begin_in_any_case(parcels, "order_id", typed)
        | begin_in_any_case(parcels, "id", typed)
    )


def in_town(town: str) -> Q:
    """Make the condition of a destination whose town begins so, as its JSON has it."""
    return Q(destination__icontains=f'"city":{orjson.dumps(town).decode()[:-1]}')


find = RowSearch(Parcel.objects.all(), whole, beginning, in_town).find

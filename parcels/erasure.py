"""Removes a customer's personal data from parcels, and keeps the shop's business records.

Kept, because they name nobody: identifiers of the parcel, its order and its articles, tracking numbers, statuses and
their times, amounts, province and country. Removed: e-mails, language, name, street, town, coordinates, phone, gift,
recommendations, notifications, the carrier's free text ("handed to ...") and an article's personalisation. A string
that the API promises becomes empty.

The shop's systems are the source: a later import of the same parcel brings everything back.
"""

from collections.abc import Iterable, Iterator
from typing import Any

import orjson
from django.db.models.functions import Upper

from parcels.models import Parcel, ParcelTracking
from shops.db.batches import batches

PLACE_KEPT = {"province", "provinceCode", "country", "countryCode", "isPickupPoint"}
NULLABLE = {"address2", "latitude", "longitude"}
CHANGED = [
    *("customer_email", "customer_locale", "previous_emails", "gift_config", "cross_sell_recommendations"),
    *("destination", "line_items", "events", "carrier_last_status", "search_words"),
]


def parcels_of(shop_id: str, email: str) -> dict[str, str]:
    """Find a customer's parcels by their current or an earlier e-mail; ASCII letters match in either case.

    Return the order's id by the parcel's id. Neither search scans the shop's parcels: the first reads the index of
    e-mails only, the second the few parcels that have earlier e-mails.
    """
    own = Parcel.objects.for_shop(shop_id).order_by()
    by_email = own.alias(folded=Upper("customer_email")).filter(folded=ascii_upper(email))
    by_earlier = own.exclude(previous_emails=[]).filter(previous_emails__icontains=orjson.dumps(email).decode())
    ids = {*by_email.values_list("id", flat=True), *by_earlier.values_list("id", flat=True)}
    return {
        parcel_id: order_id
        for batch in batches(ids)
        for parcel_id, order_id in own.filter(id__in=batch).values_list("id", "order_id")
    }


def ascii_upper(text: str) -> str:
    """Fold ASCII letters only, as both databases do for a column in code point order."""
    return "".join(letter.upper() if letter.isascii() else letter for letter in text)


def erase(parcel_ids: Iterable[str]) -> int:
    """Anonymise these parcels within the caller's transaction; return how many there were."""
    erased = 0
    for batch in batches(parcel_ids):
        rows = Parcel.objects.filter(id__in=batch).only("id", *CHANGED).order_by("id")
        parcels = list(rows.select_for_update(of=("self",)))
        for parcel in parcels:
            anonymise(parcel)
            parcel.save(update_fields=CHANGED)
        erase_texts(batch)
        erased += len(parcels)
    return erased


def erase_texts(parcel_ids: Iterable[str]) -> None:
    """Erase the texts that the carrier's and the shop's reports are kept with, and those that are still to come."""
    rows = ParcelTracking.objects.filter(pk__in=list(parcel_ids)).only("reported", "carrier_events").order_by("pk")
    for row in rows.select_for_update(of=("self",)):
        row.are_texts_erased = True
        row.carrier_events = [event | {"text": "", "place": ""} for event in row.carrier_events]
        if row.reported is not None:
            row.reported = row.reported | {"story": without_texts(row.reported["story"])}
        row.save(update_fields=["are_texts_erased", "carrier_events", "reported"])


def without_texts(story: dict[str, Any]) -> dict[str, Any]:
    """Erase the free text of events, and of the carrier's last status."""
    status = story["carrier_last_status"]
    return story | {
        "events": [event | {"label": "", "notifications": []} for event in story["events"]],
        "carrier_last_status": None if status is None else status | {"description": ""},
    }


def anonymise(parcel: Parcel) -> None:
    parcel.customer_email = parcel.customer_locale = parcel.gift_config = None
    parcel.previous_emails = []
    parcel.cross_sell_recommendations = []
    parcel.destination = dict(without_person(parcel.destination))
    parcel.line_items = [item | {"metadata": None} for item in parcel.line_items]
    texts = without_texts({"events": parcel.events, "carrier_last_status": parcel.carrier_last_status})
    parcel.events, parcel.carrier_last_status = texts["events"], texts["carrier_last_status"]


def without_person(destination: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    for name, value in destination.items():
        yield name, value if name in PLACE_KEPT else None if name in NULLABLE else ""

"""Takes a customer out of the parcels; what the shop has to account for stays.

Kept: the parcel's, its order's and its articles' identifiers, tracking numbers, statuses and their times, amounts,
province and country. They are the shop's records of what was sold and carried, and name nobody. Everything else that
is about the customer or may quote them goes: e-mails, language, name, street, town, coordinates, phone, gift, what
was recommended or sent to them, what the carrier wrote in free text ("handed to ..."), and what an article was
personalised with. Where the API promises a string there is an empty one.

The shop's systems are the source: a later import of the same parcel brings everything back.
"""

from collections.abc import Iterable, Iterator
from typing import Any

import orjson

from parcels.models import Parcel

PLACE_KEPT = {"province", "provinceCode", "country", "countryCode", "isPickupPoint"}
NULLABLE = {"address2", "latitude", "longitude"}
CHANGED = [
    *("customer_email", "customer_locale", "previous_emails", "gift_config", "cross_sell_recommendations"),
    *("destination", "line_items", "events", "carrier_last_status"),
]
BATCH_SIZE = 200


def parcels_of(shop_id: str, email: str) -> dict[str, str]:
    """Find a customer's parcels by their e-mail or an earlier one, in any case of ASCII letters.

    Return the order's id by the parcel's id. Neither search reads the shop's parcels: the one goes through the
    index of e-mails, the other through the few parcels that have earlier ones.
    """
    own = Parcel.objects.for_shop(shop_id)
    found = dict(own.filter(customer_email__iexact=email).order_by().values_list("id", "order_id"))
    earlier = own.exclude(previous_emails=[]).filter(previous_emails__icontains=orjson.dumps(email).decode())
    return found | dict(earlier.order_by().values_list("id", "order_id"))


def erase(parcel_ids: Iterable[str]) -> int:
    """Take the customer out of these parcels, within the caller's transaction; return how many were there."""
    ids = sorted(parcel_ids)  # imports take their locks in this order too
    erased = 0
    for start in range(0, len(ids), BATCH_SIZE):
        batch = Parcel.objects.filter(id__in=ids[start : start + BATCH_SIZE]).only("id", *CHANGED)
        parcels = list(batch.order_by("id").select_for_update(of=("self",)))
        for parcel in parcels:
            anonymise(parcel)
        Parcel.objects.bulk_update(parcels, CHANGED)
        erased += len(parcels)
    return erased


def anonymise(parcel: Parcel) -> None:
    parcel.customer_email = parcel.customer_locale = parcel.gift_config = None
    parcel.previous_emails = []
    parcel.cross_sell_recommendations = []
    parcel.destination = dict(without_person(parcel.destination))
    parcel.line_items = [item | {"metadata": None} for item in parcel.line_items]
    parcel.events = [event | {"label": "", "notifications": []} for event in parcel.events]
    if parcel.carrier_last_status is not None:
        parcel.carrier_last_status = parcel.carrier_last_status | {"description": ""}


def without_person(destination: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    for name, value in destination.items():
        yield name, value if name in PLACE_KEPT else None if name in NULLABLE else ""

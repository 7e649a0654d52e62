"""Customs: which parcels need a declaration, and what is declared of each."""

import re
from dataclasses import replace
from decimal import Decimal
from typing import Final

from carriers.errors import RequestRejected
from carriers.products import CUSTOMS_FREE
from carriers.shipment import Customs, CustomsItem, Party, Shipment

# Places of customs-free countries that lie outside the customs union, by their postal codes: the Canaries, Ceuta and
# Melilla; Livigno and Campione; Helgoland and Büsingen; Åland; Mount Athos.
_OUTSIDE_THE_UNION: Final = {
    "ES": re.compile(r"(35|38|51|52)[0-9]{3}"),
    "IT": re.compile(r"23041|23030|22061|22060"),
    "DE": re.compile(r"27498|78266"),
    "FI": re.compile(r"22[0-9]{3}"),
    "GR": re.compile(r"63086|63087"),
}


def needs_customs(sender: Party, recipient: Party) -> bool:
    """Return true if a parcel crosses the border of the customs union: France with Monaco, and the European Union."""
    return not (_is_in_union(sender) and _is_in_union(recipient))


def _is_in_union(party: Party) -> bool:
    outside = _OUTSIDE_THE_UNION.get(party.country_code)
    is_outside = outside is not None and outside.fullmatch(re.sub(r"\s", "", party.zip_code)) is not None
    return party.country_code in CUSTOMS_FREE and not is_outside


def customs_of(carrier: str, shipment: Shipment) -> Customs | None:
    """Return the declaration, None where none is needed; raises RequestRejected where it is needed and missing."""
    if not needs_customs(shipment.sender, shipment.recipient):
        return None
    if shipment.customs is None:
        country_code = shipment.recipient.country_code
        problem = f"is required for {country_code}, as the shop's contract declares nothing by default"
        raise RequestRejected(carrier, problem, field="customs")
    return shipment.customs


def items_by_parcel(carrier: str, shipment: Shipment, customs: Customs) -> list[tuple[CustomsItem, ...]]:
    """Lay the declared items into the parcels, each with its origin; raises RequestRejected if they don't fit.

    Whole pieces go, in their order, into the first parcel that still has room for their weight, the last ones into the
    parcels that are still empty. Pieces without a weight fit anywhere.
    """
    items = [_with_origin(item, shipment.sender) for item in customs.items]
    if customs.is_for_each_parcel:
        return [tuple(items)] * len(shipment.packages)
    room_kg = [package.weight_kg for package in shipment.packages]
    laid: list[dict[int, int]] = [{} for _ in room_kg]  # by parcel: pieces by the item's index
    pieces = [index for index, item in enumerate(items) for _ in range(item.quantity)]
    for placed, index in enumerate(pieces):
        weight_kg = items[index].weight_kg or Decimal(0)
        choice = (*_waiting(laid, len(pieces) - placed), *range(len(laid)))
        parcel = next((number for number in choice if room_kg[number] >= weight_kg), None)
        if parcel is None:
            raise RequestRejected(carrier, "are heavier than the parcels they are in", field="customs.items")
        room_kg[parcel] -= weight_kg
        laid[parcel][index] = laid[parcel].get(index, 0) + 1
    if not all(laid):
        raise RequestRejected(carrier, "leave a parcel without goods", field="customs.items")
    return [tuple(replace(items[index], quantity=quantity) for index, quantity in goods.items()) for goods in laid]


def _waiting(laid: list[dict[int, int]], left: int) -> list[int]:
    """Return the parcels that are still empty when no more pieces are left than would fill them, else none."""
    if left > len(laid):
        return []
    empty = [number for number, goods in enumerate(laid) if not goods]
    return empty if left <= len(empty) else []


def _with_origin(item: CustomsItem, sender: Party) -> CustomsItem:
    return replace(item, origin_country_code=item.origin_country_code or sender.country_code)


def value_eur(items: tuple[CustomsItem, ...]) -> Decimal:
    """Return the value of a parcel's goods, in euros."""
    return sum((item.unit_value_eur * item.quantity for item in items), Decimal(0))

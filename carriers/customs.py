"""Customs: which parcels need a declaration, and what is declared of each."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from decimal import ROUND_HALF_UP, Decimal
from functools import partial
from typing import Final

from carriers import laying
from carriers.errors import RequestRejected
from carriers.products import CUSTOMS_FREE
from carriers.shipment import Customs, CustomsItem, Party, Shipment
from carriers.text import to_ascii
from carriers.validation import all_of

FIELD: Final = "customs.items"
CENT: Final = Decimal("0.01")

# Places of customs-free countries that lie outside the customs union, by their postal codes: the Canaries, Ceuta and
# Melilla; Livigno and Campione; Helgoland and Büsingen; Åland; Mount Athos.
_OUTSIDE_THE_UNION: Final = re.compile(
    r"ES(35|38|51|52)[0-9]{3}|IT(23041|23030|22061|22060)|DE(27498|78266)|FI22[0-9]{3}|GR(63086|63087)"
)

Goods = list[tuple[CustomsItem, ...]]  # by parcel


def needs_customs(sender: Party, recipient: Party) -> bool:
    """Return whether a parcel crosses the border of the customs union: France with Monaco, and the European Union."""
    return not (is_in_union(sender) and is_in_union(recipient))


def is_in_union(party: Party) -> bool:
    """Return whether a place is in the customs union, by its postal code as it is printed."""
    place = party.country_code + to_ascii(party.zip_code).replace(" ", "")
    return party.country_code in CUSTOMS_FREE and not _OUTSIDE_THE_UNION.fullmatch(place)


def customs_of(carrier: str, shipment: Shipment) -> Customs | None:
    """Return the declaration, None where none is needed; raises RequestRejected where it is needed and missing."""
    if not needs_customs(shipment.sender, shipment.recipient):
        return None
    if shipment.customs is None:
        country_code = shipment.recipient.country_code
        problem = f"is required for {country_code}, as the shop's contract declares nothing by default"
        raise RequestRejected(carrier, problem, field="customs")
    return shipment.customs


def described(customs: Customs, describe: Callable[[str, str], str]) -> Customs:
    """Return the items as a carrier describes them, by their own words and these words' JSON path; raises Rejected.

    A contract's default has no path of its own.
    """

    def described_item(index: int, item: CustomsItem) -> CustomsItem:
        path = "customs" if customs.is_for_each_parcel else f"{FIELD}[{index}].description"
        return replace(item, description=describe(item.description, path))

    items = all_of(*(partial(described_item, index, item) for index, item in enumerate(customs.items)))
    return replace(customs, items=tuple(items))


def items_by_parcel(carrier: str, shipment: Shipment, customs: Customs) -> Goods:
    """Return each parcel's items, each with its origin; raises RequestRejected if they don't fit.

    Items that name no parcel are laid so that each parcel has room for its pieces and none is left without.
    """
    customs = _with_origins(customs, shipment.sender)
    goods = _given(carrier, shipment, customs)
    if goods is None:
        goods = _laid(shipment, customs.items)
        if goods is None:
            raise RequestRejected(carrier, _problem(shipment, customs.items), field=FIELD)
    elif not customs.is_for_each_parcel:
        for rank, (items, package) in enumerate(zip(goods, shipment.packages, strict=True)):
            if _weight_kg(items) > package.weight_kg:
                raise RequestRejected(carrier, f"are heavier than parcels[{rank}], which holds them", field=FIELD)
    return goods


def shares_by_parcel(carrier: str, shipment: Shipment, customs: Customs) -> Goods:
    """Return each parcel's items for a carrier that is told no weights of them: they fit however heavy they are.

    Items that can't be laid are declared with every parcel, with a share of their value by the parcel's weight.
    """
    customs = _with_origins(customs, shipment.sender)
    return _given(carrier, shipment, customs) or _laid(shipment, customs.items) or _shared(shipment, customs.items)


def _with_origins(customs: Customs, sender: Party) -> Customs:
    home = sender.country_code
    items = (replace(item, origin_country_code=item.origin_country_code or home) for item in customs.items)
    return replace(customs, items=tuple(items))


def value_eur(items: tuple[CustomsItem, ...]) -> Decimal:
    return sum((item.unit_value_eur * item.quantity for item in items), Decimal(0))


def _given(carrier: str, shipment: Shipment, customs: Customs) -> Goods | None:
    """Return the items of each parcel as they are declared, None where they name none."""
    if customs.is_for_each_parcel:
        return [customs.items] * len(shipment.packages)
    if any(item.parcel is None for item in customs.items):
        return None
    parcels = range(len(shipment.packages))
    goods = [tuple(item for item in customs.items if item.parcel == parcel) for parcel in parcels]
    if () in goods:
        raise RequestRejected(carrier, f"leave parcels[{goods.index(())}] without goods", field=FIELD)
    return goods


def _laid(shipment: Shipment, items: Sequence[CustomsItem]) -> Goods | None:
    pieces_kg = [item.weight_kg or Decimal(0) for item in items]
    rooms_kg = [package.weight_kg for package in shipment.packages]
    # In the smallest unit that one of the weights is written in.
    digits = max(0, *(-int(weight.as_tuple().exponent) for weight in (*pieces_kg, *rooms_kg)))
    pieces, rooms = ([int(weight.scaleb(digits)) for weight in some] for some in (pieces_kg, rooms_kg))
    counts = laying.laid([(weight, item.quantity) for weight, item in zip(pieces, items, strict=True)], rooms)
    if counts is None:
        return None
    return [
        tuple(replace(item, quantity=count) for item, count in zip(items, of_parcel, strict=True) if count)
        for of_parcel in counts
    ]


def _problem(shipment: Shipment, items: Sequence[CustomsItem]) -> str:
    """Describe why the items can't be laid."""
    rooms_kg = [package.weight_kg for package in shipment.packages]
    heaviest_kg = max(item.weight_kg or Decimal(0) for item in items)
    if heaviest_kg > max(rooms_kg) or _weight_kg(items) > sum(rooms_kg):
        return "are heavier than the parcels they are in"
    if sum(item.quantity for item in items) < len(rooms_kg):
        return "leave a parcel without goods"
    return "could not be laid into the parcels; name the parcel of each in customs.items[].parcel"


def _weight_kg(items: Iterable[CustomsItem]) -> Decimal:
    return sum(((item.weight_kg or Decimal(0)) * item.quantity for item in items), Decimal(0))


def _shared(shipment: Shipment, items: Sequence[CustomsItem]) -> Goods:
    """Return all items for each parcel, as one piece of a value in cents: the shares add up to the whole."""
    total_kg, shared_kg = sum(each.weight_kg for each in shipment.packages), Decimal(0)
    goods, declared_eur = [], [Decimal(0)] * len(items)
    for package in shipment.packages:
        shared_kg += package.weight_kg
        values = [(value_eur((item,)) * shared_kg / total_kg).quantize(CENT, ROUND_HALF_UP) for item in items]
        shares = [value - before for value, before in zip(values, declared_eur, strict=True)]
        pieces = zip(items, shares, strict=True)
        goods.append(tuple(replace(item, quantity=1, unit_value_eur=eur, weight_kg=None) for item, eur in pieces))
        declared_eur = values
    return goods

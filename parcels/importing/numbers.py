"""The numbers that parcels are found by, and the lock that keeps a number on one parcel."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Final

from parcels.models import Parcel, ParcelNumber
from shops.db import locks

# beta gives a number out again after some 13 months: an older parcel with it is another one.
GIVEN_OUT_AGAIN: Final = timedelta(days=390)
GIVEN_OUT_AGAIN_MS: Final = GIVEN_OUT_AGAIN // timedelta(milliseconds=1)


def numbers_of(parcel: Parcel) -> Iterator[ParcelNumber]:
    """Yield the numbers that a parcel is found by, each once."""
    for shop_id, number, parcel_id, created_at in number_rows(parcel):
        yield ParcelNumber(shop_id=shop_id, number=number, parcel_id=parcel_id, created_at=created_at)


def number_rows(parcel: Parcel) -> Iterator[tuple[str, str, str, int]]:
    """Yield the values of these rows: the shop's id, the number, the parcel's id and its time."""
    for number in dict.fromkeys([parcel.tracking_id, *parcel.tracking_numbers]):
        yield parcel.shop_id, number, parcel.id, parcel.created_at


def own_numbers(parcel: Parcel) -> set[str]:
    return {parcel.tracking_id, *parcel.tracking_numbers}


def add_numbers(parcel: Parcel, numbers: list[str]) -> None:
    parcel.tracking_numbers = list(dict.fromkeys([*parcel.tracking_numbers, *numbers]))


def are_of_one_time(parcel: Parcel, other: Parcel) -> bool:
    """Tell if two parcels with one number are the same: the number was not given out again in between."""
    return abs(parcel.created_at - other.created_at) < GIVEN_OUT_AGAIN_MS


def lock_numbers(shop_id: str) -> None:
    """Let no label of the shop become a parcel, and no import end, until the transaction has ended.

    A label and an import that bring one number at the same time don't see each other's rows: the second to come here
    does. Who holds this waits for no parcel, as an import has locked its parcels when it comes here.
    """
    locks.lock(f"numbers of {shop_id}")


def lock_imports(shop_id: str) -> None:
    """Let no import of the shop begin to write until the transaction has ended: each locks parcels, batch by batch."""
    locks.lock(f"imports of {shop_id}")

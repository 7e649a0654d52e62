"""Goods are laid into parcels: in any order what fits is taken, at the cost of any other order."""

import random
import time
from decimal import Decimal
from itertools import permutations, product
from typing import Any

import pytest

from carriers.customs import items_by_parcel, shares_by_parcel, value_eur
from carriers.errors import RequestRejected
from carriers.laying import Counts, Kind, laid
from carriers.shipment import Customs, CustomsItem, Package
from tests.carriers.support.shipments import shipment

Goods = list[tuple[CustomsItem, ...]]


def fits(kinds: list[Kind], rooms: list[int], counts: Counts) -> bool:
    """Check a laying by its definition: all pieces, no parcel too heavy, none empty."""
    pieces = [sum(of_parcel[kind] for of_parcel in counts) for kind in range(len(kinds))]
    weights = [sum(weight * count for (weight, _), count in zip(kinds, each, strict=True)) for each in counts]
    is_whole = pieces == [quantity for _, quantity in kinds]
    return (
        is_whole and all(map(any, counts)) and all(weight <= room for weight, room in zip(weights, rooms, strict=True))
    )


def can_be_laid(kinds: list[Kind], rooms: list[int]) -> bool:
    """Try every way."""
    pieces = [weight for weight, quantity in kinds for _ in range(quantity)]
    for parcels in product(range(len(rooms)), repeat=len(pieces)):
        left = list(rooms)
        for weight, parcel in zip(pieces, parcels, strict=True):
            left[parcel] -= weight
        if min(left) >= 0 and len(set(parcels)) == len(rooms):
            return True
    return False


def test_what_fits_is_taken_in_any_order() -> None:
    for kinds in permutations([(2000, 1), (3000, 2)]):
        counts = laid(list(kinds), [3000, 5000])
        assert counts is not None
        assert fits(list(kinds), [3000, 5000], counts)


def test_every_small_order_is_laid_if_there_is_a_way() -> None:
    rng = random.Random(25)
    answers = set()
    for _ in range(1_500):
        kinds = [(rng.randint(0, 9), rng.randint(1, 2)) for _ in range(rng.randint(1, 4))]
        rooms = [rng.randint(1, 15) for _ in range(rng.randint(1, 3))]
        counts = laid(kinds, rooms)
        assert (counts is not None) == can_be_laid(kinds, rooms), (kinds, rooms)
        assert counts is None or fits(kinds, rooms, counts), (kinds, rooms, counts)
        answers.add(counts is not None)
    assert answers == {True, False}


@pytest.mark.parametrize("parcels", [2, 3, 4])
def test_parcels_that_weigh_what_is_in_them_to_the_gram_are_laid(parcels: int) -> None:
    rng = random.Random(parcels)
    for _ in range(50):
        contents = [[rng.randint(20, 3_000) for _ in range(rng.randint(1, 6))] for _ in range(parcels)]
        kinds = [(weight, 1) for each in contents for weight in each]
        rng.shuffle(kinds)
        counts = laid(kinds, list(map(sum, contents)))
        assert counts is not None
        assert fits(kinds, list(map(sum, contents)), counts)


@pytest.mark.parametrize(
    ("kinds", "rooms"),
    [
        ([(weight, 999) for weight in range(1, 51)], [30_000] * 99),
        ([(weight, 999) for weight in range(1, 51)], [12_863] * 99),
        ([(weight, 999) for weight in range(1, 51)], [318_560] * 4),
        ([(2 * weight + 1, 1) for weight in range(500, 550)], [13_125, 13_125, 13_126, 13_124]),
        ([(1_001, 999), (1_003, 999)], [500_999, 500_999, 499_999, 500_000]),
    ],
)
def test_the_largest_orders_cost_what_others_do(kinds: list[Kind], rooms: list[int]) -> None:
    started = time.process_time()
    laid(kinds, rooms)
    assert time.process_time() - started < 0.15  # as measured: at most 0.04 s; piece by piece it was 0.33 s and more


# --- The items of a shipment ---

COAT = CustomsItem("Manteau", 1, Decimal(150), Decimal(3))
BOOKS = CustomsItem("Livres", 4, Decimal(12), Decimal(1))
RING = CustomsItem("Bague", 1, Decimal(900), Decimal("0.1"))


def goods(*items: CustomsItem, weights: tuple[str, ...], share: bool = False) -> list[dict[str, int]]:
    """The pieces in each parcel, by their description."""
    return [
        {item.description: item.quantity for item in each} for each in laid_items(*items, weights=weights, share=share)
    ]


def laid_items(*items: CustomsItem, weights: tuple[str, ...], share: bool = False) -> Goods:
    packages = tuple(Package(Decimal(weight)) for weight in weights)
    ordered = shipment("beta_domicile_signature_monde", packages=packages, customs=Customs(items))
    lay: Any = shares_by_parcel if share else items_by_parcel
    parcels: Goods = lay("beta", ordered, ordered.customs)
    return parcels


def test_items_stay_in_their_order_where_that_fits() -> None:
    assert goods(COAT, BOOKS, RING, weights=("4", "5")) == [{"Manteau": 1, "Livres": 1}, {"Livres": 3, "Bague": 1}]


def test_items_go_to_the_parcel_that_they_name() -> None:
    named = [CustomsItem(**vars(item) | {"parcel": rank}) for item, rank in ((COAT, 0), (BOOKS, 1), (RING, 0))]
    assert goods(*named, weights=("4", "5")) == [{"Manteau": 1, "Bague": 1}, {"Livres": 4}]


@pytest.mark.parametrize("share", [False, True])
def test_items_that_leave_a_parcel_without_goods_are_refused(share: bool) -> None:
    with pytest.raises(RequestRejected, match=r"customs\.items: leave parcels\[1\] without goods"):
        goods(CustomsItem(**vars(COAT) | {"parcel": 0}), weights=("4", "5"), share=share)


def test_items_are_not_heavier_than_the_parcel_that_they_name() -> None:
    named = [CustomsItem(**vars(item) | {"parcel": rank}) for item, rank in ((COAT, 0), (BOOKS, 1))]
    with pytest.raises(RequestRejected, match=r"customs\.items: are heavier than parcels\[1\], which holds them"):
        goods(*named, weights=("4", "3"))
    assert goods(*named, weights=("4", "3"), share=True) == [{"Manteau": 1}, {"Livres": 4}]


@pytest.mark.parametrize(
    ("items", "weights", "said"),
    [
        ((COAT,), ("4", "5"), "leave a parcel without goods"),
        ((COAT, BOOKS), ("3", "3"), "are heavier than the parcels they are in"),
        ((COAT, RING), ("2", "2"), "are heavier than the parcels they are in"),
        ((COAT, COAT), ("2", "9"), r"could not be laid .* customs\.items\[\]\.parcel"),
    ],
)
def test_items_that_do_not_fit_are_refused_by_the_reason(
    items: tuple[CustomsItem, ...], weights: tuple[str, ...], said: str
) -> None:
    with pytest.raises(RequestRejected, match=said):
        goods(*items, weights=weights)


@pytest.mark.parametrize(("items", "weights"), [((COAT, BOOKS), ("3", "3")), ((COAT,), ("4", "5", "1"))])
def test_a_carrier_that_is_told_no_weights_is_told_shares_of_the_whole_value(
    items: tuple[CustomsItem, ...], weights: tuple[str, ...]
) -> None:
    parcels = laid_items(*items, weights=weights, share=True)
    assert [[item.description for item in each] for each in parcels] == [
        [item.description for item in items] for _ in weights
    ]
    assert sum(map(value_eur, parcels)) == value_eur(items)
    assert {item.origin_country_code for each in parcels for item in each} == {"FR"}
    values = [value_eur(each) for each in parcels]
    assert sorted(values) == [value for _, value in sorted(zip(map(Decimal, weights), values, strict=True))]

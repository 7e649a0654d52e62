"""A shop lists its labels: those it has, by what it knows of them, and nobody else's."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from labels.models import LabelState, ShippingLabel
from labels.personal_data.erasure import erase
from tests.labels.conftest import row
from tests.labels.factories import LabelFactory
from tests.labels.orders import PRODUCT, order, post
from tests.support.api import Caller, Clock, assert_error
from tests.support.paths import SHIPMENTS

Json = dict[str, Any]
WHEN = datetime(2026, 11, 21, 4, 24, 48, 400_000, UTC)


def listed(caller: Caller, **query: Any) -> list[str]:
    response = caller.get(SHIPMENTS, query_params=query)
    assert response.status_code == 200, response.json()
    return [label["id"] for label in response.json()["data"]]


@pytest.mark.parametrize("product_code", PRODUCT.values())
def test_a_label_is_listed_as_it_is_retrieved_with_what_was_ordered(product_code: str, buyer: Caller) -> None:
    parcels = [{"weight": 1.25, "reference": "CMD 1/2"}, {"weight": 3}]
    created = post(buyer, order(product_code, parcels=parcels)).json()
    ShippingLabel.objects.update(warnings=["Ligne coupée"])
    del created["labelUrl"]
    numbers = row().tracking_numbers
    assert buyer.get(SHIPMENTS).json() == {
        "data": [
            created
            | {
                "reference": "CMD 4711",
                "parcels": [
                    {"trackingNumber": numbers[0], "weight": 1.25, "reference": "CMD 1/2"},
                    {"trackingNumber": numbers[1], "weight": 3, "reference": None},
                ],
                "warnings": ["Ligne coupée"],
            }
        ],
        "next": None,
    }


def test_what_was_not_said_is_null_or_empty(own: Caller) -> None:
    LabelFactory(shop=own.shop, tracking_numbers=["N1"])
    (label,) = own.get(SHIPMENTS).json()["data"]
    assert (label["reference"], label["warnings"]) == (None, [])
    assert label["parcels"] == [{"trackingNumber": "N1", "weight": 1.25, "reference": None}]


def test_an_erased_label_is_listed_without_what_it_said(own: Caller) -> None:
    made = LabelFactory(
        shop=own.shop, tracking_numbers=["N1"], reference="Zoé", parcel_references=["Zoé"], warnings=["Zoé"]
    )
    erase([made.id])
    (label,) = own.get(SHIPMENTS).json()["data"]
    assert (label["reference"], label["warnings"], label["parcels"][0]["reference"]) == (None, [], None)


def test_only_generated_labels_are_listed_and_of_an_order_all_of_them(own: Caller) -> None:
    for state in LabelState:
        LabelFactory(shop=own.shop, state=state)
    made = [LabelFactory(shop=own.shop, order_id="77", days_ago=days).id for days in (0.5, 1, 900)]
    assert listed(own, orderId="77") == made
    assert len(listed(own)) == 4


def test_another_shops_labels_are_in_no_list(own: Caller, other: Caller) -> None:
    foreign = LabelFactory(shop=other.shop, tracking_numbers=["N1"], reference="R", created_at=WHEN)
    for query in (
        {"orderId": foreign.order_id},
        {"trackingNumber": "N1"},
        {"reference": "R"},
        {"createdFrom": "2026-11-21"},
        {},
    ):
        assert own.get(SHIPMENTS, query_params=query).json() == {"data": [], "next": None}
        assert listed(other, **query) == [foreign.id]
    assert_error(own.get(SHIPMENTS + "?shopId=other"), 400)


FILTERS = {
    "orderId": ("A 1", ["a 1", "A%201", "A", "' OR 1=1 --"]),
    "reference": ("Été n°5", ["ete n°5", "Été", "%", "_______"]),
    "trackingNumber": ("XN2", ["xn2", "XN", 'XN1", "XN2', "%", "XN1,XN2", "[]"]),
    "carrierCode": ("alpha", ["beta"]),
}


@pytest.mark.parametrize("name", FILTERS)
def test_a_filter_compares_exactly(name: str, own: Caller) -> None:
    found, missing = FILTERS[name]
    label = LabelFactory(
        shop=own.shop,
        carrier_code="alpha",
        order_id="A 1",
        reference="Été n°5",
        tracking_numbers=["XN1", "XN2"],
        weights_kg=["1", "2"],
    )
    assert listed(own, **{name: found}) == [label.id]
    for value in missing:
        assert listed(own, **{name: value}) == [], value


def test_all_filters_apply_at_once(own: Caller) -> None:
    facts: Json = {"shop": own.shop, "order_id": "1", "reference": "R", "tracking_numbers": ["N1"], "created_at": WHEN}
    found = LabelFactory(**facts)
    for change in ({"order_id": "2"}, {"reference": "S"}, {"tracking_numbers": ["N2"]}, {"carrier_code": "alpha"}):
        LabelFactory(**facts | change)
    day = WHEN.date().isoformat()
    query = {"orderId": "1", "reference": "R", "trackingNumber": "N1", "carrierCode": "beta"}
    assert listed(own, **query, createdFrom=day, createdTo=day) == [found.id]


def test_times_are_from_inclusive_to_exclusive_and_days_those_of_paris(own: Caller) -> None:
    midnight = datetime(2026, 11, 20, 23, tzinfo=UTC)  # in Paris, the 21st begins
    moments = [midnight - timedelta(microseconds=1), midnight, midnight + timedelta(hours=24)]
    before, first, after = (LabelFactory(shop=own.shop, created_at=moment).id for moment in moments)
    assert listed(own, createdFrom="2026-11-21") == [after, first]
    assert listed(own, createdTo="2026-11-21") == [first, before]
    assert listed(own, createdFrom="2026-11-21", createdTo="2026-11-21") == [first]
    assert listed(own, createdFrom="2026-11-21T00:00:00+01:00", createdTo="2026-11-21T23:00:00Z") == [first]
    assert listed(own, createdTo="2026-11-20T23:00:00Z") == [before]
    for begin, end in (("1970-01-01T00:00:00Z", "2999-12-31"), ("1000-01-01", "2999-12-31T23:59:59-14:00")):
        assert listed(own, createdFrom=begin, createdTo=end) == [after, first, before]
    assert listed(own, createdTo="1970-01-01") == listed(own, createdFrom="2999-12-31") == []


def test_pages_lose_and_repeat_nothing_while_labels_are_bought_and_cancelled(own: Caller) -> None:
    moments = [WHEN + timedelta(seconds=second // 3) for second in range(20)]  # three at a time
    made = [LabelFactory(shop=own.shop, created_at=moment).id for moment in moments]
    seen: list[str] = []
    cursor: Json = {}
    for number in range(10):
        body = own.get(SHIPMENTS, query_params={"limit": 4} | cursor).json()
        seen += [label["id"] for label in body["data"]]
        LabelFactory(shop=own.shop, created_at=WHEN + timedelta(hours=1 + number))
        ShippingLabel.objects.filter(id=seen[-1]).update(state=LabelState.CANCELLED)
        if body["next"] is None:
            break
        cursor = {"cursor": body["next"]}
    assert sorted(seen) == sorted(made)


def test_a_cursor_at_fault_is_named_beside_the_other_parameters(own: Caller) -> None:
    query = {"limit": "0", "cursor": "zz", "carrierCode": "gamma"}
    message = own.get(SHIPMENTS, query_params=query).json()["message"]
    assert message == (
        "limit: must be a whole number from 1 to 100. cursor: is altered, or was made for other filters. Send it"
        " unchanged, with the filters of the first page, or begin the list again, without it. carrierCode: must be"
        " one of alpha, beta."
    )


def test_a_page_is_one_query(own: Caller, clock: Clock, django_assert_num_queries: Any) -> None:
    for _ in range(3):
        LabelFactory(shop=own.shop)
    own.get(SHIPMENTS)  # from here on the token is remembered
    with django_assert_num_queries(1):
        assert len(listed(own, limit=2)) == 2

"""Look-up by tracking number."""

from typing import Any
from urllib.parse import quote

import orjson
import pytest

from parcels.serializers import MIN_TIME_MS
from tests.support.api import Caller, assert_error, without_timestamp
from tests.support.cases import in_one_test
from tests.support.factories import EventFactory, import_parcel
from tests.support.paths import PARCELS

# Any text that a client can put into a path.
NUMBERS = [
    *("a b", " leading", "trailing ", "a/b", "/a", "a//b", "a+b", "a%b", "a%2Fb", "a?b=c", "a#b", "a;b", "a&b"),
    *(".", "..", "../search", "search", "line\nbreak", "line break at the end\n", "tab\t", 'quote"', "l'été"),
    *("Œuvre №7", "e\u0301", "包裹", "\U0001f4e6", "\u202e", "\ufeff", "\ufffd", "%00", "{}", "<b>"),
    *("' OR 1=1 --", "x" * 255),
]


def path_of(number: str) -> str:
    return PARCELS + quote(number, safe="")


def test_an_answer_is_the_whole_parcel_in_the_order_of_the_specification(own: Caller) -> None:
    parcel = import_parcel(own.shop)
    response = own.look_up(parcel["trackingId"])
    assert response.status_code == 200
    assert response["Content-Type"] == "application/json"
    # Byte for byte, including the order of keys and the format of numbers.
    assert response.content == orjson.dumps(parcel)
    assert list(parcel) == [
        *("id", "shopId", "orderId", "orderNumber", "trackingId", "trackingNumbers", "carrierCode"),
        *("carrierProduct", "carrierDisplayName", "lastStatus", "lastStatusUpdatedAt", "carrierLastStatus"),
        *("estimatedDeliveryDateWindow", "deliveryDate", "endDepositDate", "destination", "lineItems"),
        *("events", "createdAt", "updatedAt"),
    ]


def test_nullable_fields_are_null_and_not_left_out(own: Caller) -> None:
    nullable: dict[str, Any] = dict.fromkeys(
        "carrierProduct carrierDisplayName lastStatus lastStatusUpdatedAt carrierLastStatus "
        "estimatedDeliveryDateWindow deliveryDate endDepositDate".split()
    )
    parcel = import_parcel(
        own.shop,
        **nullable,
        lineItems=[],
        events=[],
        trackingNumbers=[],
        destination__latitude=None,
        destination__longitude=None,
    )
    assert own.look_up(parcel["trackingId"]).content == orjson.dumps(parcel)


def test_a_number_given_twice_is_answered_twice_and_found(own: Caller) -> None:
    parcel = import_parcel(own.shop, trackingId="TWICE", trackingNumbers=["TWICE", "TWICE"])
    assert own.look_up("TWICE").json() == parcel


def test_a_parcel_is_not_found_by_its_other_fields(own: Caller) -> None:
    parcel = import_parcel(own.shop, orderNumber="ORDER")
    for text in (parcel["id"], parcel["orderId"], "ORDER"):
        assert own.look_up(text).status_code == 404


@in_one_test("number", ["n1", "N1 ", " N1", "N", "N11", "\uff2e1", "N%", "N_"])
def test_a_number_matches_exactly(number: str, own: Caller) -> None:
    import_parcel(own.shop, trackingId="N1")
    assert_error(own.get(path_of(number)), 404, f"No parcel has the tracking number '{number}'.")


@pytest.mark.parametrize(
    "ids", [["P9", "P10"], ["P10", "P9"], ["a", "B"], ["é", "z"], ["a-b", "ab"], ["\U0001f4e6", "\uffee"]]
)
def test_of_equally_new_ones_the_last_by_id_is_answered_always(ids: list[str], own: Caller) -> None:
    parcels = [import_parcel(own.shop, id=id_, trackingId="N1", createdAt=946_684_800_001) for id_ in ids]
    expected = max(parcels, key=lambda parcel: str(parcel["id"]))
    assert [own.look_up("N1").json() for _ in range(3)] == [expected] * 3


def test_another_shops_parcel_is_404_like_one_that_does_not_exist(own: Caller, other: Caller) -> None:
    number = import_parcel(other.shop, trackingId="N1", trackingNumbers=["N1", "N2"])["trackingId"]
    foreign = own.look_up(number)
    assert_error(foreign, 404, "No parcel has the tracking number 'N1'.")
    other_headers = set(foreign.headers)
    other.shop.parcels.all().delete()
    absent = own.look_up(number)
    assert without_timestamp(absent) == without_timestamp(foreign)
    assert set(absent.headers) == other_headers


def test_events_are_newest_first_however_they_came_in(own: Caller) -> None:
    times = [MIN_TIME_MS + number for number in (3, 1, 5, 2, 4)]
    parcel = import_parcel(own.shop, events=[EventFactory(createdAt=time, label=str(time)) for time in times])
    assert [event["createdAt"] for event in own.look_up(parcel["trackingId"]).json()["events"]] == sorted(
        times, reverse=True
    )


@in_one_test("number", NUMBERS)
def test_any_text_is_a_number(number: str, own: Caller) -> None:
    assert_error(own.get(path_of(number)), 404, f"No parcel has the tracking number '{number}'.")
    parcel = import_parcel(own.shop, trackingId=number)
    assert own.get(path_of(number)).json() == parcel


@in_one_test("number", ["nul\0byte", "\0", "x" * 10_000, "é" * 10_000, "\0" * 10_000])
def test_text_that_no_parcel_can_have_is_not_found(number: str, own: Caller) -> None:
    assert_error(own.get(path_of(number)), 404, f"No parcel has the tracking number '{number}'.")


@in_one_test(
    "accept", ["text/html", "application/xml", "nonsense", "", "application/json;q=0", "*/*", "image/*, */*;q=0"]
)
def test_accept_is_ignored(accept: str, own: Caller) -> None:
    parcel = import_parcel(own.shop)
    response = own.get(path_of(parcel["trackingId"]), headers={"Accept": accept})
    assert (response.status_code, response["Content-Type"], response.json()) == (200, "application/json", parcel)


def test_a_format_asked_for_in_the_query_is_ignored(own: Caller) -> None:
    parcel = import_parcel(own.shop)
    assert own.get(path_of(parcel["trackingId"]) + "?format=html").json() == parcel


def test_a_query_that_is_too_long_to_be_read_is_not_read(own: Caller) -> None:
    assert_error(own.get(f"{PARCELS}absent?{'a=1&' * 1100}"), 404)

"""Search by order number and customer e-mail."""

from collections.abc import Callable
from typing import Any

import orjson
import pytest

from parcels.serializers import MIN_TIME_MS
from tests.parcels.lines import line
from tests.support.api import Caller, assert_error
from tests.support.cases import in_one_test
from tests.support.factories import import_lines, import_parcel
from tests.support.paths import SEARCH

MISSING = "One of the query parameters orderName and email must be provided."
TEXTS = [
    *("Ann", "ANN", " Ann", "Ann ", "A nn", "A+nn", "A%20nn", "#1000", "1000", "Ánn", "A\u0301nn", "a&b=c"),
    *("a;b", "a/b", "包裹", "\U0001f4e6", "%", "_", "*", "' OR ''='", "\n"),
]
SOUGHT = {"orderNumber": "#1", "customerEmail": "a@b.c"}
QUERIES = [{"orderName": "#1"}, {"email": "a@b.c"}, {"orderName": "#1", "email": "a@b.c"}]


def ids(response: Any) -> list[str]:
    assert response.status_code == 200
    return [parcel["id"] for parcel in response.json()]


def test_an_answer_is_an_array_of_whole_parcels(own: Caller) -> None:
    older = import_parcel(own.shop, orderNumber="#1", createdAt=946_684_800_001)
    newer = import_parcel(own.shop, orderNumber="#1", createdAt=946_684_800_002)
    response = own.search(orderName="#1")
    assert response.status_code == 200
    assert response["Content-Type"] == "application/json"
    assert response.content == orjson.dumps([newer, older])


@pytest.mark.parametrize("field", ["orderName", "email"])
def test_a_text_matches_exactly(field: str, own: Caller) -> None:
    column = {"orderName": "orderNumber", "email": "customerEmail"}[field]
    for text in TEXTS:
        import_parcel(own.shop, id=f"<{text}>", **{column: text})
    import_parcel(own.shop, orderNumber="", customerEmail=None)
    found = {text: ids(own.search(**{field: text})) for text in (*TEXTS, "None", "null")}
    assert found == {text: [f"<{text}>"] for text in TEXTS} | {"None": [], "null": []}


def test_a_plus_in_the_query_is_a_space_unless_it_is_encoded(own: Caller) -> None:
    import_parcel(own.shop, id="plus", customerEmail="a+b@example.com")
    import_parcel(own.shop, id="space", customerEmail="a b@example.com")
    assert ids(own.get(f"{SEARCH}?email=a%2Bb@example.com")) == ["plus"]
    assert ids(own.get(f"{SEARCH}?email=a+b@example.com")) == ["space"]


@in_one_test(
    "query", ["", "?", "?orderName=", "?email=", "?orderName=&email=", "?%00=1", "?=1", "?orderId=1&<script>=1"]
)
def test_neither_given_is_400(query: str, own: Caller) -> None:
    assert_error(own.get(SEARCH + query), 400, MISSING)


def test_at_most_fifty_the_newest_are_answered_newest_first(own: Caller) -> None:
    # Neither the order of import nor that of ids is that of creation; three at a time are equally new.
    times = {f"P{n}": MIN_TIME_MS + (n * 7) % 60 // 3 for n in range(60)}
    import_lines(own.shop, [line(id=id_, createdAt=time, **SOUGHT) for id_, time in times.items()])
    newest = sorted(times, key=lambda id_: (times[id_], id_), reverse=True)
    for query in QUERIES:
        assert ids(own.search(**query)) == newest[:50], query


def test_another_shops_parcels_are_not_found(own: Caller, other: Caller) -> None:
    mine = import_parcel(own.shop, createdAt=946_684_800_001, **SOUGHT)
    import_lines(other.shop, [line(createdAt=946_684_800_002, **SOUGHT) for _ in range(50)])
    theirs = import_parcel(other.shop, createdAt=946_684_800_002, **SOUGHT)
    assert [own.search(**query).json() for query in QUERIES] == [[mine]] * 3
    assert all(parcel["shopId"] == "other" for parcel in other.search(orderName="#1").json())
    mine_only = import_parcel(own.shop, orderNumber="#2", customerEmail="c@b.c")
    assert other.search(orderName=mine_only["orderNumber"]).json() == []
    assert own.search(orderName=theirs["orderId"]).json() == []


@in_one_test("text", ["nul\0byte", "\0", "x" * 10_000, "é" * 10_000])
@in_one_test("make", [lambda t: {"orderName": t}, lambda t: {"email": t}, lambda t: {"orderName": t, "email": t}])
def test_text_that_no_parcel_can_have_finds_nothing(
    text: str, make: Callable[[str], dict[str, str]], own: Caller
) -> None:
    import_parcel(own.shop, orderNumber="nul", customerEmail="nul")
    assert ids(own.search(**make(text))) == []


@in_one_test("query", ["orderName=%FF", "email=%ED%A0%80", "orderName=%", "email=%zz", "orderName=%C3"])
def test_a_query_that_is_no_text_finds_nothing(query: str, own: Caller) -> None:
    assert ids(own.get(f"{SEARCH}?{query}")) == []


def test_a_body_sent_along_is_ignored(own: Caller) -> None:
    response = own.get(f"{SEARCH}?orderName=1", data=b"{", content_type="application/x-unknown")
    assert (response.status_code, response.content) == (200, b"[]")

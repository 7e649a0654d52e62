"""Properties: no answer to a shop holds another shop's data or an internal field, for any data and any request."""

from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import quote

import orjson
import pytest
from django.db import transaction
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pytest_django.fixtures import Settings

from parcels.serializers import MIN_TIME_MS
from tests.support.api import UNKNOWN_PATH, Caller, assert_error, forget
from tests.support.factories import INTERNAL_FIELDS, PUBLIC_FIELDS, Json, ParcelLineFactory, import_lines
from tests.support.paths import PARCELS, SEARCH

# Few values, so that parcels share them within and across shops; some differ only in case, space or accent.
NUMBERS = ["N1", "n1", "N 1", "N1 ", "N/1", "N+1", "É1", "E\u03011", "%4E1"]
ORDERS = ["#1", "#1 ", "#2", "#É", ""]
EMAILS = ["a@example.com", "A@example.com", "a+b@example.com", "a b@example.com", "", None]

parcels = st.fixed_dictionaries(
    {
        "shop": st.sampled_from(["own", "other"]),
        "trackingId": st.sampled_from(NUMBERS),
        "trackingNumbers": st.lists(st.sampled_from(NUMBERS), max_size=4),
        "orderNumber": st.sampled_from(ORDERS),
        "customerEmail": st.sampled_from(EMAILS),
        "createdAt": st.integers(MIN_TIME_MS, MIN_TIME_MS + 2),
    }
)
ids = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=4).filter(
    lambda text: text not in {".", ".."}
)
worlds = st.dictionaries(ids, parcels, max_size=12)
texts = st.text(st.characters(exclude_categories=["Cs"]), min_size=1)
any_text = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
any_world = settings(any_text, max_examples=30)  # with dozens of requests each


@pytest.fixture(autouse=True)
def no_limit(settings: Settings) -> None:
    settings.RATE_LIMIT = (10**8, 60)


@contextmanager
def world(callers: list[Caller], contents: dict[str, Json]) -> Iterator[list[Json]]:
    """Import the parcels for the duration of the block; yield the lines, each with its shop."""
    with transaction.atomic():
        lines = []
        for caller in callers:
            of_shop = [make_line(id_, parcel) for id_, parcel in contents.items() if parcel["shop"] == caller.shop.id]
            import_lines(caller.shop, map(orjson.dumps, of_shop))
            lines += [{"shopId": caller.shop.id} | line for line in of_shop]
        yield lines
        transaction.set_rollback(True)
    forget()


def make_line(id_: str, parcel: Json) -> Json:
    secret = {"webTemplate": f"secret of {parcel['shop']}", "destination__city": f"city of {parcel['shop']}"}
    line: Json = ParcelLineFactory(
        id=id_, **{name: value for name, value in parcel.items() if name != "shop"}, **secret
    )
    return line


def answer_of(line: Json) -> Json:
    return {name: line[name] for name in ("id", "shopId", *PUBLIC_FIELDS)}


def newest_first(lines: list[Json]) -> list[Json]:
    return sorted(lines, key=lambda line: (line["createdAt"], line["id"]), reverse=True)


def expected_look_up(lines: list[Json], shop: str, number: str) -> Json | None:
    """Specification 4.1 in its plainest form."""
    found = [
        line
        for line in lines
        if line["shopId"] == shop and (number == line["trackingId"] or number in line["trackingNumbers"])
    ]
    return answer_of(newest_first(found)[0]) if found else None


def expected_search(lines: list[Json], shop: str, order: str, email: str) -> list[Json]:
    """Specification 4.2 in its plainest form."""
    found = [line for line in lines if line["shopId"] == shop]
    if order:
        found = [line for line in found if line["orderNumber"] == order]
    if email:
        found = [line for line in found if line["customerEmail"] == email]
    return [answer_of(line) for line in newest_first(found)[:50]]


def check_holds_only(shop: str, content: bytes) -> None:
    text = content.decode()
    stranger = "other" if shop == "own" else "own"
    for hidden in (*INTERNAL_FIELDS, "secret of", f"city of {stranger}", f'"shopId":"{stranger}"', 'example.com"'):
        assert hidden not in text


@any_world
@given(contents=worlds)
def test_look_ups_answer_what_the_specification_says(contents: dict[str, Json], own: Caller, other: Caller) -> None:
    with world([own, other], contents) as lines:
        for caller in (own, other):
            for number in NUMBERS:
                response = caller.get(PARCELS + quote(number, safe=""))
                expected = expected_look_up(lines, caller.shop.id, number)
                check_holds_only(caller.shop.id, response.content)
                if expected is None:
                    assert_error(response, 404, f"No parcel has the tracking number '{number}'.")
                else:
                    assert response.content == orjson.dumps(expected)


@any_world
@given(contents=worlds)
def test_searches_answer_what_the_specification_says(contents: dict[str, Json], own: Caller, other: Caller) -> None:
    queries = [{"orderName": order, "email": email} for order in ORDERS for email in EMAILS if email is not None]
    with world([own, other], contents) as lines:
        for caller in (own, other):
            for query in queries:
                response = caller.search(**query)
                check_holds_only(caller.shop.id, response.content)
                if not any(query.values()):
                    assert_error(response, 400)
                else:
                    expected = expected_search(lines, caller.shop.id, query["orderName"], query["email"])
                    assert response.content == orjson.dumps(expected)


@any_text
@given(number=texts.filter(lambda text: not text.endswith("/")))
def test_any_text_in_the_path_has_a_proper_answer(number: str, own: Caller) -> None:
    response = own.get(PARCELS + quote(number, safe=""))
    assert_error(response, 404, f"No parcel has the tracking number '{number}'.")


@any_text
@given(path=st.binary())
def test_any_bytes_in_the_path_have_a_proper_answer(path: bytes, own: Caller) -> None:
    assert_error(own.get(PARCELS + quote(path, safe="/")), 404)
    assert_error(own.get("/public/x" + quote(path, safe="/")), 404, UNKNOWN_PATH)


@any_text
@given(order=texts, email=texts)
def test_any_text_in_the_query_has_a_proper_answer(order: str, email: str, own: Caller) -> None:
    for query in ({"orderName": order}, {"email": email}, {"orderName": order, "email": email}):
        assert own.search(**query).json() == []


@any_text
@given(query=st.binary())
def test_any_bytes_in_the_query_have_a_proper_answer(query: bytes, own: Caller) -> None:
    # A WSGI server passes the bytes of a query string on as Latin-1 text.
    response = own.get(SEARCH, QUERY_STRING=query.decode("latin-1"))
    if response.status_code != 200:
        assert_error(response, 400)


@any_text
@given(header=st.text(st.characters(max_codepoint=0xFF)))
def test_any_authorization_has_a_proper_answer(header: str, own: Caller) -> None:
    for value in (header, f"Bearer {header}", f"{own.token}{header}"):
        assert_error(own.get(SEARCH, headers={"Authorization": value}), 403)

"""Lists by pages: none lost and none repeated, cursors of one list only, queries read strictly."""

import random
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import urlencode

import pytest
from django.test import RequestFactory
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request

from shops.api.cursors import PageSerializer, read_page
from shops.api.field_faults import describe_faults
from shops.api.query_fields import MomentParameter, TextParameter
from shops.api.serializer_fields import ChoiceField
from shops.models import AccessToken, Shop
from tests.support.api import Clock
from tests.support.cases import in_one_test
from tests.support.factories import ShopFactory

WHEN = datetime(2026, 11, 21, 4, 24, 48, 400_123, UTC)
Json = dict[str, Any]


class TokenQuery(PageSerializer):
    """The query of a list of tokens, as a list of the API would declare it."""

    name = TextParameter(source="token_name", max_length=10)
    kind = ChoiceField(("a", "b"), required=False)
    createdFrom = MomentParameter(source="created_at__gte")  # noqa: N815 - the public name
    createdTo = MomentParameter(source="created_at__lt", is_end=True)  # noqa: N815


def asked(shop: Shop, query: str = "", path: str = "/tokens", **parameters: Any) -> Request:
    request = Request(RequestFactory().get(f"{path}?{query or urlencode(parameters)}"))
    request.user = shop  # type: ignore[assignment]  # the principal of the API
    return request


def page(shop: Shop, **parameters: Any) -> Json:
    rows = AccessToken.objects.filter(shop=shop)
    return read_page(asked(shop, **parameters), TokenQuery).answer(rows, lambda token: {"id": token.id})


def refusal(shop: Shop, query: str = "", **parameters: Any) -> str:
    with pytest.raises(ValidationError) as caught:
        read_page(asked(shop, query, **parameters), TokenQuery)
    return describe_faults(caught.value.detail)


def make(shop: Shop, *names: str, at: datetime = WHEN) -> None:
    AccessToken.objects.bulk_create(
        AccessToken(id=name, shop=shop, digest=f"{shop.id}{name}", created_at=at) for name in names
    )


def pages(shop: Shop, **parameters: Any) -> Iterator[Json]:
    answer = page(shop, **parameters)
    yield answer
    while answer["next"]:
        answer = page(shop, cursor=answer["next"], **parameters)
        yield answer


def ids(*answers: Json) -> list[str]:
    return [row["id"] for answer in answers for row in answer["data"]]


@pytest.fixture
def shop(db: None) -> Shop:
    made: Shop = ShopFactory(id="own")
    return made


@pytest.mark.parametrize("limit", [1, 2, 3, 7, 8, 100])
def test_all_rows_are_shown_once_the_newest_first_and_the_last_page_says_so(limit: int, shop: Shop) -> None:
    make(shop, "a", "b", "c")  # of the same moment
    make(shop, "z", at=WHEN - timedelta(microseconds=1))
    make(shop, "d", "e", "f", at=WHEN + timedelta(microseconds=1))
    answers = list(pages(shop, limit=limit))
    assert ids(*answers) == ["f", "e", "d", "c", "b", "a", "z"]
    assert [len(answer["data"]) for answer in answers[:-1]] == [limit] * (len(answers) - 1)
    assert len(answers) == -(-7 // limit)


def test_rows_made_and_removed_meanwhile_move_nothing(shop: Shop) -> None:
    chance = random.Random(1)
    make(shop, *(f"r{rank:03}" for rank in range(60)))
    before = set(AccessToken.objects.values_list("id", flat=True))
    removed: set[str] = set()
    shown: list[str] = []
    for number, answer in enumerate(pages(shop, limit=7)):
        shown += ids(answer)
        make(shop, f"s{number}", at=WHEN + timedelta(seconds=number + 1))
        gone = chance.choice(sorted(before - removed))
        AccessToken.objects.filter(id=gone).delete()
        removed.add(gone)
    assert len(shown) == len(set(shown))
    assert before - removed <= set(shown) <= before


def test_an_empty_list_has_no_next_page(shop: Shop) -> None:
    assert page(shop) == {"data": [], "next": None}


@pytest.mark.parametrize(
    "changes",
    [
        {"name": "other"},
        {"kind": "a"},
        {"createdFrom": "2026-11-21"},
        {"path": "/others"},
        {"shop": "other"},
        {"cursor": "x"},
        {"cursor": "é:\ud7ff:x"},
        {"cut": 1},
    ],
    ids=str,
)
def test_a_cursor_is_of_its_own_list_filters_and_shop(changes: Json, shop: Shop) -> None:
    make(shop, "a", "b", "c")
    shops: dict[str, Shop] = {"own": shop, "other": ShopFactory(id="other")}
    cursor = page(shop, limit=1, name="n")["next"]
    asks: Json = {"name": "n", "cursor": cursor[: -changes.pop("cut", 0) or None]} | changes
    with pytest.raises(ValidationError) as caught:
        page(shops[asks.pop("shop", "own")], **asks)
    assert describe_faults(caught.value.detail).startswith("cursor: is altered, or was made for other filters.")


def test_the_limit_is_no_filter(shop: Shop) -> None:
    make(shop, "a", "b", "c")
    assert ids(page(shop, cursor=page(shop, limit=1)["next"], limit=5)) == ["b", "a"]


def test_a_cursor_is_good_for_a_day(shop: Shop, clock: Clock) -> None:
    make(shop, "a", "b")
    clock.now_s = int(clock.now_s) + 0.9  # a signature has whole seconds
    cursor = page(shop, limit=1)["next"]
    clock.tick(24 * 3600 - 0.1)
    assert ids(page(shop, cursor=cursor)) == ["a"]
    clock.tick(1)
    assert refusal(shop, cursor=cursor) == "cursor: is older than a day. Begin the list again, without it."


@in_one_test(
    "query, fault",
    [
        ("foo=1", "foo: is no parameter here, only limit, cursor, name, kind, createdFrom, createdTo."),
        ("shopId=other&Limit=3", "shopId: is no parameter"),
        ("shopId=other&Limit=3", "Limit: is no parameter"),
        ("%0D%0Aé=1", "%0D%0A%C3%A9: is no parameter"),
        ("x" * 5000 + "=1", "x" * 40 + ": is no parameter"),
        ("limit=0", "limit: must be a whole number from 1 to 100."),
        ("limit=101", "limit: must be"),
        ("limit=1.5", "limit: must be"),
        ("limit=%D9%A3", "limit: must be"),  # an Arabic digit
        ("limit=", "limit: must be"),
        ("limit=1&limit=2&name=", "name: must not be empty. limit: is given twice."),
        ("name=", "name: must not be empty."),
        ("name=12345678901", "name: must have at most 10 characters."),
        ("name=%00", "name: must not contain a NUL character."),
        ("kind=c", "kind: must be one of a, b."),
        ("cursor=", "cursor: must not be empty."),
        ("createdFrom=yesterday", "createdFrom: must be ISO 8601 with an offset"),
        ("createdFrom=2026-11-21T04:24:48", "createdFrom: must be ISO 8601"),
        ("createdFrom=2026-11-21T04:24:48+01:00", "(the + of an offset is escaped as %2B)"),
        ("createdFrom=2026-11-21T04:24:48Z01", "createdFrom: must be"),
        ("createdFrom=2026-11-21T04:24:48-01:0", "createdFrom: must be"),
        ("createdFrom=2026-02-30", "createdFrom: must be"),
        ("createdFrom=2026-02-20T24:01Z", "createdFrom: must be"),
        ("createdFrom=0001-01-01", "createdFrom: must be"),
        ("createdTo=9999-12-31", "or a day, YYYY-MM-DD, from 1000 to 2999."),
        ("createdTo=2026-W07", "createdTo: must be"),
    ],
)
def test_what_is_no_parameter_or_none_of_its_values_is_named(query: str, fault: str, shop: Shop) -> None:
    assert fault in refusal(shop, query)


@in_one_test(
    "sent, begins, ends",
    [
        ("2026-11-21T04:24:48Z", "2026-11-21T04:24:48+00:00", "2026-11-21T04:24:48+00:00"),
        ("2026-11-21T04:24+01:00", "2026-11-21T03:24:00+00:00", "2026-11-21T03:24:00+00:00"),
        ("2026-11-21T04:24+01", "2026-11-21T03:24:00+00:00", "2026-11-21T03:24:00+00:00"),
        ("2026-11-21T04:24:48-0330", "2026-11-21T07:54:48+00:00", "2026-11-21T07:54:48+00:00"),  # PHP's DATE_ISO8601
        ("2026-11-21T04:24:48.123456789Z", "2026-11-21T04:24:48.123456+00:00", "2026-11-21T04:24:48.123456+00:00"),
        ("2026-11-21", "2026-11-20T23:00:00+00:00", "2026-11-21T23:00:00+00:00"),
        ("2026-03-29", "2026-03-28T23:00:00+00:00", "2026-03-29T22:00:00+00:00"),  # of 23 hours
        ("2026-10-25", "2026-10-24T22:00:00+00:00", "2026-10-25T23:00:00+00:00"),  # of 25 hours
        ("1970-01-01T00:00:00Z", "1970-01-01T00:00:00+00:00", "1970-01-01T00:00:00+00:00"),
        ("1999-12-31", "1999-12-30T23:00:00+00:00", "1999-12-31T23:00:00+00:00"),
    ],
)
def test_a_time_has_an_offset_and_a_day_is_the_whole_one_in_paris(
    sent: str, begins: str, ends: str, shop: Shop
) -> None:
    filters = read_page(asked(shop, createdFrom=sent, createdTo=sent), TokenQuery).filters
    assert filters["created_at__gte"].astimezone(UTC).isoformat() == begins
    assert filters["created_at__lt"].astimezone(UTC).isoformat() == ends

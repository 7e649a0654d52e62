"""GET events: in the order of commits, none skipped and none twice, for shops with and without an endpoint."""

from collections.abc import Iterator, Sequence
from datetime import timedelta
from typing import Any

import pytest
from django.db import transaction
from django.utils import timezone

from shops.models import Shop
from shops.webhooks import feed
from shops.webhooks.models import WebhookEvent
from tests.shops.webhooks.receivers import tell_label
from tests.support.api import Caller, Response, assert_error
from tests.support.paths import TRACKING
from tests.support.threads import Threads
from tests.support.waiting import WAIT_TIMEOUT_S

EVENTS = f"{TRACKING}/events"

# An event of a test's own transaction is told only while no later transaction has ended.
pytestmark = pytest.mark.django_db(transaction=True)


def ask(caller: Caller, **query: Any) -> dict[str, Any]:
    response = caller.get(EVENTS, query_params={name: str(value) for name, value in query.items()})
    assert response.status_code == 200, response.content
    page: dict[str, Any] = response.json()
    assert list(page) == ["data", "next", "hasMore"]
    return page


def subjects(page: dict[str, Any]) -> list[str]:
    return [each["data"]["id"] for each in page["data"]]


def pages(caller: Caller, **query: Any) -> Iterator[dict[str, Any]]:
    """Yield the pages of a shop that begins and goes on until nothing is left."""
    page = ask(caller, **query)
    yield page
    while page["hasMore"]:
        page = ask(caller, after=page["next"], **query)
        yield page


def test_an_event_is_what_its_webhook_tells_with_the_webhooks_id(own: Caller) -> None:
    tell_label(own.shop.id, "one")
    (event,) = ask(own)["data"]
    row = WebhookEvent.objects.get()
    assert event == {"id": row.message_id, **row.body}
    assert list(event) == ["id", "type", "timestamp", "data"]


def test_events_come_oldest_first_and_pages_go_on_without_end(own: Caller) -> None:
    assert ask(own) | {"next": ""} == {"data": [], "next": "", "hasMore": False}
    begun = ask(own)["next"]
    for number in range(7):
        tell_label(own.shop.id, str(number))
    read = list(pages(own, limit=3))
    assert [subjects(page) for page in read] == [["0", "1", "2"], ["3", "4", "5"], ["6"]]
    assert subjects(ask(own, after=begun)) == list("0123456")
    end = read[-1]["next"]
    assert ask(own, after=end)["data"] == []
    tell_label(own.shop.id, "7")
    assert subjects(ask(own, after=end)) == ["7"]


def test_now_is_todays_place_and_no_event(own: Caller) -> None:
    tell_label(own.shop.id, "before")
    page = ask(own, after="now")
    assert (page["data"], page["hasMore"]) == ([], False)
    tell_label(own.shop.id, "after")
    assert subjects(ask(own, after=page["next"])) == ["after"]


def test_a_type_selects_and_the_place_moves_over_the_others(own: Caller) -> None:
    tell_label(own.shop.id, "one")
    page = ask(own, type="label.cancelled")
    assert page["data"] == []
    tell_label(own.shop.id, "two")
    assert subjects(ask(own, after=page["next"], type="label.failed")) == ["two"]


def test_another_shops_events_and_places_are_not_to_be_had(own: Caller, other: Caller) -> None:
    tell_label(own.shop.id)
    assert ask(other)["data"] == []
    assert_error(other.get(EVENTS, query_params={"after": ask(own)["next"]}), 400)


def test_every_fault_of_a_query_is_named_at_once(own: Caller) -> None:
    response = own.get(EVENTS, query_params={"after": "nonsense", "type": "label.lost", "limit": "501", "since": "1"})
    assert_error(response, 400)
    for said in (
        "after: is no `next`",
        "type: must be one of parcel.status_changed",
        "limit: must be a whole number from 1 to 500",
        "since: is no parameter here",
    ):
        assert said in response.json()["message"]


def age(days: float, **conditions: Any) -> None:
    WebhookEvent.objects.filter(**conditions).update(created_at=timezone.now() - timedelta(days=days))


def assert_gone(response: Response) -> None:
    assert (response.status_code, response.json()["code"]) == (410, "EVENTS_GONE")


def test_they_begin_30_days_back_whether_older_ones_are_removed_or_not(own: Caller) -> None:
    for subject in ("old", "kept", "new"):
        tell_label(own.shop.id, subject)
    age(30.01, subject="old")
    age(29.99, subject="kept")
    assert subjects(ask(own)) == ["kept", "new"]
    assert [subjects(page) for page in pages(own, limit=1)] == [["kept"], ["new"]]


@pytest.mark.parametrize("removed", [{}, {"subject": "1"}], ids=["all", "one, not yet its own"])
def test_a_place_of_over_30_days_ago_whose_followers_may_be_gone_is_410(
    removed: dict[str, str], own: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(3):
        tell_label(own.shop.id, str(number))
    age(29)
    place, end = ask(own, limit=1)["next"], ask(own)["next"]
    monkeypatch.setattr(feed, "EVENTS_KEPT", timedelta(days=28))
    WebhookEvent.objects.filter(**removed).delete()
    assert_gone(own.get(EVENTS, query_params={"after": place}))
    assert ask(own, after=end)["data"] == []


def test_who_begins_goes_on_though_the_first_events_are_over_30_days_old_by_then(
    own: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    for subject in ("first", "second"):
        tell_label(own.shop.id, subject)
    age(29)
    page = ask(own, limit=1)
    monkeypatch.setattr(feed, "EVENTS_KEPT", timedelta(days=29) - timedelta(minutes=1))
    assert subjects(ask(own, after=page["next"])) == ["second"]


def test_a_quiet_shop_keeps_its_place_when_its_last_event_is_removed_by_its_age(own: Caller) -> None:
    tell_label(own.shop.id, "old")
    age(31)
    place = ask(own)["next"]
    WebhookEvent.objects.all().delete()
    assert ask(own, after=place)["data"] == []
    tell_label(own.shop.id, "new")
    assert subjects(ask(own, after=place)) == ["new"]


def test_a_place_that_a_restore_has_undone_is_410(own: Caller) -> None:
    tell_label(own.shop.id, "kept")
    tell_label(own.shop.id, "lost")
    place = ask(own)["next"]
    WebhookEvent.objects.filter(subject="lost").delete()
    assert_gone(own.get(EVENTS, query_params={"after": place}))


@pytest.mark.real_services
def test_an_event_that_is_committed_late_is_not_skipped(own: Caller) -> None:
    with Threads(1) as pool:
        with transaction.atomic():
            tell_label(own.shop.id, "first, and late")
            pool.submit(tell_label, own.shop.id, "second").result(WAIT_TIMEOUT_S)
            page = pool.submit(ask, own).result(WAIT_TIMEOUT_S)
            assert subjects(page) == []  # not before the first is over
        assert subjects(ask(own, after=page["next"])) == ["first, and late", "second"]


@pytest.mark.real_services
def test_one_parcels_events_keep_their_order_whichever_transaction_began_first(own: Caller) -> None:
    with Threads(1) as pool, transaction.atomic():
        Shop.objects.filter(id=own.shop.id).update(name="x")  # has its id
        pool.submit(tell_label, own.shop.id, "parcel", code="1").result(WAIT_TIMEOUT_S)
        tell_label(own.shop.id, "parcel", code="2")
    assert [each["data"]["code"] for each in ask(own)["data"]] == ["1", "2"]


@pytest.mark.real_services
def test_many_writers_at_once_and_a_reader_beside_them_skip_and_double_nothing(own: Caller) -> None:
    writers, each_writes = 6, 40

    def write(writer: int) -> None:
        for number in range(0, each_writes, 2):
            with transaction.atomic():
                for one in (number, number + 1):
                    tell_label(own.shop.id, f"{writer}-{one}")

    def read() -> list[str]:
        seen: list[str] = []
        place: Sequence[str] = []
        while len(seen) < writers * each_writes:
            found = feed.answer(shop_id=own.shop.id, after=place, limit=7)
            seen += [each["data"]["id"] for each in found["data"]]
            place = feed.checked_place(found["next"], own.shop.id)
        return seen

    with Threads(writers + 1) as pool:
        reader = pool.submit(read)
        list(pool.map(write, range(writers)))
        seen = reader.result(WAIT_TIMEOUT_S)
    assert sorted(seen) == sorted({f"{writer}-{number}" for writer in range(writers) for number in range(each_writes)})
    for writer in range(writers):
        of_writer = [int(subject.partition("-")[2]) for subject in seen if subject.startswith(f"{writer}-")]
        assert of_writer == sorted(of_writer)


@pytest.mark.real_services
def test_a_database_restored_elsewhere_tells_its_old_events_first(own: Caller) -> None:
    tell_label(own.shop.id, "old")
    place = ask(own)["next"]
    WebhookEvent.objects.update(transaction_id=2**50)  # the other server had come further
    tell_label(own.shop.id, "new")
    assert subjects(ask(own)) == ["old", "new"]
    assert subjects(ask(own, after=place)) == ["new"]


@pytest.mark.real_services
def test_a_shop_that_asks_after_that_puts_its_own_events_right_and_no_others(own: Caller, other: Caller) -> None:
    for caller in (own, other):
        tell_label(caller.shop.id, "old")
    WebhookEvent.objects.update(transaction_id=2**50)
    assert subjects(ask(own)) == ["old"]
    found = dict(WebhookEvent.objects.values_list("shop", "transaction_id"))
    assert found == {own.shop.id: 0, other.shop.id: 2**50}
    assert subjects(ask(other)) == ["old"]

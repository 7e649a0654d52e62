"""Claims: fair between endpoints, within limits over all processes, and only the first row of a subject."""

from collections import Counter
from concurrent.futures import Future, wait
from datetime import timedelta
from functools import partial
from typing import Any

import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from shops.models import Shop
from shops.webhooks import claims, delivering, endpoints
from shops.webhooks.claims import Claim, claim
from shops.webhooks.models import WebhookDelivery, WebhookEndpoint
from shops.webhooks.sending import Outcome
from tests.shops.webhooks.receivers import tell_label
from tests.support.factories import ShopFactory
from tests.support.threads import Threads, in_threads
from tests.support.waiting import WAIT_TIMEOUT_S

URL = "http://127.0.0.1:9999/"


def add(shop: Shop, rows: int, *, is_slow: bool | None = False) -> WebhookEndpoint:
    """Make an endpoint with so many rows, of different subjects; by default one that was quick before."""
    made, _ = endpoints.create(shop=shop, url=URL)
    WebhookEndpoint.objects.filter(id=made.id).update(is_slow=is_slow)
    for number in range(rows):
        tell_label(shop.id, f"label-{number}")
    return made


def by_endpoint(claimed: list[Claim]) -> Counter[str]:
    return Counter(each.endpoint.id for each in claimed)


def test_each_endpoint_gets_an_equal_share_however_many_rows_another_has(db: None) -> None:
    many, few = add(ShopFactory(), 30), add(ShopFactory(), 3)
    assert by_endpoint(claim(6)) == {many.id: 3, few.id: 3}


def test_what_an_endpoint_has_no_use_for_is_the_next_ones(db: None) -> None:
    few, many = add(ShopFactory(), 1), add(ShopFactory(), 30)
    WebhookEndpoint.objects.filter(id=many.id).update(served_at=timezone.now())
    assert by_endpoint(claim(8)) == {few.id: 1, many.id: 7}


def test_the_endpoint_that_waits_longest_is_served_first(db: None) -> None:
    made = [add(ShopFactory(), 3) for _ in range(3)]
    served = [next(iter(by_endpoint(claim(1)))) for _ in range(6)]
    assert sorted(served[:3]) == sorted(each.id for each in made)
    assert served[3:] == served[:3]


@pytest.mark.parametrize("is_failing", [False, True])
def test_an_endpoint_has_so_many_attempts_at_once_and_a_failing_one_has_one(db: None, *, is_failing: bool) -> None:
    made = add(ShopFactory(), 30)
    WebhookEndpoint.objects.filter(id=made.id).update(failing_since=timezone.now() if is_failing else None)
    assert len(claim(100)) == (1 if is_failing else claims.MAX_FOR_ENDPOINT)
    assert claim(100) == []


def test_a_new_endpoint_has_two_attempts_at_once_until_it_is_known_to_be_quick(db: None) -> None:
    add(ShopFactory(), 30, is_slow=None)
    first = claim(100)
    assert len(first) == claims.MAX_FOR_NEW_ENDPOINT
    assert claim(100) == []
    delivering.record([Outcome(each, 200, "", 0.1) for each in first])
    assert len(claim(100)) == claims.MAX_FOR_ENDPOINT


def test_slow_endpoints_leave_room_for_the_others_whatever_their_number(db: None) -> None:
    for _ in range(8):
        add(ShopFactory(), 30, is_slow=True)
    assert len(claim(64, slow_limit=32)) == 32
    assert claim(32, slow_limit=0) == []
    quick = add(ShopFactory(), 30)
    assert by_endpoint(claim(32, slow_limit=0)) == {quick.id: claims.MAX_FOR_ENDPOINT}


def test_slow_endpoints_of_a_shop_leave_room_for_its_quick_one(db: None) -> None:
    shop = ShopFactory()
    for _ in range(8):
        add(shop, 30, is_slow=True)
    assert len(claim(64, slow_limit=32)) == claims.MAX_SLOW_FOR_SHOP
    quick = add(shop, 30)
    assert by_endpoint(claim(48, slow_limit=16)) == {quick.id: claims.MAX_FOR_ENDPOINT}


def test_an_endpoint_that_answers_late_is_slow_until_it_is_quick_again(db: None) -> None:
    made = add(ShopFactory(), 3)
    for duration_s, is_slow in ((10.0, True), (10.0, True), (0.1, False)):
        (held,) = claim(1)
        delivering.record([Outcome(held, 200, "", duration_s)])
        assert WebhookEndpoint.objects.get(id=made.id).is_slow is is_slow


def test_an_endpoint_with_one_quick_answer_among_late_ones_is_not_slow(db: None) -> None:
    made = add(ShopFactory(), 2)
    late, quick = claim(2)
    delivering.record([Outcome(late, 200, "", 1.5), Outcome(quick, 200, "", 0.1)])
    assert WebhookEndpoint.objects.get(id=made.id).is_slow is False


def test_a_shop_has_at_most_so_many_attempts_at_once_over_all_its_endpoints(db: None) -> None:
    shop, other = ShopFactory(), ShopFactory()
    for _ in range(4):
        add(shop, claims.MAX_FOR_ENDPOINT)
    assert len(claim(100)) == claims.MAX_FOR_SHOP
    assert claim(100) == []
    add(other, 30)
    assert len(claim(100)) == claims.MAX_FOR_ENDPOINT


def test_endpoints_without_room_do_not_take_the_place_of_others(db: None) -> None:
    hanging = [add(ShopFactory(), 30) for _ in range(5)]
    claim(5 * claims.MAX_FOR_ENDPOINT)
    WebhookEndpoint.objects.filter(id__in=[each.id for each in hanging]).update(served_at=None)
    other = add(ShopFactory(), 1)
    assert by_endpoint(claim(1)) == {other.id: 1}


def test_a_lease_that_ran_out_is_taken_over_and_the_first_holder_changes_nothing_any_more(db: None) -> None:
    add(ShopFactory(), 1)
    (first,) = claim(1)
    assert claim(1) == []
    WebhookDelivery.objects.update(
        leased_until=timezone.now() - timedelta(seconds=1), due_at=timezone.now() - timedelta(seconds=1)
    )
    (second,) = claim(1)
    assert first.delivery.id == second.delivery.id
    delivering.record([Outcome(first, 200, "", 0.1)])
    assert WebhookDelivery.objects.get().state == "queued"
    delivering.record([Outcome(second, 200, "", 0.1)])
    assert WebhookDelivery.objects.get().state == "delivered"


def test_many_rows_of_one_subject_do_not_hide_the_others(db: None) -> None:
    shop = ShopFactory()
    add(shop, 0)
    for code in range(100):
        tell_label(shop.id, "busy", code=str(code))
    tell_label(shop.id, "other")
    claimed = [each.delivery.subject for _ in range(5) for each in claim(10)]
    assert claimed == ["busy", "other"]


def test_ten_endpoints_cost_as_many_queries_as_two(db: None) -> None:
    def queries(made: int) -> int:
        for _ in range(made):
            add(ShopFactory(), 2)
        with CaptureQueriesContext(connection) as captured:
            claimed = claim(2 * made)
            delivering.record([Outcome(each, 200, "", 0.1) for each in claimed])
        assert len(claimed) == 2 * made
        return len(captured)

    assert queries(10) == queries(2)


@pytest.mark.real_services
@pytest.mark.django_db(transaction=True)
def test_a_transaction_that_holds_the_shop_delays_no_delivery_of_it() -> None:
    made = add(ShopFactory(), 3)
    with Threads(1) as pool, transaction.atomic():
        Shop.objects.select_for_update(no_key=True).get(id=made.shop_id)
        assert by_endpoint(pool.submit(claim, 3).result(WAIT_TIMEOUT_S)) == {made.id: 3}


@pytest.mark.real_services
@pytest.mark.django_db(transaction=True)
def test_processes_that_claim_at_once_share_the_rows_and_keep_the_limits() -> None:
    made = [add(ShopFactory(), 30) for _ in range(4)]
    found = in_threads(8, lambda _: [each for _ in range(20) for each in claim(3)])
    claimed = [each for of_one in found for each in of_one]
    assert len({each.delivery.id for each in claimed}) == len(claimed)
    assert by_endpoint(claimed) == {each.id: claims.MAX_FOR_ENDPOINT for each in made}


@pytest.mark.real_services
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("act", ["replay", "revoke", "record"])
def test_many_rows_are_locked_by_their_ids_so_that_nobody_deadlocks(act: str) -> None:
    endpoint = add(ShopFactory(), 0)
    for subject in ("label-1", "label-1", "label-2"):
        tell_label(endpoint.shop_id, subject)
    first, second, last = WebhookDelivery.objects.order_by("id")
    WebhookDelivery.objects.filter(id=first.id).update(due_at=first.due_at)  # is stored behind the others now
    outcomes = [Outcome(each, 200, "", 0.1) for each in claim(3)] if act == "record" else []
    held = second if act == "record" else first
    acts: dict[str, Any] = {
        "replay": WebhookDelivery.objects.filter(endpoint=endpoint).replay,
        "revoke": partial(endpoints.revoke, endpoint),
        "record": partial(delivering.record, outcomes),
    }
    with Threads(1) as pool:
        with transaction.atomic():
            WebhookDelivery.objects.select_for_update().get(id=held.id)
            waiting: Future[Any] = pool.submit(acts[act])
            assert wait([waiting], timeout=1).not_done
            assert WebhookDelivery.objects.select_for_update(nowait=True).get(id=last.id)
        waiting.result(WAIT_TIMEOUT_S)

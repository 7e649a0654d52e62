"""Orders while PostgreSQL is away: they wait for it in the bulkhead, and none is bought twice by that."""

import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from unittest.mock import Mock

import pytest
from django.db import DEFAULT_DB_ALIAS, OperationalError, connection, connections

from labels.lifecycle import db_retry, outcomes, purchase
from labels.models import ShippingLabel
from shops.api.authentication import find, known_digests
from shops.api.errors.plain import ORDERS_HELD_UP
from shops.contracts.bulkhead import bulkhead
from shops.models import AccessToken
from tests.labels.conftest import Sandbox, assert_coded
from tests.labels.gates import during
from tests.labels.orders import order, post
from tests.support.api import Caller, Response
from tests.support.proxies import Cut, SeveringProxy, postgresql_target
from tests.support.waiting import until

pytestmark = pytest.mark.real_services
KEY = "k"


def assert_held_up(response: Response) -> None:
    assert (response.status_code, response.json()["message"]) == (503, ORDERS_HELD_UP.message), response.json()
    assert response["Retry-After"] == "5"
    assert "code" not in response.json()


@pytest.fixture
def proxy(buyer: Caller, monkeypatch: pytest.MonkeyPatch) -> Iterator[SeveringProxy]:
    """The way to the test's database, for a shop that the process knows; its token is looked up again."""
    assert post(buyer, order()).status_code == 201
    find.cache_clear()
    monkeypatch.setattr(db_retry, "PAUSE_S", 0.02)
    with SeveringProxy(postgresql_target(connection.settings_dict)) as made, monkeypatch.context() as patch:
        connection.close()
        patch.setitem(connection.settings_dict, "HOST", "127.0.0.1")
        patch.setitem(connection.settings_dict, "PORT", str(made.port))
        connections[DEFAULT_DB_ALIAS].__dict__.pop("hosts", None)
        yield made
        connection.close()
    connections[DEFAULT_DB_ALIAS].__dict__.pop("hosts", None)


@pytest.fixture
def after_pauses(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[], None]], None]:
    """Do something after an order has waited for some pauses."""

    def set_up(act: Callable[[], None], count: int = 3) -> None:
        sleep, pauses = time.sleep, iter(range(1_000_000))

        def pause(seconds: float) -> None:
            sleep(seconds)
            if next(pauses) == count:
                act()

        monkeypatch.setattr(time, "sleep", pause)

    return set_up


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wait for the database only for as long as it takes to try again."""
    monkeypatch.setattr(db_retry, "DB_RETRY_TIMEOUT_S", 0.1)


def refuse_at(step: str, proxy: SeveringProxy, monkeypatch: pytest.MonkeyPatch) -> None:
    if step == "token":
        proxy.refuse()
    else:
        during(monkeypatch, purchase, step, before=lambda *_, **__: proxy.refuse())


@pytest.mark.parametrize("step", ["token", "look_up", "reserve"])
def test_an_order_waits_for_the_database_at_each_step_and_is_bought_once(
    step: str,
    proxy: SeveringProxy,
    after_pauses: Callable[[Callable[[], None]], None],
    buyer: Caller,
    sandbox: Sandbox,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    refuse_at(step, proxy, monkeypatch)
    after_pauses(proxy.restore)
    response = post(buyer, order(), key=KEY)
    assert response.status_code == 201, response.json()
    assert "Idempotent-Replayed" not in response
    label = ShippingLabel.objects.get(idempotency_key=KEY)
    assert (label.id, len(sandbox.made())) == (response.json()["id"], 2)
    assert bulkhead.taken == 0


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize("step", ["token", "look_up", "reserve"])
def test_an_order_that_waits_in_vain_is_told_to_come_again(
    step: str, proxy: SeveringProxy, buyer: Caller, sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    refuse_at(step, proxy, monkeypatch)
    assert_held_up(post(buyer, order(), key=KEY))
    assert (sandbox.calls(), bulkhead.taken) == (1, 0)
    proxy.restore()
    monkeypatch.setattr(db_retry, "DB_RETRY_TIMEOUT_S", 30)
    assert post(buyer, order(), key=KEY).status_code == 201


def without_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time, "sleep", Mock(side_effect=AssertionError("an order waits for the database")))


@pytest.mark.usefixtures("one_at_a_time")
def test_beyond_what_the_bulkhead_holds_an_order_is_refused_at_once(
    proxy: SeveringProxy, buyer: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    without_pauses(monkeypatch)
    proxy.refuse()
    with bulkhead.enter("alpha"), bulkhead.enter("beta"):
        assert_held_up(post(buyer, order(), key=KEY))


@pytest.mark.usefixtures("one_at_a_time")
def test_an_order_that_has_waited_waits_for_its_carriers_place_too(
    proxy: SeveringProxy, after_pauses: Callable[[Callable[[], None]], None], buyer: Caller, sandbox: Sandbox
) -> None:
    def leave_late() -> None:
        until(lambda: bulkhead.waiting == 1)
        place.close()

    with ThreadPoolExecutor(1) as pool, ExitStack() as place:
        place.enter_context(bulkhead.enter("alpha"))
        proxy.refuse()
        after_pauses(proxy.restore)
        pool.submit(leave_late)
        assert post(buyer, order(), key=KEY).status_code == 201
    assert len(sandbox.made()) == 2


@pytest.mark.usefixtures("one_at_a_time")
def test_an_order_that_has_waited_for_its_carriers_place_in_vain_is_told_to_come_again(
    proxy: SeveringProxy,
    after_pauses: Callable[..., None],
    buyer: Caller,
    sandbox: Sandbox,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setattr(db_retry, "DB_RETRY_TIMEOUT_S", 2.0)  # longer than a new connection takes
    proxy.refuse()
    after_pauses(proxy.restore, count=0)
    with bulkhead.enter("alpha"):
        assert_held_up(post(buyer, order(), key=KEY))
    assert [vars(each)["reason"] for each in caplog.records if each.message == "order held up"] == ["BulkheadFullError"]
    assert sandbox.calls() == 1


def test_a_key_waits_once(proxy: SeveringProxy, buyer: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    answers: list[Response] = []

    def repeat(seconds: float) -> None:
        if not answers:
            answers.append(post(buyer, order(), key=KEY))
            proxy.restore()

    monkeypatch.setattr(time, "sleep", repeat)
    proxy.refuse()
    assert post(buyer, order(), key=KEY).status_code == 201
    assert_coded(answers[0], 409, "IDEMPOTENCY_KEY_IN_PROGRESS")


def test_a_stranger_does_not_wait(proxy: SeveringProxy, buyer: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    without_pauses(monkeypatch)
    known_digests.clear()
    proxy.refuse()
    assert_held_up(post(buyer, order(), key=KEY))


def test_a_token_that_was_revoked_meanwhile_buys_nothing(
    proxy: SeveringProxy, after_pauses: Callable[[Callable[[], None]], None], buyer: Caller, sandbox: Sandbox
) -> None:
    AccessToken.objects.filter(shop=buyer.shop).revoke()
    connection.close()
    proxy.refuse()
    after_pauses(proxy.restore)
    assert post(buyer, order(), key=KEY).status_code == 401
    assert sandbox.calls() == 1


@pytest.mark.parametrize("key", [KEY, None])
@pytest.mark.parametrize("cut", [Cut.BEFORE, Cut.AFTER, Cut.LATE])
def test_a_reservation_whose_commit_got_no_answer_is_bought_once(
    cut: Cut, key: str | None, proxy: SeveringProxy, buyer: Caller, sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    def choose(_: object) -> Cut:
        proxy.is_armed = False
        return cut

    monkeypatch.setattr(proxy.random, "choice", choose)
    proxy.is_armed = True
    response = post(buyer, order(), key=key)
    assert (response.status_code, proxy.cuts) == (201, 1)
    assert (len(sandbox.made()), ShippingLabel.objects.count()) == (2, 2)
    assert ShippingLabel.objects.generated().count() == 2


def test_what_a_carrier_got_is_never_called_not_begun(
    proxy: SeveringProxy, buyer: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(outcomes, "save_received", Mock(side_effect=OperationalError("gone")))
    assert_coded(post(buyer, order(), key=KEY), 502, "ALPHA_OUTCOME_UNKNOWN")

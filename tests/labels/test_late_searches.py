"""A search that is late, and a failure that made something, free no key for good and lose no parcel."""

import pytest

from labels.lifecycle.reconciling import reconcile
from labels.models import LabelState, ShippingLabel
from labels.orders import shipment
from shops.contracts import clients
from shops.contracts.models import CarrierContract
from tests.labels.conftest import Sandbox, assert_coded, row
from tests.labels.interruptions import BETA, KEY, SEARCH, WAIT_S, buy_control, pass_time
from tests.labels.orders import order, post
from tests.support.api import Caller

DAY_S = 24 * 3600
FAILURES = ["1", "29", "36", "37"]


def make_late(label: ShippingLabel, sandbox: Sandbox) -> None:
    """Let alpha make the parcel of a purchase after all."""
    contract = CarrierContract.objects.get(carrier_code="alpha")
    clients.client("alpha", is_test=False).create_label(shipment(label, contract), contract.credentials)


@pytest.mark.parametrize("code", FAILURES)
def test_a_documented_failure_frees_the_key_and_is_looked_up_after_an_hour_and_a_day(
    code: str, buyer: Caller, sandbox: Sandbox
) -> None:
    sandbox.arm(code, count=1)
    assert_coded(post(buyer, order(), key=KEY), 502, "ALPHA_UNAVAILABLE")
    assert (row().state, row().idempotency_key, reconcile()) == (LabelState.FAILED, None, {})
    pass_time(WAIT_S - 60)
    buy_control(buyer)
    for wait_s, is_asked in ((0, False), (200, True), (WAIT_S, False), (DAY_S, True), (DAY_S, False)):
        pass_time(wait_s)
        assert reconcile() == ({LabelState.FAILED: 1} if is_asked else {})
    assert (row().state, row().ask_again_at) == (LabelState.FAILED, None)


def test_a_failure_is_looked_up_each_day_of_a_week_where_nothing_was_bought_since(
    buyer: Caller, sandbox: Sandbox
) -> None:
    sandbox.arm("1", count=1)
    post(buyer, order(), key=KEY)
    for day in range(10):
        pass_time(DAY_S + 60)
        reconcile()
        assert sandbox.questions() == min(day + 1, 7)
    assert (row().state, row().ask_again_at) == (LabelState.FAILED, None)


def test_a_blind_search_of_a_day_later_is_not_believed(buyer: Caller, sandbox: Sandbox) -> None:
    sandbox.arm("1", count=1)
    post(buyer, order(), key=KEY)
    make_late(row(), sandbox)
    pass_time(DAY_S + 60)  # nothing reconciles meanwhile
    buy_control(buyer)
    sandbox.arm("unfound", operation=SEARCH, delay_s=10 * DAY_S)
    reconcile()
    sandbox.disarm()
    pass_time(DAY_S + 60)
    reconcile()
    assert all(map(sandbox.is_cancelled, sandbox.made(row().id)))


def test_what_is_found_of_a_failure_is_cancelled_and_told(
    buyer: Caller, sandbox: Sandbox, caplog: pytest.LogCaptureFixture
) -> None:
    sandbox.arm("1", count=1)
    post(buyer, order(), key=KEY)
    make_late(row(), sandbox)
    (parcel,) = sandbox.made()
    pass_time(WAIT_S + 200)
    assert reconcile() == {LabelState.FAILED: 1}
    assert sandbox.is_cancelled(parcel)
    (told,) = [record for record in caplog.records if record.message == "parcels found of a failed purchase"]
    assert (told.levelname, vars(told)["numbers"]) == ("ERROR", parcel.tracking_number)
    pass_time(2 * DAY_S)
    assert (reconcile(), reconcile()) == ({LabelState.FAILED: 1}, {})


def test_more_parcels_than_a_search_shows_are_cancelled_by_several(buyer: Caller, sandbox: Sandbox) -> None:
    sandbox.arm("1", count=1)
    post(buyer, order(parcels=[{"weight": 1}] * 25), key=KEY)
    make_late(row(), sandbox)
    pass_time(WAIT_S + 200)
    for _ in range(3):
        assert reconcile() == {LabelState.FAILED: 1}
        pass_time(400)
    assert len(row().cancelled_numbers) == 25
    assert all(map(sandbox.is_cancelled, sandbox.made()))


@pytest.mark.parametrize(("fault", "product_code"), [("38", "alpha-13"), ("40015", BETA)])
def test_a_refusal_and_a_carrier_that_cannot_be_asked_end_it(
    fault: str, product_code: str, buyer: Caller, sandbox: Sandbox
) -> None:
    sandbox.arm(fault, count=1)
    post(buyer, order(product_code), key=KEY)
    assert (row().state, row().ask_again_at) == (LabelState.FAILED, None)

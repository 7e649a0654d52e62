"""A label that an import or an erasure holds for minutes holds up the reconciliation of no other one; PostgreSQL."""

from contextlib import ExitStack

import pytest
from django.db import connection

from config.postgresql.base import DatabaseWrapper
from labels.lifecycle import db_retry
from labels.lifecycle.reconciling import reconcile
from labels.models import LabelState, ShippingLabel
from shops.contracts import clients
from tests.labels.conftest import Sandbox
from tests.labels.factories import PDF, ContractFactory, LabelFactory
from tests.labels.gates import during
from tests.labels.interruptions import CANCEL, KEY, pass_time
from tests.labels.orders import order, post, weighing
from tests.labels.test_shop_cancels import cancel
from tests.support.api import Caller
from tests.support.factories import import_parcel, ms_ago
from tests.support.sql import held

pytestmark = pytest.mark.real_services
PARCELS = "SELECT FROM parcels_parcel WHERE shop_id = 'own' FOR UPDATE"
LABELS = "SELECT FROM labels_shippinglabel WHERE shop_id = 'own' FOR UPDATE"
IMPORTS = "SELECT pg_advisory_xact_lock(hashtextextended('imports of own', 0))"


def states() -> dict[str, str]:
    return dict(ShippingLabel.objects.values_list("shop", "state"))


@pytest.fixture
def cancelling(buyer: Caller, other: Caller, sandbox: Sandbox) -> None:
    """A label of each of two shops, in a cancellation that is to be tried again by now."""
    ContractFactory(shop=other.shop, carrier_code="alpha")
    sandbox.arm("unfound", operation=CANCEL, delay_s=7200)
    for caller in (buyer, other):
        cancel(caller, post(caller, order(), key=KEY).json()["id"])
    assert set(states().values()) == {LabelState.CANCELLING}
    sandbox.disarm()
    pass_time(600)


@pytest.mark.parametrize("lock", [PARCELS, LABELS], ids=["import", "erasure"])
def test_a_cancellation_that_is_held_is_left_for_later_and_another_shops_goes_on(
    lock: str, cancelling: None, sandbox: Sandbox
) -> None:
    before = sandbox.questions()
    with held(lock):
        assert reconcile() == {LabelState.CANCELLED: 1}
    assert states() == {"own": LabelState.CANCELLING, "other": LabelState.CANCELLED}
    assert sandbox.questions() - before == 1
    assert reconcile() == {LabelState.CANCELLED: 1}  # as soon as it is free
    assert set(states().values()) == {LabelState.CANCELLED}


def test_a_label_to_be_stored_is_left_for_later_while_an_import_holds_its_number(
    buyer: Caller, other: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    import_parcel(buyer.shop, trackingId="N1", createdAt=ms_ago(0))
    for caller in (buyer, other):
        LabelFactory(shop=caller.shop, state=LabelState.RECEIVED, pdf=PDF, tracking_numbers=["N1"])
    with held(PARCELS):
        assert reconcile() == {LabelState.GENERATED: 1}
    assert states() == {"own": LabelState.RECEIVED, "other": LabelState.GENERATED}
    assert reconcile() == {LabelState.GENERATED: 1}


def test_one_whose_parcel_an_import_takes_while_the_carrier_is_asked_is_given_up_and_tried_again(
    cancelling: None, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(db_retry, "DB_RETRY_TIMEOUT_S", 0)
    monkeypatch.setattr(DatabaseWrapper, "lock_timeout_s", 1)  # as in `work`
    client = clients.client("alpha", is_test=False)
    with ExitStack() as stack:

        def begin_import(_: None) -> None:
            stack.enter_context(held(PARCELS))
            connection.close()  # the next one has the limit of `work` alone

        during(monkeypatch, client, "cancel", after=begin_import)
        assert reconcile() == {LabelState.CANCELLING: 1, LabelState.CANCELLED: 1}
    (given_up,) = [record for record in caplog.records if record.getMessage() == "label held by another process"]
    assert (given_up.levelname, given_up.exc_info) == ("WARNING", None)
    pass_time()
    assert reconcile() == {LabelState.CANCELLED: 1}


def test_a_label_on_several_parcels_is_left_for_later_while_an_import_may_come_to_them(
    buyer: Caller, sandbox: Sandbox
) -> None:
    sandbox.arm("unfound", operation=CANCEL, delay_s=7200)
    label_id = post(buyer, order(parcels=weighing(1, 1))).json()["id"]
    for number in ShippingLabel.objects.get().tracking_numbers:
        import_parcel(buyer.shop, id=f"P{number}", trackingId=number, createdAt=ms_ago(0))
    cancel(buyer, label_id)
    sandbox.disarm()
    pass_time(600)
    with held(IMPORTS):
        assert reconcile() == {}
    assert reconcile() == {LabelState.CANCELLED: 1}

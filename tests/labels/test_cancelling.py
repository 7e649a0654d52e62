"""A bought label is cancelled: at alpha parcel by parcel, tried again for an hour; beta is not asked."""

import pytest
from pytest_django.fixtures import Settings

from labels.lifecycle import cancelling
from labels.lifecycle.reconciling import reconcile
from labels.models import LabelState, ShippingLabel
from labels.pdfs import storage
from parcels.models import TrackingNumber
from shops.contracts.models import CarrierContract
from tests.labels.conftest import Sandbox, assert_coded, row
from tests.labels.factories import LabelFactory
from tests.labels.interruptions import CANCEL, KEY, bought, pass_time
from tests.labels.orders import PRODUCT, order, post, weighing
from tests.models.interruptions import Killed, die
from tests.shops.commands import call, refused, run_here
from tests.support.api import Caller, assert_error
from tests.support.cases import in_one_test
from tests.support.paths import SHIPMENTS

NOT_BOUGHT = [LabelState.PURCHASING, LabelState.FAILED, LabelState.INCOMPLETE, LabelState.UNKNOWN]


def cancel(label_id: str) -> str:
    """Run the command; return what it says on standard error. It prints nothing on standard output."""
    out, err = call("cancel_label", label_id)
    assert out == ""
    return err


@pytest.mark.parametrize("carrier_code", PRODUCT)
def test_a_cancelled_label_is_a_404_and_its_key_buys_nothing(carrier_code: str, buyer: Caller) -> None:
    label = bought(buyer, carrier_code)
    assert cancel(label.id) == f"Label {label.id} is cancelled.\n"
    assert_error(buyer.get(f"{SHIPMENTS}/{label.id}"), 404, "There is no label with this id.")
    cancelled = row()
    assert (cancelled.state, cancelled.idempotency_key) == (LabelState.CANCELLED, KEY)
    said = assert_coded(post(buyer, order(PRODUCT[carrier_code], parcels=weighing(1)), key=KEY), 409, "LABEL_CANCELLED")
    assert said == f"The label {label.id} of this Idempotency-Key was cancelled. Order another with a new key."
    assert_coded(post(buyer, order(), key=KEY), 422, "IDEMPOTENCY_KEY_REUSED")
    assert post(buyer, order(PRODUCT[carrier_code]), key="another").status_code == 201
    assert storage.is_stored(cancelled.pdf_key)


def test_beta_is_not_asked(buyer: Caller, sandbox: Sandbox) -> None:
    label = bought(buyer, "beta")
    CarrierContract.objects.all().delete()
    requests = sandbox.server.state.counts()
    cancel(label.id)
    assert sandbox.server.state.counts() == requests
    assert (row().state, row().cancelled_numbers) == (LabelState.CANCELLED, [])


def test_a_parcel_that_alpha_does_not_know_yet_is_tried_again_for_an_hour(buyer: Caller, sandbox: Sandbox) -> None:
    label = bought(buyer)
    sandbox.arm("unfound", operation=CANCEL, delay_s=7200)
    assert cancel(label.id) == f"Label {label.id}: alpha could not cancel it yet; it is tried again.\n"
    assert row().state == LabelState.CANCELLING
    assert buyer.get(f"{SHIPMENTS}/{label.id}").status_code == 404
    answer = post(buyer, order(parcels=weighing(1)), key=KEY)
    assert "may stay bought" in assert_coded(answer, 409, "LABEL_BEING_CANCELLED")
    assert answer["Retry-After"] == "60"
    pass_time(600)
    assert reconcile() == {LabelState.CANCELLING: 1}
    assert (reconcile(), list(ShippingLabel.objects.needing_decision())) == ({}, [])
    sandbox.disarm()
    pass_time(600)
    assert reconcile() == {LabelState.CANCELLED: 1}
    assert sandbox.is_cancelled(sandbox.made()[0])
    assert reconcile() == {}


@pytest.mark.parametrize(("state", "then"), [("cancelling", "label_generated"), ("cancel_unknown", "cancel_unknown")])
def test_without_a_contract_a_label_stays_bought_unless_it_may_be_cancelled(
    state: str, then: str, buyer: Caller, sandbox: Sandbox
) -> None:
    label = bought(buyer)
    sandbox.arm("unfound", operation=CANCEL, delay_s=7200)
    cancel(label.id)
    ShippingLabel.objects.update(state=state)
    CarrierContract.objects.all().delete()
    pass_time(600)
    assert reconcile() == {then: 1}
    assert row().state == then
    is_bought = then == "label_generated"
    assert buyer.get(f"{SHIPMENTS}/{label.id}").status_code == (200 if is_bought else 404)
    assert (row().cancel_requested_at is None) == is_bought


def test_a_cancellation_outlasts_credentials_that_cannot_be_read_for_a_time(
    buyer: Caller, sandbox: Sandbox, settings: Settings
) -> None:
    """The shop was told that it is being cancelled."""
    label = bought(buyer)
    sandbox.arm("2", operation=CANCEL, count=1)
    cancel(label.id)
    keys, settings.CREDENTIALS_KEYS = settings.CREDENTIALS_KEYS, ["A" * 43 + "="]
    pass_time(600)
    assert reconcile() == {LabelState.CANCELLING: 1}
    settings.CREDENTIALS_KEYS = keys
    pass_time(600)
    assert reconcile() == {LabelState.CANCELLED: 1}


def test_after_an_hour_a_cancellation_is_a_persons(buyer: Caller, sandbox: Sandbox) -> None:
    label = bought(buyer)
    sandbox.arm("unfound", operation=CANCEL, delay_s=7200)
    cancel(label.id)
    pass_time(3601)
    asked = sandbox.questions()
    assert reconcile() == {LabelState.CANCELLING: 1}
    assert sandbox.questions() == asked
    assert list(ShippingLabel.objects.needing_decision()) == [row()]


def test_a_cancellation_at_beta_is_never_a_persons(buyer: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    label = bought(buyer, "beta")
    with monkeypatch.context() as patch:
        patch.setattr(cancelling, "perform", lambda *_, **__: die())
        with pytest.raises(Killed):
            cancel(label.id)
    assert row().state == LabelState.CANCELLING
    pass_time(3601)
    assert reconcile() == {LabelState.CANCELLED: 1}
    assert not ShippingLabel.objects.needing_decision().exists()


@pytest.mark.parametrize("refused_before", [0, 1])
def test_of_several_parcels_one_taken_in_charge_keeps_all(refused_before: int, buyer: Caller, sandbox: Sandbox) -> None:
    label = bought(buyer, parcels=3)
    sandbox.server.state.ledger.collected.add(("alpha", label.tracking_numbers[refused_before]))
    if refused_before:
        sandbox.arm("2", operation=CANCEL, count=1)  # not known yet
    said = refused("cancel_label", label.id)
    assert said.startswith(f"LABEL_ID: {label.id} is not cancelled: ")
    assert "taken in charge" in said
    assert (row().state, row().cancel_requested_at) == (LabelState.GENERATED, None)
    assert buyer.get(f"{SHIPMENTS}/{label.id}").status_code == 200
    assert not any(map(sandbox.is_cancelled, sandbox.made()))


def test_of_several_parcels_those_cancelled_are_remembered(buyer: Caller, sandbox: Sandbox) -> None:
    label = bought(buyer, parcels=3)
    sandbox.server.state.ledger.collected.add(("alpha", label.tracking_numbers[1]))
    cancel(label.id)
    left = row()
    assert (left.state, left.cancelled_numbers) == (
        LabelState.CANCELLING,
        [label.tracking_numbers[0], label.tracking_numbers[2]],
    )
    states = dict(TrackingNumber.objects.values_list("number", "state"))
    assert [states[number] for number in label.tracking_numbers] == ["cancelled", "bought", "cancelled"]
    asked = sandbox.questions()
    pass_time(600)
    assert reconcile() == {LabelState.CANCELLING: 1}
    assert sandbox.questions() == asked + 1
    CarrierContract.objects.all().delete()  # a label with a parcel that is cancelled is not bought again
    pass_time(600)
    assert reconcile() == {LabelState.CANCELLING: 1}


@pytest.mark.parametrize(
    ("answer", "count", "state", "outcome"),
    [
        ("closemade", 1, LabelState.CANCEL_UNKNOWN, LabelState.CANCEL_UNKNOWN),
        ("2", 2, LabelState.CANCELLING, LabelState.GENERATED),  # none is cancelled: it stays bought as a whole
    ],
)
def test_a_parcel_that_is_handed_in_does_not_speak_for_one_that_may_be_cancelled(
    answer: str,
    count: int,
    state: LabelState,
    outcome: LabelState,
    buyer: Caller,
    sandbox: Sandbox,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    label = bought(buyer, parcels=2)
    second = label.tracking_numbers[1]
    sandbox.arm(answer, operation=CANCEL, count=count)
    cancel(label.id)
    assert row().state == state
    sandbox.server.state.ledger.collected.add(("alpha", second))
    monkeypatch.setattr("labels.lifecycle.parcels.handed_in", lambda _: {second})
    pass_time(600)
    assert reconcile() == {outcome: 1}
    assert not any(map(sandbox.is_cancelled, sandbox.made())) or outcome == LabelState.CANCEL_UNKNOWN


@pytest.mark.parametrize(
    ("state", "said"),
    [
        ("cancelled", "was cancelled before"),
        ("cancelling", "is being cancelled"),
        ("cancel_unknown", "is being cancelled"),
        ("received", "is bought, and its PDF waits for the storage: cancel it when it is stored"),
        *((state, "is not bought") for state in NOT_BOUGHT),
    ],
)
def test_a_label_that_is_bought_is_cancelled_once_and_when_it_is_stored(state: str, said: str, own: Caller) -> None:
    label = LabelFactory(shop=own.shop, state=state)
    assert refused("cancel_label", label.id) == f"LABEL_ID: {label.id} {said}"
    assert row().state == state


@in_one_test("label_id", ["", "absent", "0RCRUGWGBZDJINQ", "a\0b", "x" * 1000])
def test_an_unknown_id_is_one_line(label_id: str, db: None) -> None:
    assert refused("cancel_label", label_id) == "LABEL_ID: there is no such label"


@pytest.mark.any_database
def test_the_command_tells_a_shell(transactional_db: None, own: Caller) -> None:
    label = LabelFactory(shop=own.shop, carrier_code="beta")
    assert run_here("cancel_label", label.id) == (0, "", f"Label {label.id} is cancelled.\n")
    code, out, err = run_here("cancel_label", label.id)
    assert (code, out, err) == (1, "", f"CommandError: LABEL_ID: {label.id} was cancelled before\n")

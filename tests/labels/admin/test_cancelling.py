"""Staff cancel a bought label, decide about one that could not be cancelled, and deal with notices."""

from datetime import timedelta
from html import unescape

import pytest
from django.test import Client
from django.utils import timezone

from carriers.sandbox.alpha.tables import TRACKING_MESSAGES
from labels.lifecycle.notices import CUSTOMS_FORM_MISSING, of_surplus
from labels.models import LabelState, ShippingLabel, lease
from parcels.models import TrackingNumber
from shops.models import Shop
from tests.labels.admin.pages import LABELS, TO_DECIDE, decide, page_of
from tests.labels.conftest import Sandbox, row
from tests.labels.factories import LabelFactory
from tests.labels.interruptions import CANCEL
from tests.labels.orders import order, post, weighing
from tests.support.api import Caller, logged_in
from tests.support.audit import changes, note
from tests.support.desk import FRENCH, act, seen
from tests.support.paths import PARCELS, SHIPMENTS

PERMISSIONS = ("change_shippinglabel", "view_personal_data")
WAITED = timedelta(minutes=61)


def waiting(shop: Shop, **fields: object) -> ShippingLabel:
    """A label whose carrier could not cancel it within an hour."""
    numbers = {"tracking_numbers": ["XU1", "XU2"], "cancel_requested_at": timezone.now() - WAITED}
    return LabelFactory(shop=shop, state="cancelling", carrier_code="alpha", **numbers | fields)


def test_a_label_is_cancelled_after_a_question(sandbox: Sandbox, staff: Client, buyer: Caller) -> None:
    post(buyer, order())
    label = row()
    assert f"{LABELS}{label.id}/cancel/" in page_of(staff, label)
    assert f"alpha is asked to cancel {label.tracking_number}" in page_of(staff, label, "cancel")
    assert row().state == LabelState.GENERATED
    assert "Cancelled. The shop cannot retrieve the label any more." in decide(staff, label, "cancel").text
    assert sandbox.is_cancelled(sandbox.made()[0])
    assert buyer.get(f"{SHIPMENTS}/{label.id}").status_code == 404
    entries = [(entry.object_id, entry.actor, entry.details["note"]) for entry in changes()]
    assert entries == [(label.id, "ada", "Cancelled."), (label.id, "ada", "Asked to cancel.")]
    page = page_of(staff, label)
    assert f"{LABELS}{label.id}/cancel/" not in page
    assert f"{LABELS}{label.id}/pdf/" in page
    assert staff.get(f"{LABELS}{label.id}/pdf/").status_code == 302
    assert "was cancelled before" in decide(staff, label, "cancel").text


def test_a_page_does_not_say_that_a_carrier_is_asked_where_nothing_can_be_done(staff: Client, own: Caller) -> None:
    label = LabelFactory(shop=own.shop, state="failed", carrier_code="alpha")
    for view, refusal in (("cancel", "cancelled."), ("adopt", "nothing left"), ("not-made", "nothing left")):
        page = page_of(staff, label, view)
        assert refusal in page
        for said in ("is asked to cancel", "Adopt parcels that", "Confirm that alpha"):
            assert said not in page, view


def test_what_the_carrier_cannot_cancel_yet_is_said(sandbox: Sandbox, staff: Client, buyer: Caller) -> None:
    post(buyer, order())
    label = row()
    sandbox.arm("unfound", operation=CANCEL, delay_s=7200)
    assert "alpha could not cancel it yet." in decide(staff, label, "cancel").text
    notes = [entry.details["note"] for entry in changes()]
    assert notes == ["Asked to cancel; the carrier could not yet.", "Asked to cancel."]
    assert "reconcile_labels asks alpha again" in page_of(staff, label)


def test_what_the_carrier_refuses_to_cancel_stays(sandbox: Sandbox, staff: Client, buyer: Caller) -> None:
    post(buyer, order())
    label = row()
    sandbox.server.state.ledger.collected.add(("alpha", label.tracking_number))
    assert "Nothing was changed:" in decide(staff, label, "cancel").text
    assert (row().state, note()) == (LabelState.GENERATED, "Asked to cancel.")


def test_a_carriers_words_are_for_those_who_see_customers(sandbox: Sandbox, staff: Client, buyer: Caller) -> None:
    """design.md, Staff: a carrier's texts are personal data for masking."""
    post(buyer, order())
    label = row()
    sandbox.server.state.ledger.collected.add(("alpha", label.tracking_number))
    assert TRACKING_MESSAGES[3] in unescape(decide(staff, label, "cancel").text)
    decider = logged_in("view_shippinglabel", "change_shippinglabel", name="bob")
    for page in (
        decide(decider, label, "cancel").text,
        act(decider, "cancel_selected", label, is_confirmed="yes").text,
    ):
        assert "the carrier has taken the parcel in charge; ask the carrier to stop it: •••" in page
        assert TRACKING_MESSAGES[3] not in unescape(page)


def test_a_cancellation_that_did_not_succeed_is_listed_with_its_numbers(staff: Client, shop: Shop) -> None:
    label = waiting(shop, order_id="late", cancelled_numbers=["XU1"])
    waiting(shop, order_id="young", cancel_requested_at=timezone.now())
    waits = staff.get(TO_DECIDE).context
    assert [each.label.order_id for each in waits["waiting"]] == ["late"]
    assert [each.label.order_id for each in waits["others"]] == ["young"]
    page = page_of(staff, label)
    assert "could not cancel it within an hour" in page
    assert "<code>XU1</code> (cancelled), <code>XU2</code>." in page


@pytest.mark.parametrize(
    ("outcome", "state", "said"),
    [("cancelled", "cancelled", "Marked as cancelled."), ("kept", "label_generated", "Kept.")],
)
def test_a_person_decides_it(outcome: str, state: str, said: str, staff: Client, shop: Shop) -> None:
    label = waiting(shop)
    assert said in decide(staff, label, "cancelled", outcome=outcome).text
    assert (label.state, label.decided_by) == (state, "ada")
    assert changes()[0].object_id == label.id
    assert "Nothing was changed" in decide(staff, label, "cancelled", outcome=outcome).text


@pytest.mark.parametrize("is_answered", [True, False])
def test_a_label_of_which_a_parcel_is_cancelled_is_kept_for_the_others(
    is_answered: bool, sandbox: Sandbox, staff: Client, buyer: Caller
) -> None:
    """As a person can adopt a part: the parcel that goes its way stays bought, and found by its number."""
    post(buyer, body := order(parcels=weighing(1, 2.5), orderId="a/b?c#d é"), key="k")
    cancelled, left = row().tracking_numbers
    sandbox.server.state.ledger.collected.add(("alpha", left))
    if not is_answered:
        sandbox.arm("closemade", operation=CANCEL, count=1)
    assert buyer.request("POST", f"{SHIPMENTS}/{row().id}/cancel").json()["status"] == "cancelling"
    ShippingLabel.objects.update(cancel_requested_at=timezone.now() - WAITED)
    known = [cancelled] if is_answered else []
    assert (row().cancelled_numbers, row().state) == (known, "cancelling" if is_answered else "cancel_unknown")
    page = page_of(staff, row())
    assert ("Keep the other parcels" in page, 'name="parcel"' in page) == (is_answered, not is_answered)
    ticked = {} if is_answered else {"parcel": cancelled}
    assert "Kept." in decide(staff, row(), "cancelled", outcome="kept", **ticked).text
    assert changes()[0].details["note"] == f"Kept in part: {left}."
    label = buyer.get(f"{SHIPMENTS}/{row().id}").json()
    assert (label["trackingNumber"], label["weight"]) == (left, 2.5)
    (listed,) = buyer.get(SHIPMENTS).json()["data"]
    assert [parcel["trackingNumber"] for parcel in listed["parcels"]] == [left]
    assert listed["warnings"] == ["Cancelled: parcel 1 (1 kg). The label is for the other parcels."]
    assert "Annulés\u00a0: colis 1 (1 kg). " in staff.get(f"{LABELS}{row().id}/change/", headers=FRENCH).text
    parcel = buyer.get(f"{PARCELS}{left}").json()
    assert (parcel["id"], parcel["trackingId"], parcel["trackingNumbers"]) == (row().id, left, [left])
    assert buyer.get(f"{PARCELS}{cancelled}").status_code == 404
    assert dict(TrackingNumber.objects.values_list("number", "state")) == {left: "bought"}
    assert post(buyer, body, key="k").json()["trackingNumber"] == left
    assert row().cancelled_numbers == [cancelled]
    assert buyer.request("POST", f"{SHIPMENTS}/{row().id}/cancel").status_code == 409
    assert row().state == LabelState.GENERATED


def test_a_label_of_which_all_parcels_are_cancelled_is_not_kept(staff: Client, shop: Shop) -> None:
    label = waiting(shop, cancelled_numbers=["XU1", "XU2"])
    assert 'value="kept"' not in page_of(staff, label)
    assert "no parcel is left to keep" in decide(staff, label, "cancelled", outcome="kept").text
    assert label.state == LabelState.CANCELLING


def test_nobody_decides_while_a_process_cancels(staff: Client, shop: Shop) -> None:
    label = waiting(shop, leased_until=lease())
    assert "A process is working on it" in page_of(staff, label)
    assert "Nothing was changed" in decide(staff, label, "cancelled", outcome="cancelled").text
    assert label.state == LabelState.CANCELLING


def test_a_notice_is_listed_and_shown_until_it_is_dealt_with(staff: Client, shop: Shop) -> None:
    label = LabelFactory(shop=shop, order_id="noted", staff_notice="The customs form did not come.")
    LabelFactory(shop=shop)
    assert [each.order_id for each in staff.get(TO_DECIDE).context["noticed"]] == ["noted"]
    LabelFactory(shop=shop, order_id="other", staff_notice="The customs form did not come.")
    assert "The customs form did not come." in staff.get(LABELS).text
    page = page_of(staff, label)
    assert "Needs attention" in page
    assert "The customs form did not come." in page
    decide(staff, label, "notice")
    assert [each.order_id for each in staff.get(TO_DECIDE).context["noticed"]] == ["other"]
    assert "Needs attention" not in page_of(staff, label)
    assert note() == "Dealt with: The customs form did not come."


def test_a_notice_that_was_not_read_is_not_dealt_with(staff: Client, shop: Shop) -> None:
    label = LabelFactory(shop=shop, staff_notice=CUSTOMS_FORM_MISSING)
    read = seen(page_of(staff, label))
    assert read == seen(staff.get(TO_DECIDE).text) != []
    ShippingLabel.objects.update(staff_notice=of_surplus(["XU3"]))
    assert "the label has changed since the page was read" in decide(staff, label, "notice", seen=read).text
    assert of_surplus(["XU3"]) in page_of(staff, label)
    decide(staff, label, "notice", seen=seen(page_of(staff, label)))
    assert note() == f"Dealt with: {of_surplus(['XU3'])}"


@pytest.mark.parametrize("outcome", ["cancelled", "kept"])
def test_a_cancelled_labels_missing_form_needs_nobody(outcome: str, staff: Client, shop: Shop) -> None:
    label = waiting(shop, staff_notice=CUSTOMS_FORM_MISSING)
    decide(staff, label, "cancelled", outcome=outcome)
    is_kept = outcome == "kept"
    assert bool(staff.get(TO_DECIDE).context["noticed"]) == is_kept
    assert ("Needs attention" in page_of(staff, label)) == is_kept


def test_a_cancelled_labels_notice_of_parcels_that_are_paid_for_stays(staff: Client, shop: Shop) -> None:
    notice = of_surplus(["XU3"])
    label = waiting(shop, surplus_numbers=["XU3"], staff_notice=notice)
    decide(staff, label, "cancelled", outcome="cancelled")
    assert notice in page_of(staff, label)

"""Staff mark a purchase as not made; of several who decide, one is first."""

import re
from contextlib import suppress
from datetime import timedelta
from functools import partial

import pytest
from django.test import Client
from django.utils import timezone
from pytest_django.fixtures import Settings

from carriers.shipment import PurchasedLabel
from labels.admin import actions
from labels.lifecycle import decisions, outdated
from labels.lifecycle.leases import claim
from labels.lifecycle.reconciling import leave, reconcile
from labels.models import LabelState, ShippingLabel, lease
from labels.pdfs import recovery
from shops.contracts import clients
from shops.models import Shop
from shops.staff.audit.models import Channel
from shops.staff.audit.recording import Actor, acting
from tests.labels.admin.pages import LABELS, bought_unknown, buy, decide, numbers_of, page_of, pdf_file, upload
from tests.labels.backups import check
from tests.labels.conftest import Sandbox
from tests.labels.factories import PDF, ContractFactory, LabelFactory
from tests.labels.gates import during
from tests.labels.interruptions import CANCEL, pass_time
from tests.labels.orders import PRODUCT, order, post
from tests.support.api import Caller, logged_in
from tests.support.audit import changes, note
from tests.support.desk import act, seen
from tests.support.paths import SHIPMENTS
from tests.support.threads import in_threads

PERMISSIONS = ("change_shippinglabel", "view_personal_data")


def test_marked_as_not_made_the_same_key_buys_again(staff: Client, buyer: Caller) -> None:
    label = bought_unknown(buyer, "beta", "FAULT HTML502")
    assert buy(buyer, "beta", reference="FAULT HTML502").json()["code"] == "BETA_OUTCOME_UNKNOWN"
    assert "Marked as not made" in decide(staff, label, "not-made").text
    assert (label.state, label.idempotency_key, label.decided_by) == ("failed", None, "ada")
    assert label.decided_at
    assert (label.error_code, label.finished_at) == ("BETA_UNAVAILABLE", label.finished_at)
    assert "same Idempotency-Key" not in label.error_message
    assert note() == "Marked as not made; it was unknown."
    again = buy(buyer, "beta")
    assert again.status_code == 201
    assert again.json()["id"] != label.id
    assert buyer.get(f"{SHIPMENTS}/{label.id}").status_code == 404


def test_what_a_person_marks_as_not_made_and_alpha_has_is_cancelled(
    sandbox: Sandbox, staff: Client, buyer: Caller
) -> None:
    """No answer came, so no number is known, and the carrier's portal did not show the parcel yet."""
    label = bought_unknown(buyer, "alpha")
    decide(staff, label, "not-made")
    assert "It is looked for once more" in page_of(staff, label)
    ShippingLabel.objects.update(leased_until=timezone.now() - timedelta(seconds=1))

    assert reconcile() == {"failed": 1}
    assert [sandbox.is_cancelled(parcel) for parcel in sandbox.made(label.id)] == [True]


def test_what_staff_cancelled_at_alpha_and_marked_as_not_made_is_not_cancelled_again(
    sandbox: Sandbox, staff: Client, buyer: Caller
) -> None:
    label = bought_unknown(buyer, "alpha", "FAULT NOLABEL")
    assert label.tracking_numbers
    decide(staff, label, "not-made")
    pass_time(400)

    assert (reconcile(), sandbox.questions()) == ({}, 0)


@pytest.mark.parametrize("kept", ["a reservation", "a PDF in the storage"])
def test_its_cancellation_is_repeated_whatever_the_label_could_be_finished_by(
    kept: str, sandbox: Sandbox, staff: Client, buyer: Caller
) -> None:
    """Its key is free: the shop may have bought another."""
    label = bought_unknown(buyer, "alpha", "FAULT NOLABEL")
    numbers, is_reserved = tuple(label.tracking_numbers), kept == "a reservation"
    # As of an answer whose number can't be read, or as if the database was away.
    ShippingLabel.objects.update(tracking_numbers=[], **({} if is_reserved else {"reservation_number": ""}))
    decide(staff, label, "not-made")
    if not is_reserved:  # and the storage was, too
        recovery.save(label, PurchasedLabel(numbers, {"label": PDF}))
    sandbox.arm("2", operation=CANCEL, count=1)
    states: list[str] = []
    for _ in range(2):
        pass_time(400)
        states += reconcile()

    assert states == ["unknown", "failed"]
    assert [sandbox.is_cancelled(parcel) for parcel in sandbox.made(label.id)] == [True]


def test_the_storage_keeps_no_pdf_of_what_is_marked_as_not_made(staff: Client, shop: Shop) -> None:
    """No erasure and no retention would find it."""
    label = LabelFactory(shop=shop, state=LabelState.UNKNOWN)
    recovery.save(label, PurchasedLabel(("6A1111",), {"label": PDF}))
    decide(staff, label, "not-made")
    assert label.state == LabelState.FAILED
    assert check() == ""


@pytest.mark.parametrize("carrier_code", ["alpha", "beta"])
def test_what_is_marked_as_not_made_is_not_looked_for_where_its_carrier_has_no_search(
    carrier_code: str, staff: Client, shop: Shop, sandbox: Sandbox, settings: Settings
) -> None:
    endpoint = settings.CARRIER_ENDPOINTS[carrier_code] | {"tracking_url": None}
    settings.CARRIER_ENDPOINTS = settings.CARRIER_ENDPOINTS | {carrier_code: endpoint}
    clients.client.cache_clear()
    label = LabelFactory(shop=shop, state="unknown", carrier_code=carrier_code)
    decide(staff, label, "not-made")
    assert "Nothing more, by itself." in page_of(staff, label)
    ShippingLabel.objects.update(leased_until=timezone.now() - timedelta(seconds=1))
    assert (reconcile(), sandbox.questions()) == ({}, 0)


def test_the_way_back_from_a_decision_does_not_read_as_the_labels_cancellation(staff: Client, shop: Shop) -> None:
    label = LabelFactory(shop=shop, state="unknown")
    for view in ("adopt", "not-made"):
        words = re.findall(r">\s*(Back|Cancel)\s*</a>", page_of(staff, label, view))
        assert words == ["Back"], view


def test_by_a_page_that_was_read_before_its_parcels_were_found_it_is_not_marked_as_not_made(
    staff: Client, shop: Shop
) -> None:
    label = LabelFactory(shop=shop, state="unknown")
    form = seen(page_of(staff, label, "not-made"))
    selection = {"_selected_action": [label.id], "action": "mark_selected_as_not_made"}
    selected = seen(staff.post(LABELS, selection).text)
    assert form == selected != []
    ShippingLabel.objects.update(tracking_numbers=["XU1"])
    assert "the label has changed since the page was read" in decide(staff, label, "not-made", seen=form).text
    answer = staff.post(LABELS, selection | {"is_confirmed": "yes", "seen": selected}, follow=True)
    assert f"1 changed since the page was read: {label.id}." in answer.text
    label.refresh_from_db()
    assert label.state == "unknown"
    decide(staff, label, "not-made", seen=seen(page_of(staff, label, "not-made")))
    assert label.state == "failed"


@pytest.mark.parametrize("is_selected", [False, True], ids=["page", "list"])
def test_a_label_whose_parcels_are_found_while_it_is_decided_is_not_marked_as_not_made(
    *, is_selected: bool, staff: Client, shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A list takes its time: they would be bought twice."""
    label = LabelFactory(shop=shop, state="unknown", idempotency_key="k", carrier_code="alpha")

    def find(*_: object) -> None:
        taken = claim(label.id, ShippingLabel.objects.free())
        assert taken
        leave(taken, "found", ("XU1",))

    during(monkeypatch, outdated, "check_seen", after=find)
    if is_selected:
        selection = {"_selected_action": [label.id], "action": "mark_selected_as_not_made", "is_confirmed": "yes"}
        answer = staff.post(LABELS, selection, follow=True)
        assert f"1 over, or still worked on: {label.id}." in answer.text
    else:
        answer = decide(staff, label, "not-made")
        assert "Nothing was changed: the label was settled meanwhile, or is being worked on." in answer.text
    label.refresh_from_db()
    assert (label.state, label.tracking_numbers, label.idempotency_key) == ("unknown", ["XU1"], "k")


@pytest.mark.parametrize("state", ["received", "label_generated", "failed"])
def test_what_is_over_is_not_decided(staff: Client, shop: Shop, state: str) -> None:
    label = LabelFactory(shop=shop, state=state, idempotency_key="key-1", tracking_numbers=["6A1111"])
    assert "To decide" not in page_of(staff, label)
    for decision, data in {"not-made": {}, "adopt": {"number_1": "6A2222", "pdf": upload(pdf_file())}}.items():
        assert "nothing left to decide" in page_of(staff, label, decision)
        assert "Nothing was changed" in decide(staff, label, decision, **data).text
    assert (label.state, label.idempotency_key, label.tracking_numbers) == (state, "key-1", ["6A1111"])
    assert changes() == []


def test_a_decision_from_another_site_is_refused(staff: Client, shop: Shop) -> None:
    label = LabelFactory(shop=shop, state="unknown")
    browser = Client(enforce_csrf_checks=True, raise_request_exception=False)
    browser.cookies = staff.cookies
    for decision in ("adopt", "not-made"):
        assert browser.post(f"{LABELS}{label.id}/{decision}/", {"number_1": "6A1111"}).status_code == 403
    label.refresh_from_db()
    assert label.state == "unknown"


def decides(rank: int, read: list[ShippingLabel]) -> bool:
    """Decide about a label as one of several, each as they have read it; return whether it was decided."""
    with acting(Actor(f"staff {rank}", Channel.ADMIN)), suppress(decisions.NotOpenError):
        if rank % 2:
            decisions.mark_as_not_made(label=read[rank])
        else:
            decisions.adopt(label=read[rank], tracking_numbers=[f"6A{read[rank].id}"], pdf=pdf_file())
        return True
    return False


def test_of_several_at_the_same_moment_one_decides(transactional_db: None) -> None:
    for _ in range(5):
        label = LabelFactory(state="unknown")
        read = [ShippingLabel.objects.get(id=label.id) for _ in range(4)]
        assert sorted(in_threads(4, partial(decides, read=read))) == [False, False, False, True]
        (entry,) = [entry for entry in changes() if entry.object_id == label.id]
        label.refresh_from_db()
        assert label.decided_by == entry.actor


def test_nobody_else_decides_or_reconciles_while_the_carrier_is_asked_for_the_pdf(
    sandbox: Sandbox, staff: Client, buyer: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    label = bought_unknown(buyer, "alpha", "FAULT NOLABEL")
    (number,) = numbers_of(sandbox, label)
    asked = []

    def decide_too(*_: object) -> None:
        with pytest.raises(decisions.NotOpenError):
            decisions.mark_as_not_made(label=label)
        asked.append(reconcile())

    during(monkeypatch, clients.client("alpha", is_test=False), "fetch_label", before=decide_too)
    assert "Adopted." in decide(staff, label, "adopt", number_1=number).text
    assert asked == [{}]


@pytest.mark.parametrize("state", ["purchasing", "unknown"])
def test_nobody_decides_until_the_lease_of_a_process_has_ended(state: str, staff: Client, shop: Shop) -> None:
    label = LabelFactory(shop=shop, state=state, carrier_code="alpha", product_code="alpha-18", leased_until=lease())
    page = page_of(staff, label)
    assert "A process is working on it" in page
    assert "/adopt/" not in page
    assert "A process is working on it" in page_of(staff, label, "not-made")
    assert "Nothing was changed" in decide(staff, label, "not-made").text
    assert states(label) == [state]
    ShippingLabel.objects.update(leased_until=timezone.now())
    assert "Marked as not made" in decide(staff, label, "not-made").text
    assert states(label) == ["failed"]


@pytest.mark.parametrize(("state", "carrier_code"), [("unknown", "alpha"), ("unknown", "beta"), ("incomplete", "beta")])
def test_a_decision_need_not_wait_where_nobody_is_at_work(
    staff: Client, shop: Shop, state: str, carrier_code: str
) -> None:
    until = timezone.now() + timedelta(seconds=300)
    label = LabelFactory(shop=shop, state=state, carrier_code=carrier_code, ask_again_at=until)
    assert "/not-made/" in page_of(staff, label)
    assert "Marked as not made" in decide(staff, label, "not-made").text


# Selected labels


def states(*labels: ShippingLabel) -> list[str]:
    found = dict(ShippingLabel.objects.values_list("id", "state"))
    return [found[label.id] for label in labels]


@pytest.mark.django_db(transaction=True)
def test_selected_labels_are_cancelled_one_by_one(buyer: Caller, sandbox: Sandbox) -> None:
    staff = logged_in("view_shippinglabel", "change_shippinglabel")
    for number in range(3):
        assert post(buyer, order(PRODUCT["alpha"], reference=f"R{number}")).status_code == 201
    first, second, third = ShippingLabel.objects.order_by("id")
    sandbox.server.state.ledger.collected.add(("alpha", second.tracking_number))
    over = LabelFactory(shop=buyer.shop, state="failed")

    asked = act(staff, "cancel_selected", first, second, third, over)
    assert all(label.tracking_number in asked.text for label in (first, second, third))
    assert f"/{over.id}/change/" in asked.text
    assert states(first, second, third) == ["label_generated"] * 3

    done = act(staff, "cancel_selected", first, second, third, over, is_confirmed="yes")
    assert states(first, second, third, over) == ["cancelled", "label_generated", "cancelled", "failed"]
    assert "2 cancelled." in done.text
    assert f"1 over, or still worked on: {over.id}." in done.text
    assert "taken the parcel in charge" in done.text
    assert f"): {second.id}." in done.text


def test_a_label_that_is_not_bought_is_not_called_over_when_it_is_not_cancelled(shop: Shop) -> None:
    staff = logged_in("view_shippinglabel", "change_shippinglabel")
    made = [LabelFactory(shop=shop, state=state, carrier_code="alpha") for state in LabelState]
    left_out = act(staff, "cancel_selected", *made).context["choice"].left_out
    assert {reason: {label.state for label in labels} for reason, labels in left_out.items()} == {
        "over, or still worked on": {"failed", "cancelled"},
        "being cancelled": {"cancelling", "cancel_unknown"},
        "not bought yet, or to be decided": {"purchasing", "received", "unknown", "incomplete"},
    }


def test_why_a_label_is_not_cancelled_is_said_in_the_readers_language(
    staff: Client, buyer: Caller, sandbox: Sandbox
) -> None:
    post(buyer, order(PRODUCT["alpha"]))
    label = ShippingLabel.objects.get()
    sandbox.server.state.ledger.collected.add(("alpha", label.tracking_number))
    staff.defaults |= {"HTTP_ACCEPT_LANGUAGE": "fr"}
    done = act(staff, "cancel_selected", label, is_confirmed="yes")
    assert "non annulée (Le transporteur a refusé l" in done.text
    cancelled = LabelFactory(shop=buyer.shop, carrier_code="alpha", state="cancelled")
    assert f"{cancelled.id} a été annulée auparavant" in decide(staff, cancelled, "cancel").text


def test_a_carrier_that_can_not_yet_is_told_apart(shop: Shop, sandbox: Sandbox, transactional_db: None) -> None:
    staff = logged_in("view_shippinglabel", "change_shippinglabel")
    ContractFactory(shop=shop, carrier_code="alpha")
    young = LabelFactory(shop=shop, carrier_code="alpha", tracking_numbers=["XS000000001FR"])
    done = act(staff, "cancel_selected", young, is_confirmed="yes")
    assert states(young) == ["cancelling"]
    assert f"1 not cancelled yet, it is tried again for an hour: {young.id}." in done.text


def test_what_takes_too_long_is_left_for_the_next_time(
    staff: Client, shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(actions, "TIME_LIMIT_S", 0.0)
    label = LabelFactory(shop=shop)
    assert "1 not asked any more" in act(staff, "cancel_selected", label, is_confirmed="yes").text
    assert states(label) == ["label_generated"]


def test_selected_labels_are_marked_as_not_made_where_they_are_open(staff: Client, shop: Shop) -> None:
    open_ones = [LabelFactory(shop=shop, state="unknown", days_ago=1) for _ in range(2)]
    bought = LabelFactory(shop=shop)
    asked = act(staff, "mark_selected_as_not_made", *open_ones, bought)
    assert "bought twice" in asked.text
    assert states(*open_ones) == ["unknown"] * 2
    done = act(staff, "mark_selected_as_not_made", *open_ones, bought, is_confirmed="yes")
    assert "2 marked as not made." in done.text
    assert states(*open_ones, bought) == ["failed", "failed", "label_generated"]


def test_in_french_several_labels_are_counted_behind_what_became_of_one(staff: Client, shop: Shop) -> None:
    labels = [LabelFactory(shop=shop, state="unknown", days_ago=1) for _ in range(2)]
    over = LabelFactory(shop=shop)
    staff.defaults |= {"HTTP_ACCEPT_LANGUAGE": "fr"}
    done = act(staff, "mark_selected_as_not_made", *labels, over, is_confirmed="yes").text
    assert "Étiquette marquée comme non créée\u00a0: 2." in done
    assert f"Étiquette terminée, ou encore en traitement\u00a0: 1 ({over.id})." in done


def test_where_nothing_is_asked_all_reasons_are_named(staff: Client, shop: Shop) -> None:
    over, going = LabelFactory(shop=shop, state="failed", days_ago=1), LabelFactory(shop=shop, state="cancelling")
    done = act(staff, "cancel_selected", over, going)
    assert "Nothing was changed: all are being cancelled; over, or still worked on." in done.text


def test_too_many_are_not_begun(staff: Client, shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(actions.CANCEL, "limit", 1)
    labels = [LabelFactory(shop=shop), LabelFactory(shop=shop)]
    assert "Choose at most 1" in act(staff, "cancel_selected", *labels, is_confirmed="yes").text
    assert states(*labels) == ["label_generated"] * 2


def test_without_the_permission_to_change_labels_nothing_is_decided(shop: Shop) -> None:
    label, viewer = LabelFactory(shop=shop), logged_in("view_shippinglabel", name="viewer")
    act(viewer, "cancel_selected", label, is_confirmed="yes")
    assert states(label) == ["label_generated"]
    assert "cancel_selected" not in viewer.get(LABELS).text

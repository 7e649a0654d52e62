"""The page of labels to decide: why, since when, what happens by itself, and asking the carrier now."""

import re
from datetime import UTC, datetime, timedelta
from typing import Any
from unittest.mock import Mock

import pytest
from django.db import OperationalError
from django.test import Client
from django.utils import timezone
from psycopg.errors import LockNotAvailable

from carriers.client import Service
from labels.lifecycle import decisions
from labels.lifecycle.leases import ASK_AGAIN_AFTER
from labels.lifecycle.reconciling import reconcile
from labels.models import LabelState, ShippingLabel, lease
from labels.pdfs import recovery, storage
from labels.pdfs.storage import StorageError
from shops.contracts.bulkhead import bulkhead
from shops.contracts.models import CarrierContract
from shops.models import Shop
from shops.personal_data import MASKED
from shops.staff import days
from shops.staff.audit.models import Action, AuditEntry
from tests.labels.admin.pages import CONTRACTS, LABELS, TO_DECIDE, bought_unknown, decide, page_of
from tests.labels.conftest import Sandbox
from tests.labels.factories import ContractFactory, LabelFactory
from tests.labels.orders import RECIPIENT
from tests.support.api import Caller, logged_in
from tests.support.desk import listed
from tests.support.markup import parsed

PERMISSIONS = ("change_shippinglabel", "view_personal_data")
ASK = "Ask the carrier now"


def clock(at: datetime | None) -> str:
    shown = timezone.localtime(at, days.STAFF_TIME_ZONE)
    return f"{shown:%H:%M}" if shown.date() == days.today() else f"{shown.day} {shown:%b %Y, %H:%M}"


def future(staff: Client) -> str:
    """The page's words on the next steps by themselves, of its only label."""
    (said,) = re.findall(r"By itself:</strong>(.*?)</p>", staff.get(TO_DECIDE).text, re.DOTALL)
    return " ".join(re.sub("<[^>]+>", "", said).replace("&#x27;", "'").split())


def unknown(shop: Shop, carrier_code: str = "alpha", **fields: Any) -> ShippingLabel:
    made: ShippingLabel = LabelFactory(shop=shop, state="unknown", carrier_code=carrier_code, **fields)
    return made


@pytest.mark.both_databases
def test_what_waits_for_a_person_is_counted_on_every_page_and_one_click_away(shop: Shop) -> None:
    staff = logged_in("view_shippinglabel", "change_shippinglabel", "view_carriercontract")
    assert "Labels to decide" not in staff.get(CONTRACTS).text
    assert "No label waits for a decision." in staff.get(TO_DECIDE).text
    for state in ("unknown", "incomplete", "failed"):
        LabelFactory(shop=shop, state=state, carrier_code="alpha")
    LabelFactory(shop=shop, state="unknown", carrier_code="beta")  # settles itself
    LabelFactory(shop=shop, staff_notice="The customs form did not come.")
    for path in ("/admin/", LABELS, CONTRACTS, TO_DECIDE):
        page = staff.get(path).text
        assert f'href="{TO_DECIDE}"' in page
        assert re.search(r"Labels to decide</span>\s*<span[^>]*>\s*3\s*</span>", page)


def test_each_notice_that_is_counted_is_listed(shop: Shop) -> None:
    staff = logged_in("view_shippinglabel")
    LabelFactory.create_batch(51, shop=shop, staff_notice="The customs form did not come.")
    (row,) = [row for row in staff.get("/admin/").context["queue"] if row.name == "to_decide"]
    assert row.count == listed(staff, row.link) == 51


def test_the_header_names_the_page_and_not_the_list_of_labels(shop: Shop) -> None:
    header = parsed(logged_in("view_shippinglabel").get(TO_DECIDE).text).xpath("//header")[0]
    assert "Labels to decide" in header.text_content()
    assert "Shipping labels" not in header.text_content()


def test_the_page_says_why_and_since_when_with_the_oldest_first(shop: Shop) -> None:
    facts = {"error_code": "BETA_OUTCOME_UNKNOWN", "error_message": "No answer came."}
    young = unknown(shop, "beta", days_ago=1, **facts)
    old = unknown(shop, "beta", days_ago=3, tracking_numbers=["8R1"])
    staff = logged_in("view_shippinglabel", "view_personal_data")
    answer = staff.get(TO_DECIDE)
    assert [each.label for each in answer.context["waiting"]] == [old, young]
    page = answer.text
    for text in ("Outcome unknown", "No answer came.", "3\xa0days ago", "made: 8R1", RECIPIENT["lastName"]):
        assert text in page
    assert ASK not in page
    assert "Adopt" not in page
    masked = logged_in("view_shippinglabel", name="bob").get(TO_DECIDE).text
    assert f"{MASKED}, {MASKED} {RECIPIENT['city']}" in masked
    assert RECIPIENT["lastName"] not in masked


def test_the_time_at_which_the_carrier_is_asked_is_said(staff: Client, shop: Shop) -> None:
    ContractFactory(shop=shop, carrier_code="alpha")
    label = unknown(shop)
    assert future(staff) == "alpha is asked with the next run of the reconciliation"
    ShippingLabel.objects.update(ask_again_at=timezone.now() + timedelta(minutes=4))
    label.refresh_from_db()
    assert future(staff) == f"alpha is asked at {clock(label.ask_again_at)}"
    assert ASK in staff.get(TO_DECIDE).text
    ShippingLabel.objects.update(ask_again_at=datetime(2038, 7, 14, 22, 30, tzinfo=UTC))
    assert future(staff) == "alpha is asked at 15 Jul 2038, 00:30"
    CarrierContract.objects.all().delete()
    assert "no alpha contract any more" in future(staff)
    assert ASK not in staff.get(TO_DECIDE).text


def test_a_label_that_a_process_works_on_offers_nothing(staff: Client, shop: Shop) -> None:
    ContractFactory(shop=shop, carrier_code="alpha")
    label = unknown(shop, leased_until=lease())
    assert future(staff) == f"A process works on it, until {clock(label.leased_until)} at the latest."
    page = staff.get(TO_DECIDE).text
    assert ASK not in page
    assert "Adopt" not in page
    assert "Nothing was changed" in decide(staff, label, "ask").text


@pytest.mark.parametrize(
    ("state", "fields", "said"),
    [
        ("incomplete", {"carrier_code": "beta"}, "It fails, with its key free, as it costs nothing. That is at"),
        (
            "unknown",
            {"carrier_code": "beta", "days_ago": 1},
            "It fails with the next run of the reconciliation, unless its PDF is in the storage.",
        ),
        (
            "unknown",
            {"carrier_code": "beta", "days_ago": 1, "ask_again_at": timezone.now() + timedelta(days=1)},
            "Nothing: its PDF is in the storage",
        ),
    ],
)
def test_what_only_a_person_settles_is_not_asked_about(
    state: str, fields: dict[str, Any], said: str, staff: Client, shop: Shop
) -> None:
    label = LabelFactory(shop=shop, state=state, **fields)
    assert said in future(staff)
    page = staff.get(TO_DECIDE).text
    assert ASK not in page
    assert f"{LABELS}{label.id}/adopt/" in page
    assert f"{LABELS}{label.id}/not-made/" in page
    assert "Nothing was changed" in decide(staff, label, "ask").text


def test_a_cancellation_is_tried_by_itself_for_an_hour(staff: Client, shop: Shop) -> None:
    ContractFactory(shop=shop, carrier_code="alpha")
    asked_at = timezone.now() - timedelta(minutes=10)
    LabelFactory(shop=shop, carrier_code="alpha", state="cancelling", cancel_requested_at=asked_at)
    until = asked_at + timedelta(hours=1)
    assert future(staff) == (
        f"alpha is asked to cancel it with the next run of the reconciliation until {clock(until)}"
    )
    ShippingLabel.objects.update(cancel_requested_at=until - timedelta(hours=3))
    assert future(staff) == "Nothing more: alpha could not cancel it within an hour."


def test_a_label_that_is_held_for_long_is_said_to_be(
    staff: Client, shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = OperationalError()
    held.__cause__ = LockNotAvailable()
    monkeypatch.setattr(decisions, "mark_as_not_made", Mock(side_effect=held))
    assert "It is held by another process" in decide(staff, unknown(shop), "not-made").text


def test_a_host_whose_clock_is_off_settles_nothing(
    sandbox: Sandbox, staff: Client, buyer: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    label = bought_unknown(buyer, "alpha", "FAULT NOLABEL")
    monkeypatch.setattr("shops.db.clock.is_host_off", lambda: True)
    assert "clock is off, so it settles no label." in decide(staff, label, "ask").text
    assert label.state == LabelState.UNKNOWN


def test_asking_now_settles_what_the_carrier_knows(sandbox: Sandbox, staff: Client, buyer: Caller) -> None:
    label = bought_unknown(buyer, "alpha", "FAULT NOLABEL")
    ShippingLabel.objects.update(ask_again_at=timezone.now() + ASK_AGAIN_AFTER)
    answer = decide(staff, label, "ask")
    assert answer.redirect_chain[0][0] == TO_DECIDE
    assert "It is now: Label generated." in answer.text
    assert (label.state, len(sandbox.made(label.id))) == (LabelState.GENERATED, 1)
    entry = AuditEntry.objects.get(action=Action.CHANGED)
    assert (entry.object_id, entry.changes) == (label.id, {"state": ["unknown", "label_generated"]})
    assert entry.details == {"asked": "alpha"}
    assert "Nothing was changed" in decide(staff, label, "ask").text


def test_asking_now_keeps_what_came_for_a_storage_that_is_full(
    sandbox: Sandbox, staff: Client, buyer: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    label = bought_unknown(buyer, "alpha", "FAULT NOLABEL")

    monkeypatch.setattr(storage, "store", Mock(side_effect=StorageError("ENOSPC")))
    assert "It is now: Received." in decide(staff, label, "ask").text
    monkeypatch.undo()
    reconcile()
    label.refresh_from_db()
    assert (label.state, len(sandbox.made(label.id))) == (LabelState.GENERATED, 1)


def test_asking_now_leaves_open_what_the_carrier_does_not_know(sandbox: Sandbox, staff: Client, buyer: Caller) -> None:
    label = bought_unknown(buyer, "alpha", "FAULT HTML502")
    assert "it is as open as before" in decide(staff, label, "ask").text
    assert label.state == LabelState.UNKNOWN
    assert label.ask_again_at
    assert label.ask_again_at > timezone.now() + ASK_AGAIN_AFTER / 2
    assert sandbox.made(label.id) == []


def test_a_label_that_the_carrier_cannot_be_asked_about_stays_as_it_was(
    buyer: Caller, staff: Client, monkeypatch: pytest.MonkeyPatch, one_at_a_time: None
) -> None:
    label = bought_unknown(buyer, "alpha", "FAULT HTML502")

    with bulkhead.enter("alpha", Service.CANCELLATION):
        assert "Too many requests wait for alpha now." in decide(staff, label, "ask").text
    with monkeypatch.context() as patched:
        patched.setattr(recovery, "find", Mock(side_effect=StorageError("it is down")))
        assert "The storage can&#x27;t be reached, and may hold the label." in decide(staff, label, "ask").text
    CarrierContract.objects.all().delete()
    assert "The shop has no alpha contract any more" in decide(staff, label, "ask").text
    assert (label.state, label.is_leased) == (LabelState.UNKNOWN, False)
    assert not AuditEntry.objects.filter(action=Action.CHANGED).exists()


def test_who_may_only_look_decides_nothing_and_has_no_carrier_asked(shop: Shop) -> None:
    viewer = logged_in("view_shippinglabel")
    decider = logged_in("view_shippinglabel", "change_shippinglabel", name="bob")
    for state, acts in (("unknown", ("ask", "adopt", "not-made")), ("label_generated", ("cancel", "cancelled"))):
        label = LabelFactory(shop=shop, state=state, staff_notice="Look", carrier_code="alpha")
        page, form = page_of(viewer, label), {"number_1": "6A1111", "outcome": "cancelled"}
        for act in (*acts, "notice"):
            assert f"{LABELS}{label.id}/{act}/" not in page
            assert decide(viewer, label, act, **form).status_code == 403
        assert (label.state, label.staff_notice) == (state, "Look")
        assert decider.get(f"{LABELS}{label.id}/ask/")["Location"] == TO_DECIDE
    assert "Labels to decide" not in logged_in("view_shop", name="eve").get("/admin/").text
    assert not AuditEntry.objects.filter(action=Action.CHANGED).exists()

"""Staff mark a purchase as not made; of several who decide, one is first."""

from collections.abc import Callable
from datetime import timedelta
from functools import partial
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from labels.lifecycle import decisions
from labels.lifecycle.reconciling import reconcile
from labels.models import ShippingLabel, lease
from shops.contracts import clients
from shops.models import Shop
from tests.labels.admin.pages import LABELS, bought_unknown, buy, decide, numbers_of, page_of, pdf_file, upload
from tests.labels.conftest import Sandbox, in_threads
from tests.labels.factories import LabelFactory
from tests.support.api import Caller
from tests.support.audit import changes, note
from tests.support.factories import ShopFactory
from tests.support.paths import SHIPMENTS


def test_marked_as_not_made_the_same_key_buys_again(sandbox: Sandbox, staff: Client, buyer: Caller) -> None:
    label = bought_unknown(buyer, "beta", "FAULT HTML502")
    assert buy(buyer, "beta", reference="FAULT HTML502").json()["code"] == "BETA_OUTCOME_UNKNOWN"
    assert "Marked as not made" in decide(staff, label, "not-made").text
    label.refresh_from_db()
    assert (label.state, label.idempotency_key, label.decided_by) == ("failed", None, "ada")
    assert label.decided_at
    assert (label.error_code, label.finished_at) == ("BETA_UNAVAILABLE", label.finished_at)
    assert "same Idempotency-Key" not in label.error_message
    assert note() == "Marked as not made; it was unknown."
    again = buy(buyer, "beta")
    assert again.status_code == 201
    assert again.json()["id"] != label.id
    assert buyer.get(f"{SHIPMENTS}/{label.id}").status_code == 404


def test_an_interrupted_purchase_is_decided_when_its_lease_has_ended(staff: Client, shop: Shop) -> None:
    label = LabelFactory(shop=shop, state="purchasing", leased_until=lease())
    assert "A process is working on it" in page_of(staff, label)
    assert "Nothing was changed" in decide(staff, label, "not-made").text
    ShippingLabel.objects.update(leased_until=timezone.now())
    assert "Marked as not made" in decide(staff, label, "not-made").text
    label.refresh_from_db()
    assert label.state == "failed"


@pytest.mark.parametrize("state", ["received", "label_generated", "failed"])
def test_what_is_over_is_not_decided(staff: Client, shop: Shop, state: str) -> None:
    label = LabelFactory(shop=shop, state=state, idempotency_key="key-1", tracking_numbers=["6A1111"])
    assert "To decide" not in page_of(staff, label)
    for decision, data in {"not-made": {}, "adopt": {"number_1": "6A2222", "pdf": upload(pdf_file())}}.items():
        assert "nothing left to decide" in page_of(staff, label, decision)
        assert "Nothing was changed" in decide(staff, label, decision, **data).text
    label.refresh_from_db()
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


def test_of_two_at_the_same_moment_one_decides(transactional_db: None) -> None:
    shop = ShopFactory()
    users = [User.objects.create_user(name) for name in ("ada", "grace", "joan", "mary")]
    for _ in range(5):
        label = LabelFactory(shop=shop, state="unknown")
        acts: list[Callable[[], Any]] = [
            partial(decisions.mark_as_not_made, label=ShippingLabel.objects.get(id=label.id), decided_by=user)
            for user in users[:2]
        ]
        adopt = partial(decisions.adopt, label=label, tracking_numbers=[f"6A{label.id}"], pdf=pdf_file())
        acts += [partial(adopt, decided_by=user) for user in users[2:]]
        assert sorted(at_once(acts)) == ["", "NotOpenError", "NotOpenError", "NotOpenError"]
        (entry,) = [entry for entry in changes() if entry.object_id == label.id]
        label.refresh_from_db()
        assert label.decided_by == entry.actor


def at_once(acts: list[Callable[[], Any]]) -> list[str]:
    """Run these at one moment in threads; return the name of each one's exception, or an empty string."""

    def run(rank: int) -> str:
        try:
            acts[rank]()
        except Exception as error:  # noqa: BLE001 - it is told
            return type(error).__name__
        return ""

    return in_threads(len(acts), run)


def test_nobody_else_decides_or_reconciles_while_the_carrier_is_asked_for_the_pdf(
    sandbox: Sandbox, staff: Client, buyer: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    label = bought_unknown(buyer, "alpha", "FAULT NOLABEL")
    (number,) = numbers_of(sandbox, label)
    user = User.objects.create_user("grace")
    alpha = clients.client("alpha", is_test=False)
    asked, fetch_label = [], alpha.fetch_label

    def meanwhile(*args: Any) -> bytes:
        with pytest.raises(decisions.NotOpenError):
            decisions.mark_as_not_made(label=label, decided_by=user)
        asked.append(reconcile())
        return fetch_label(*args)

    monkeypatch.setattr(alpha, "fetch_label", meanwhile)
    assert "Adopted." in decide(staff, label, "adopt", number_1=number).text
    assert asked == [{}]


def test_nobody_decides_while_the_reconciliation_asks(staff: Client, shop: Shop) -> None:
    label = LabelFactory(
        shop=shop, state="unknown", carrier_code="alpha", product_code="alpha-18", leased_until=lease()
    )
    page = page_of(staff, label)
    assert "A process is working on it" in page
    assert "/adopt/" not in page
    assert "A process is working on it" in page_of(staff, label, "not-made")
    assert "Nothing was changed" in decide(staff, label, "not-made").text
    label.refresh_from_db()
    assert label.state == "unknown"


@pytest.mark.parametrize(("state", "carrier_code"), [("unknown", "alpha"), ("unknown", "beta"), ("incomplete", "beta")])
def test_a_decision_need_not_wait_where_nobody_is_at_work(
    staff: Client, shop: Shop, state: str, carrier_code: str
) -> None:
    until = timezone.now() + timedelta(seconds=300)
    label = LabelFactory(shop=shop, state=state, carrier_code=carrier_code, ask_again_at=until)
    assert "/not-made/" in page_of(staff, label)
    assert "Marked as not made" in decide(staff, label, "not-made").text

"""A part of what alpha made was adopted: the rest is cancelled, whatever becomes of the label meanwhile."""

from dataclasses import dataclass

import pytest
from django.test import Client

from labels.lifecycle.cancelling import record_cancelled
from labels.lifecycle.reconciling import reconcile
from labels.models import ShippingLabel
from shops.models import Shop
from tests.labels.admin.pages import NOON, bought_unknown, decide, numbers_of, page_of, pdf_file, upload
from tests.labels.conftest import Sandbox
from tests.labels.factories import LabelFactory
from tests.labels.interruptions import CANCEL
from tests.support.api import Caller
from tests.support.paths import SHIPMENTS


@dataclass
class Adopted:
    """A label of the first of two parcels; `left` is the other's number."""

    label: ShippingLabel
    left: str
    buyer: Caller
    sandbox: Sandbox

    def cancel(self, code: str = "") -> int:
        """Let the shop cancel the label, with alpha's answer if it is not a yes; return the status."""
        if code:
            self.sandbox.arm(code, operation=CANCEL, count=1)
        status = self.buyer.request("POST", f"{SHIPMENTS}/{self.label.id}/cancel").status_code
        self.label.refresh_from_db()
        return status

    def reconcile(self) -> None:
        reconcile()
        self.label.refresh_from_db()

    def assert_rest_is_cancelled(self) -> None:
        assert self.left in self.label.cancelled_numbers
        assert (self.label.ask_again_at, self.label.staff_notice) == (None, "")
        assert self.left in [each.tracking_number for each in self.sandbox.made() if self.sandbox.is_cancelled(each)]


@pytest.fixture
def adopted(sandbox: Sandbox, staff: Client, buyer: Caller) -> Adopted:
    label = bought_unknown(buyer, "alpha", "FAULT NOLABEL", parcels=2)
    kept, left = numbers_of(sandbox, label)
    decide(staff, label, "adopt", number_1=kept, pdf=upload(pdf_file()))
    label.refresh_from_db()
    assert (label.state, label.tracking_numbers, label.surplus_numbers) == ("label_generated", [kept], [left])
    return Adopted(label, left, buyer, sandbox)


@pytest.mark.parametrize(("outcome", "state"), [("kept", "label_generated"), ("cancelled", "cancelled")])
def test_it_is_cancelled_after_a_person_has_decided_about_the_label(
    outcome: str, state: str, adopted: Adopted, staff: Client
) -> None:
    assert adopted.cancel("2") == 200
    assert adopted.label.state == "cancelling"
    assert f"Made too, and cancelled when this is over: {adopted.left}." in page_of(staff, adopted.label)
    decide(staff, adopted.label, "cancelled", outcome=outcome)
    adopted.reconcile()
    assert adopted.label.state == state
    adopted.assert_rest_is_cancelled()


def test_a_label_of_which_only_the_rest_is_cancelled_stays_bought(adopted: Adopted, staff: Client) -> None:
    adopted.reconcile()
    adopted.assert_rest_is_cancelled()
    assert adopted.cancel("3") == 409
    assert adopted.label.state == "label_generated"
    assert adopted.cancel("2") == 200
    assert 'value="kept"' in page_of(staff, adopted.label)
    assert "Kept." in decide(staff, adopted.label, "cancelled", outcome="kept").text
    adopted.label.refresh_from_db()
    assert adopted.label.state == "label_generated"


@pytest.mark.both_databases
def test_staff_are_told_of_all_parcels_that_are_left_however_many(staff: Client, shop: Shop) -> None:
    numbers = [f"XU9{number:08}FR" for number in range(98)]
    label = LabelFactory(shop=shop, carrier_code="alpha", surplus_numbers=numbers, decided_at=NOON, ask_again_at=NOON)
    assert reconcile() == {"label_generated": 1}
    page = page_of(staff, label)
    assert "which could not be cancelled" in page
    assert [number for number in numbers if number not in page] == []


@pytest.mark.both_databases
def test_two_processes_that_cancel_parcels_of_a_label_keep_both_numbers(adopted: Adopted) -> None:
    ones, others = (ShippingLabel.objects.get(id=adopted.label.id) for _ in range(2))
    record_cancelled(ones, adopted.left)
    record_cancelled(others, adopted.label.tracking_number)
    adopted.label.refresh_from_db()
    assert adopted.label.cancelled_numbers == [adopted.left, adopted.label.tracking_number]

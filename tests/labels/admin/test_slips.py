"""Deposit slips for selected labels: one for each contract, kept as files, never lost."""

from collections.abc import Sequence
from pkgutil import resolve_name
from typing import Any
from unittest.mock import Mock

import pytest
from django.test import Client

from carriers.errors import CredentialsRejected
from labels.lifecycle import cancelling
from labels.models import DepositSlip, ShippingLabel
from labels.pdfs import storage
from labels.pdfs.storage import StorageError
from labels.personal_data import erasure
from labels.personal_data.columns import REFUSAL
from labels.slips import making
from shops.staff.audit.models import AuditEntry
from shops.staff.audit.recording import customer_digests
from shops.staff.pages import page_of as page_address
from tests.labels.conftest import Sandbox, bought
from tests.labels.factories import ContractFactory, LabelFactory
from tests.labels.gates import during
from tests.labels.interruptions import BETA
from tests.support.api import Caller, Response, caller, logged_in, query_count
from tests.support.desk import FRENCH, act, csv_rows
from tests.support.factories import ShopFactory

SLIPS = "/admin/labels/depositslip/"
VIEW = ("view_shippinglabel", "view_depositslip")


@pytest.fixture
def packer(buyer: Caller) -> Client:
    return logged_in(*VIEW, "add_depositslip", "view_personal_data", "view_shop", name="packer")


def ask(staff: Client, *labels: ShippingLabel, **data: str) -> Response:
    return act(staff, "make_slip", *labels, **data)


def slips() -> Sequence[DepositSlip]:
    return list(DepositSlip.objects.order_by("asked_at"))


def test_a_slip_lists_the_selected_labels_and_its_pdf_is_kept(buyer: Caller, packer: Client) -> None:
    labels = [bought(buyer, BETA), bought(buyer, BETA)]
    page = ask(packer, *labels)
    (slip,) = slips()
    assert (slip.state, slip.shop, slip.asked_by, slip.pdf) == ("made", buyer.shop, "packer", None)
    assert sorted(slip.tracking_numbers) == sorted(label.tracking_number for label in labels)
    assert slip.published_at is not None
    assert f"slip {slip.number} lists 2 labels" in page.text
    assert page_address(slip, "pdf") in page.text
    pdf = packer.get(f"{SLIPS}{slip.id}/pdf/")
    assert (pdf["Content-Type"], pdf.content[:5]) == ("application/pdf", b"%PDF-")
    assert storage.read(slip.pdf_key) == pdf.content
    entries = AuditEntry.objects.filter(object_id=slip.id)
    assert {entry.action for entry in entries} == {"added", "changed", "viewed", "pdf_opened"}
    assert entries.get(action="changed").details["number"] == slip.number
    (digest,) = customer_digests(labels[0].recipient["email"])
    for shown in (labels[0].id, labels[1].id, digest):
        assert entries.get(search_words__has=shown).action == "pdf_opened"


def test_each_contract_has_a_slip_of_its_own(buyer: Caller, packer: Client) -> None:
    other = caller(ShopFactory(id="second"))
    ContractFactory(shop=other.shop, carrier_code="beta", account_number="999999")
    ask(packer, bought(buyer, BETA), bought(other, BETA))
    assert [slip.state for slip in slips()] == ["made", "made"]
    assert {slip.shop_id for slip in slips()} == {buyer.shop.id, "second"}


def test_a_call_has_as_many_parcels_as_the_carrier_takes(
    buyer: Caller, packer: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("carriers.beta.client.Beta.max_slip_parcels", 2)
    ask(packer, *(bought(buyer, BETA) for _ in range(3)))
    assert sorted(len(slip.tracking_numbers) for slip in slips()) == [1, 2]


def test_labels_that_no_slip_takes_are_named_and_left_out_when_confirmed(buyer: Caller, packer: Client) -> None:
    express, post_label = bought(buyer), bought(buyer, BETA)
    cancelled = LabelFactory(shop=buyer.shop, state="cancelled")
    asked = ask(packer, express, post_label, cancelled)
    assert "alpha makes no deposit slips" in asked.text
    assert slips() == []
    ask(packer, express, post_label, cancelled, is_confirmed="yes")
    assert slips()[0].label_ids == [post_label.id]
    assert "None of these labels can be on a slip" in ask(packer, express).text


def test_a_slip_is_made_without_the_parcels_that_the_carrier_refuses(buyer: Caller, packer: Client) -> None:
    good = bought(buyer, BETA)
    strange = [LabelFactory(shop=buyer.shop, tracking_numbers=[f"6A0000000001{digit}"]) for digit in (7, 8)]
    page = ask(packer, strange[0], good, strange[1])
    made, refused = slips()
    assert (made.state, made.label_ids, made.tracking_numbers) == ("made", [good.id], good.tracking_numbers)
    assert (refused.state, sorted(refused.label_ids)) == ("refused", sorted(each.id for each in strange))
    assert sorted(refused.tracking_numbers) == ["6A00000000017", "6A00000000018"]
    entries = AuditEntry.objects.filter(action="added", object_type="labels.depositslip", actor="packer")
    assert {entry.object_id for entry in entries} == {made.id, refused.id}
    assert f"slip {made.number} lists 1 label." in page.text
    for number in refused.tracking_numbers:
        assert f"does not know the parcel {number}" in refused.refusal
        assert f"does not know the parcel {number}" in page.text
    assert "not asked for any more" not in page.text


def test_a_label_of_which_one_parcel_is_refused_is_on_both(buyer: Caller, packer: Client) -> None:
    label = bought(buyer, BETA)
    (own,) = label.tracking_numbers
    label.tracking_numbers = [own, "6A00000000017"]
    label.save(update_fields=["tracking_numbers"])
    page = ask(packer, label)
    made, refused = slips()
    assert (made.tracking_numbers, refused.tracking_numbers) == ([own], ["6A00000000017"])
    assert made.label_ids == refused.label_ids == [label.id]
    assert "not asked for any more" not in page.text


def test_a_slip_of_refused_parcels_only_is_refused_and_asked_for_once_for_each(buyer: Caller, packer: Client) -> None:
    strange = [LabelFactory(shop=buyer.shop, tracking_numbers=[f"6A0000000001{digit}"]) for digit in (7, 8)]
    page = ask(packer, *strange)
    (slip,) = slips()
    assert (slip.state, len(slip.label_ids)) == ("refused", 2)
    assert sorted(slip.tracking_numbers) == ["6A00000000017", "6A00000000018"]
    assert all(f"does not know the parcel {number}" in slip.refusal for number in slip.tracking_numbers)
    assert slip.refusal.replace("'", "&#x27;") in page.text
    assert packer.get(f"{SLIPS}{slip.id}/pdf/").status_code == 404


def test_a_refusal_that_names_no_parcel_is_of_the_whole_slip(buyer: Caller, packer: Client, sandbox: Sandbox) -> None:
    label = bought(buyer, BETA)
    sandbox.arm("50031", operation="generateBordereauByParcelsNumbers")
    ask(packer, label)
    (slip,) = slips()
    assert (slip.state, slip.tracking_numbers) == ("refused", label.tracking_numbers)
    assert "does not know one of the parcels" in slip.refusal


def test_after_the_time_limit_a_refused_slip_is_not_asked_for_again(
    buyer: Caller, packer: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(making, "TIME_LIMIT_S", 0.0)
    good, strange = bought(buyer, BETA), LabelFactory(shop=buyer.shop, tracking_numbers=["6A00000000017"])
    ask(packer, good, strange)
    (slip,) = slips()
    assert (slip.state, len(slip.tracking_numbers)) == ("refused", 2)
    assert "does not know the parcel 6A00000000017" in slip.refusal


def test_a_carrier_that_is_down_is_not_asked_again_for_the_next_contract(
    buyer: Caller, packer: Client, sandbox: Sandbox
) -> None:
    other = caller(ShopFactory(id="second"))
    ContractFactory(shop=other.shop, carrier_code="beta")
    labels = [bought(buyer, BETA), bought(other, BETA)]
    sandbox.arm("html503", operation="generateBordereauByParcelsNumbers")
    page = ask(packer, *labels)
    assert [slip.state for slip in slips()] == ["refused"]
    assert "1 label was not asked for any more: select it again." in page.text


def test_the_row_is_there_before_the_call_and_open_where_no_answer_came(
    buyer: Caller, packer: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    label = bought(buyer, BETA)
    monkeypatch.setattr(making, "ask", Mock(side_effect=SystemExit))
    with pytest.raises(SystemExit):
        making.make([label])
    (slip,) = slips()
    assert slip.state == "open"
    assert "select the labels and ask again" in packer.get(f"{SLIPS}{slip.id}/change/").text


def test_a_storage_that_is_down_loses_no_slip(buyer: Caller, packer: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    label = bought(buyer, BETA)

    with monkeypatch.context() as patched:
        patched.setattr(storage, "write", Mock(side_effect=StorageError("down")))
        ask(packer, label)
        (slip,) = slips()
        assert slip.pdf is not None
        assert packer.get(f"{SLIPS}{slip.id}/pdf/").content == bytes(slip.pdf)
    assert packer.get(f"{SLIPS}{slip.id}/pdf/").status_code == 200
    assert storage.read(slip.pdf_key) == bytes(slip.pdf)
    assert slips()[0].pdf is None
    monkeypatch.setattr(storage, "read", Mock(side_effect=StorageError("down")))
    assert "be reached now. Try again later." in packer.get(f"{SLIPS}{slip.id}/pdf/", follow=True).text


def test_with_its_labels_pdf_a_slips_goes_too(buyer: Caller, packer: Client) -> None:
    labels = [bought(buyer, BETA), bought(buyer, BETA)]
    ask(packer, *labels)
    erasure.remove_pdf(labels[0])
    (slip,) = slips()
    assert (slip.has_pdf, storage.read(slip.pdf_key)) == (False, None)
    assert "Removed, as labels" in packer.get(f"{SLIPS}{slip.id}/change/").text


@pytest.mark.parametrize("place", ["carriers.beta.client.Beta.deposit_slip", "labels.slips.making.store"])
def test_no_pdf_is_kept_of_a_slip_whose_labels_pdf_goes_meanwhile(
    buyer: Caller, packer: Client, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    label = bought(buyer, BETA)
    act = resolve_name(place)

    def late(*arguments: Any) -> Any:
        erasure.remove_pdf(label)
        return act(*arguments)

    monkeypatch.setattr(place, late)
    ask(packer, label)
    (slip,) = slips()
    assert slip.number
    assert (slip.has_pdf, slip.pdf, storage.read(slip.pdf_key)) == (False, None, None)


def test_a_refusal_that_comes_after_the_erasure_is_not_kept(
    buyer: Caller, packer: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: object) -> None:
        erasure.remove_pdf(label)
        raise CredentialsRejected("beta", "of Grünwald")

    label = bought(buyer, BETA)
    monkeypatch.setattr("carriers.beta.client.Beta.deposit_slip", refused)
    ask(packer, label)
    assert slips()[0].refusal == REFUSAL.left


def test_a_refusal_of_one_parcel_is_not_kept_where_the_pdf_goes_meanwhile(
    buyer: Caller, packer: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    label, strange = bought(buyer, BETA), LabelFactory(shop=buyer.shop, tracking_numbers=["6A00000000017"])
    during(monkeypatch, making, "ask_without_wrong", before=lambda *_: erasure.remove_pdf(label))
    ask(packer, label, strange)
    made, refused = slips()
    assert (made.has_pdf, refused.refusal) == (False, REFUSAL.left)


def test_a_label_whose_pdf_was_removed_is_on_no_slip(buyer: Caller, packer: Client) -> None:
    label = bought(buyer, BETA)
    erasure.remove_pdf(label)
    assert "has no PDF any more" in ask(packer, label).text
    read_before = ShippingLabel.objects.get(id=label.id)
    read_before.pdf_removed_at = None
    making.make([read_before])
    assert [slip.state for slip in slips()] == ["refused"]


def test_a_label_that_its_shop_cancels_meanwhile_is_on_no_slip(
    buyer: Caller, packer: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A slip is the proof of deposit; of many labels it is asked for up to a minute after they were read."""
    label = bought(buyer, BETA)
    during(monkeypatch, making, "ask", before=lambda *_: cancelling.cancel(label))
    assert "One of these labels was cancelled, or its PDF was removed, meanwhile." in ask(packer, label).text
    assert [slip.state for slip in slips()] == ["refused"]


def test_a_contract_that_is_gone_or_unreadable_is_said(buyer: Caller, packer: Client) -> None:
    label = bought(buyer, BETA)
    buyer.shop.contracts.filter(carrier_code="beta").update(encrypted_credentials="x")
    assert "can&#x27;t be read" in ask(packer, label).text
    buyer.shop.contracts.filter(carrier_code="beta").delete()
    assert "no beta contract any more" in ask(packer, label).text


def test_the_permissions_are_those_to_add_to_see_and_of_personal_data(buyer: Caller, packer: Client) -> None:
    label = bought(buyer, BETA)
    viewer = logged_in(*VIEW, name="viewer")
    ask(viewer, label)
    assert slips() == []
    ask(packer, label)
    (slip,) = slips()
    assert viewer.get(SLIPS).status_code == 200
    assert viewer.get(f"{SLIPS}{slip.id}/pdf/").status_code == 403
    assert ["/pdf/" in each.get(page_address(slip)).text for each in (packer, viewer)] == [True, False]
    assert logged_in("view_personal_data", name="other").get(f"{SLIPS}{slip.id}/pdf/").status_code == 403


def test_why_there_is_no_slip_is_for_those_who_see_customers(buyer: Caller) -> None:
    """design.md, Staff: a carrier's texts are personal data for masking."""
    clerk = logged_in(*VIEW, "add_depositslip", name="clerk")
    page = ask(clerk, LabelFactory(shop=buyer.shop, tracking_numbers=["6A00000000017"])).text
    assert "no slip. •••" in page
    (slip,) = slips()
    assert slip.refusal
    assert slip.refusal not in page
    assert AuditEntry.objects.get(object_id=slip.id, action="added").actor == "clerk"


def test_a_slip_is_found_by_its_number_and_by_a_label(buyer: Caller, packer: Client) -> None:
    label = bought(buyer, BETA)
    ask(packer, label)
    (slip,) = slips()
    for text in (slip.number, label.id, label.id.lower(), slip.id):
        assert slip.number in packer.get(SLIPS, {"q": text}).text
    assert slip.id not in packer.get(SLIPS, {"q": "nothing"}).text


def test_the_file_of_slips_has_the_number_the_parcels_and_why_there_is_none(buyer: Caller, packer: Client) -> None:
    facts = {"shop": ShopFactory(), "carrier_code": "beta", "label_ids": [], "asked_by": "ada"}
    DepositSlip.objects.create(**facts, number="S1", tracking_numbers=["6A1", "6A2"])
    DepositSlip.objects.create(**facts, tracking_numbers=[], refusal="no such parcel")
    rows = {row["Number"]: row for row in csv_rows(packer.get(f"{SLIPS}export.csv"))}
    assert (rows["S1"]["Parcels"], rows["S1"]["Tracking numbers"], rows["S1"]["Reason"]) == ("2", "6A1 6A2", "")
    assert rows[""]["Reason"] == "no such parcel"


def test_a_french_slip_has_its_colon_apart(buyer: Caller, packer: Client) -> None:
    ask(packer, bought(buyer, BETA))
    (slip,) = slips()
    assert "<p>Étiquettes\u00a0: <a" in packer.get(page_address(slip), headers=FRENCH).text


def test_the_list_costs_the_same_for_one_slip_and_for_many(packer: Client) -> None:
    shop = ShopFactory()
    facts = {"carrier_code": "beta", "label_ids": [], "tracking_numbers": ["6A1"], "asked_by": "ada"}
    DepositSlip.objects.create(shop=shop, **facts)
    packer.get(SLIPS)
    cost = query_count(packer, SLIPS)
    for _ in range(5):
        DepositSlip.objects.create(shop=ShopFactory(), **facts)
    assert query_count(packer, SLIPS) == cost

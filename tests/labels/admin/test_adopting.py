"""Staff adopt parcels that a carrier made, with their numbers and their PDF."""

import io
import random
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from html import unescape
from pathlib import Path
from typing import Any, NoReturn

import pytest
from django.test import Client
from django.utils import timezone
from django.utils.translation import override
from pypdf import PdfReader, PdfWriter

from carriers.alpha.client import Alpha
from carriers.errors import CarrierUnavailable
from carriers.http.transport import UnreadableError
from labels.lifecycle import decisions
from labels.lifecycle.cancelling import record_cancelled
from labels.lifecycle.notices import CUSTOMS_FORM_MISSING, of_surplus
from labels.lifecycle.reconciling import reconcile
from labels.models import ShippingLabel
from shops.contracts.conversation import said
from shops.contracts.models import CarrierContract
from shops.models import Shop
from tests.labels.admin.pages import (
    LABELS,
    NOON,
    bought_unknown,
    buy,
    decide,
    download,
    numbers_of,
    page_of,
    pdf_file,
    upload,
)
from tests.labels.conftest import Sandbox, nothing_finished, row
from tests.labels.factories import LabelFactory
from tests.labels.gates import during
from tests.labels.interruptions import CANCEL, WAIT_S, pass_time
from tests.labels.orders import LINKED, RECIPIENT, order, post, weighing
from tests.models.label_carriers import behind
from tests.support.api import Caller
from tests.support.audit import changes
from tests.support.desk import FRENCH
from tests.support.paths import SHIPMENTS

PERMISSIONS = ("change_shippinglabel", "view_personal_data")
MIB = 1024 * 1024
NO_PDF = "FAULT NOLABEL"  # numbers and a reservation came


def fail_to_merge(*_: object) -> NoReturn:
    raise UnreadableError("the labels cannot be merged")


def test_parcels_that_were_made_are_adopted_with_the_pdf_from_the_carrier(
    sandbox: Sandbox, staff: Client, buyer: Caller
) -> None:
    label = bought_unknown(buyer, "alpha", NO_PDF, parcels=2)
    numbers = numbers_of(sandbox, label)
    assert len(numbers) == 2
    typed = {"number_1": f" {numbers[0][:4]} {numbers[0][4:].lower()}", "number_2": numbers[1]}
    assert "Adopted. The shop can retrieve the label now." in decide(staff, label, "adopt", **typed).text
    assert (label.state, label.tracking_numbers, label.pdf) == ("label_generated", numbers, None)
    assert (label.decided_by, label.error_code, label.error_message) == ("ada", "", "")
    assert label.decided_at
    (entry,) = changes()
    assert (entry.object_id, entry.actor) == (label.id, "ada")
    assert entry.details["note"] == f"Adopted {numbers[0]}, {numbers[1]}; it was unknown."
    assert numbers[0] in staff.get(f"{LABELS}{label.id}/history/").text
    body = buyer.get(f"{SHIPMENTS}/{label.id}").json()
    assert body["trackingNumber"] == numbers[0]
    assert len(PdfReader(io.BytesIO(download(body["labelUrl"]))).pages) == 2
    replayed = buy(buyer, "alpha", 2, reference=NO_PDF)
    assert (replayed.status_code, replayed.json()["id"]) == (201, label.id)
    assert numbers_of(sandbox, label) == numbers


def test_without_its_pdf_a_reservation_is_not_adopted(sandbox: Sandbox, staff: Client, buyer: Caller) -> None:
    label = bought_unknown(buyer, "alpha", NO_PDF)
    ShippingLabel.objects.update(reservation_number="12345678901234567")
    answer = decide(staff, label, "adopt", number_1="XU000000000FR")
    assert "alpha gave no PDF." in answer.text
    assert "Upload it instead" in answer.text
    assert (label.state, label.tracking_numbers, label.decided_by) == ("unknown", numbers_of(sandbox, label), "")
    assert not label.is_leased
    assert "Adopted." in decide(staff, label, "adopt", number_1="XU000000000FR", pdf=upload(pdf_file())).text


def test_a_reservation_has_no_pdf_of_a_part_of_its_parcels(sandbox: Sandbox, staff: Client, buyer: Caller) -> None:
    label = bought_unknown(buyer, "alpha", NO_PDF, parcels=2)
    numbers = numbers_of(sandbox, label)
    answer = decide(staff, label, "adopt", number_1=numbers[0])
    assert "alpha has one PDF, of all parcels." in answer.text
    assert (label.state, label.tracking_numbers, label.is_leased) == ("unknown", numbers, False)


def test_why_a_carrier_gave_no_pdf_is_said_in_the_readers_language(staff: Client, buyer: Caller) -> None:
    label = bought_unknown(buyer, "alpha", NO_PDF)
    ShippingLabel.objects.update(reservation_number="12345678901234567")
    form = {"number_1": "XU000000000FR"}
    refused = staff.post(f"{LABELS}{label.id}/adopt/", form, headers=FRENCH).text
    assert "a pas donné de PDF. Le transporteur a refusé la demande" in unescape(refused)
    with override("fr"):
        silent = said(CarrierUnavailable("alpha", "no connection"))
    assert silent == "Le transporteur est indisponible\u00a0: pas de connexion"


def test_a_parcel_that_is_cancelled_is_not_adopted(staff: Client, shop: Shop) -> None:
    label = LabelFactory(shop=shop, state="unknown", tracking_numbers=["6A1111"], cancelled_numbers=["6A1111"])
    assert "Cancelled at the carrier: 6A1111." in page_of(staff, label)
    answer = decide(staff, label, "adopt", number_1="6A1111", pdf=upload(pdf_file()))
    assert "6A1111 is cancelled at the carrier." in answer.text
    assert label.state == "unknown"


def test_a_parcel_that_is_cancelled_once_the_form_was_read_is_not_adopted(
    staff: Client, shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    label = LabelFactory(shop=shop, state="unknown", tracking_numbers=["6A1111"])

    def cancel(**_: object) -> None:
        record_cancelled(ShippingLabel.objects.get(), "6A1111")
        ShippingLabel.objects.update(leased_until=timezone.now())

    during(monkeypatch, decisions, "adopt", before=cancel)
    answer = decide(staff, label, "adopt", number_1="6A1111", pdf=upload(pdf_file()))
    assert "Nothing was changed: the label was settled meanwhile" in answer.text
    assert (label.state, label.decided_by, label.is_leased) == ("unknown", "", False)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda contracts: contracts.all().delete(), "The shop has no alpha contract any more"),
        (lambda contracts: contracts.update(encrypted_credentials="x"), "see CREDENTIALS_KEYS"),
    ],
    ids=["gone", "locked"],
)
def test_on_a_contract_that_is_gone_or_locked_the_carrier_is_not_asked(
    change: Callable[[Any], Any], said: str, sandbox: Sandbox, staff: Client, buyer: Caller
) -> None:
    label = bought_unknown(buyer, "alpha", NO_PDF)
    (number,) = numbers_of(sandbox, label)
    change(CarrierContract.objects)
    assert said in decide(staff, label, "adopt", number_1=number).text
    assert (label.state, label.decided_by, label.is_leased) == ("unknown", "", False)


def test_parcels_of_a_carrier_that_cannot_be_asked_are_adopted_with_an_uploaded_pdf(
    sandbox: Sandbox, staff: Client, buyer: Caller
) -> None:
    label = bought_unknown(buyer, "beta", "FAULT 2 NOLABEL", parcels=2)
    numbers = numbers_of(sandbox, label)
    page = page_of(staff, label, "adopt")
    assert f'value="{numbers[0]}"' in page
    missing = decide(staff, label, "adopt", number_1=numbers[0], number_2=numbers[1])
    assert "Upload it instead" in missing.text
    files = [upload(pdf_file()), upload(pdf_file(2))]
    decide(staff, label, "adopt", number_1=numbers[0], number_2=numbers[1], pdf=files)
    body = buyer.get(f"{SHIPMENTS}/{label.id}").json()
    assert body["status"] == "label_generated"
    pdf = download(body["labelUrl"])
    pages = PdfReader(io.BytesIO(pdf)).pages
    assert [len(page.annotations or ()) for page in pages] == [1, 1, 1]
    assert b"JavaScript" not in pdf


def test_what_was_bought_in_part_is_adopted_when_the_rest_was_made_by_hand(staff: Client, buyer: Caller) -> None:
    assert buy(buyer, "beta", 2, reference="FAULT 2 30204").status_code == 400
    label = ShippingLabel.objects.get()
    assert label.state == "incomplete"
    decide(staff, label, "adopt", number_1=label.tracking_number, number_2="6A00000000009", pdf=upload(pdf_file(2)))
    assert buyer.get(f"{SHIPMENTS}/{label.id}").status_code == 200


@pytest.mark.parametrize(
    ("data", "error"),
    [
        ({"number_1": "6A 1111", "number_2": "6a1111"}, "Each parcel has a tracking number of its own."),
        ({"number_1": "", "number_2": " "}, "Give the number of one parcel at least."),
        ({"number_1": "6A1111", "number_2": "6A-2222"}, "5 to 35 letters and digits"),
        ({"number_1": "6A1111", "number_2": "6A9"}, "5 to 35 letters and digits"),
        ({"number_1": "6A1111", "number_2": "6A9999"}, "6A9999 is a parcel of the label 0RCOTHERLABEL00."),
        ({"number_1": "6A1111", "number_2": "6A2222", "pdf": None}, "This field is required."),
        ({"number_1": "6A1111", "number_2": "6A2222", "pdf": b""}, "The submitted file is empty."),
        ({"number_1": "6A1111", "number_2": "6A2222", "pdf": b"<html>%PDF-1.4"}, "This is no PDF."),
        ({"number_1": "6A1111", "number_2": "6A2222", "pdf": b"%PDF-1.4 and no more"}, "can&#x27;t be read"),
        ({"number_1": "6A1111", "number_2": "6A2222", "pdf": b"%PDF-" + b"x" * 10 * MIB}, "more than 10 MiB"),
    ],
)
def test_what_cannot_be_right_is_not_adopted(staff: Client, shop: Shop, data: dict[str, Any], error: str) -> None:
    LabelFactory(shop=shop, id="0RCOTHERLABEL00", tracking_numbers=["6A8888", "6A9999"])
    label = LabelFactory(shop=shop, state="unknown", weights_kg=["1", "2"])
    pdf = data.get("pdf", pdf_file())
    files = {} if pdf is None else {"pdf": upload(pdf)}
    answer = decide(staff, label, "adopt", **{**data, "pdf": ""} | files)
    assert error in answer.text
    assert (label.state, label.decided_by) == ("unknown", "")


def test_of_two_who_adopt_one_number_at_once_the_first_has_it(
    staff: Client, shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    label, other = (LabelFactory(shop=shop, state="unknown") for _ in range(2))

    def adopt(label: ShippingLabel) -> str:
        return unescape(decide(staff, label, "adopt", number_1="6A1111", pdf=upload(pdf_file())).text)

    during(monkeypatch, decisions, "save_adoption", before=lambda *_: adopt(other))
    assert f"6A1111 is a parcel of the label {other.id}." in adopt(label)
    assert (label.state, label.tracking_numbers) == ("unknown", [])
    assert (other.state, other.tracking_numbers) == ("label_generated", ["6A1111"])


def test_a_number_that_the_carrier_gave_out_again_is_adopted(staff: Client, own: Caller) -> None:
    """beta.md: numbers are reused after about 13 months, so a number alone is no permanent key."""
    LabelFactory(shop=own.shop, tracking_numbers=["6A9999"], days_ago=400)
    label = LabelFactory(shop=own.shop, state="unknown")
    assert "Adopted." in decide(staff, label, "adopt", number_1="6A9999", pdf=upload(pdf_file())).text
    assert own.get(f"{SHIPMENTS}/{label.id}").json()["trackingNumber"] == "6A9999"


def test_a_pdf_without_pages_or_behind_a_password_is_refused(staff: Client, shop: Shop) -> None:
    label = LabelFactory(shop=shop, state="unknown")
    locked, output = PdfWriter(), io.BytesIO()
    locked.add_blank_page(283, 425)
    locked.encrypt("secret", algorithm="RC4-128")
    locked.write(output)
    for pdf in (pdf_file(0), output.getvalue()):
        assert "can&#x27;t be read" in decide(staff, label, "adopt", number_1="6A1111", pdf=upload(pdf)).text


def test_a_pdf_of_several_megabytes_is_adopted(staff: Client, own: Caller) -> None:
    label = LabelFactory(shop=own.shop, state="unknown")
    drawing = random.Random(1).randbytes(5 * MIB)
    assert "Adopted." in decide(staff, label, "adopt", number_1="6A1111", pdf=upload(pdf_file(1, drawing))).text
    (page,) = PdfReader(io.BytesIO(download(own.get(f"{SHIPMENTS}/{label.id}").json()["labelUrl"]))).pages
    contents = page.get_contents()
    assert contents is not None
    assert contents.get_data() == drawing


def test_an_adopted_pdf_waits_when_the_storage_is_down(staff: Client, own: Caller, folder: Path) -> None:
    label = LabelFactory(shop=own.shop, state="unknown", idempotency_key="key-1")
    folder.write_text("in the way")
    answer = decide(staff, label, "adopt", number_1="6A1111", pdf=upload(pdf_file()))
    assert "waits for the storage" in answer.text
    assert own.get(f"{SHIPMENTS}/{label.id}").status_code == 404
    assert staff.get(f"{LABELS}{label.id}/pdf/").content.startswith(b"%PDF-")
    folder.unlink()
    assert reconcile() == {"label_generated": 1}
    assert own.get(f"{SHIPMENTS}/{label.id}").json()["trackingNumber"] == "6A1111"


def test_an_adopted_pdf_waits_when_the_database_fails_in_the_end(
    transactional_db: None, staff: Client, own: Caller
) -> None:
    label = LabelFactory(shop=own.shop, state="unknown")
    with nothing_finished():
        said = decide(staff, label, "adopt", number_1="6A1111", pdf=upload(pdf_file())).text
    assert "The PDF waits" in said
    assert "can retrieve the label now" not in said
    assert label.state == "received"


def test_a_part_of_what_was_ordered_is_adopted_and_told(sandbox: Sandbox, staff: Client, buyer: Caller) -> None:
    """The second of three parcels was refused; the PDF of the first came, and is on the row."""
    body = order(LINKED, parcels=weighing(1, 2, 3), reference="FAULT 2 30204")
    post(buyer, body, key="k")
    label = ShippingLabel.objects.get()
    (number,) = numbers_of(sandbox, label)
    assert "Adopted. The shop can retrieve the label now." in decide(staff, label, "adopt", number_1=number).text
    assert (label.tracking_numbers, label.weights_kg) == ([number], ["1"])
    assert label.warnings == ["Not made: parcel 2 (2 kg), parcel 3 (3 kg). The label is for the other parcels."]
    replayed = post(buyer, body, key="k").json()
    assert (replayed["trackingNumber"], replayed["weight"]) == (number, 1)
    assert len(PdfReader(io.BytesIO(download(replayed["labelUrl"]))).pages) > 1  # the label and its customs form


def test_parcels_that_staff_leave_out_and_only_the_carrier_knows_of_are_cancelled(
    sandbox: Sandbox, staff: Client, buyer: Caller
) -> None:
    """No answer came for the order, so the row has no number."""
    label = bought_unknown(buyer, "alpha", parcels=3)
    first, second, third = numbers_of(sandbox, label)

    assert "Adopted." in decide(staff, label, "adopt", number_2=second, pdf=upload(pdf_file())).text
    assert (label.tracking_numbers, label.surplus_numbers) == ([second], [first, third])
    reconcile()
    assert [sandbox.is_cancelled(parcel) for parcel in sandbox.made(label.id)] == [True, False, True]


def test_a_parcel_that_was_left_out_and_is_adopted_by_the_next_decision_is_not_cancelled(
    sandbox: Sandbox, staff: Client, buyer: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While a label's PDFs can't be merged, a person may decide again."""
    with monkeypatch.context() as patch:
        patch.setattr("carriers.pdf.rewritten", fail_to_merge)
        assert buy(buyer, "alpha", 3).status_code == 500
        label = row()
        first, second, third = numbers_of(sandbox, label)
        pass_time()
        decide(staff, label, "adopt", number_1=first, number_2=second)
        assert (label.state, label.surplus_numbers) == ("received", [third])
        pass_time()
    decide(staff, label, "adopt", number_1=first, number_2=third, pdf=upload(pdf_file()))

    assert (label.state, label.tracking_numbers) == ("label_generated", [first, third])
    reconcile()
    assert [sandbox.is_cancelled(parcel) for parcel in sandbox.made(label.id)] == [False, True, False]


def test_a_form_from_before_parcels_were_left_out_adopts_no_more_than_are_left(
    sandbox: Sandbox, staff: Client, buyer: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As when two people decide at once: the PDF that the second one uploads is read for seconds."""
    monkeypatch.setattr("carriers.pdf.rewritten", fail_to_merge)
    buy(buyer, "alpha", 3)
    label = row()
    numbers = numbers_of(sandbox, label)
    pass_time()
    decide(staff, label, "adopt", number_1=numbers[0], number_2=numbers[1])
    pass_time()

    for typed in (numbers, ["", "", numbers[2]], numbers[:1] * 2):
        with pytest.raises(decisions.DecisionError):
            decisions.adopt(label=label, tracking_numbers=typed, pdf=pdf_file())
    assert (row().tracking_numbers, len(row().weights_kg)) == (numbers[:2], 2)


def test_no_parcel_of_another_label_is_cancelled_whatever_alpha_finds(
    sandbox: Sandbox, staff: Client, buyer: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    label = bought_unknown(buyer, "alpha")
    (number,) = numbers_of(sandbox, label)
    other = LabelFactory(shop=buyer.shop, tracking_numbers=["XU000000000FR"])
    monkeypatch.setattr(Alpha, "find_by_reference", lambda *_: (number, "XU000000000FR"))

    answer = decide(staff, label, "adopt", number_1=number, pdf=upload(pdf_file())).text
    assert f"XU000000000FR is a parcel of the label {other.id}." in answer
    assert (label.state, label.surplus_numbers) == ("unknown", [])


def test_parcels_are_adopted_that_alphas_search_does_not_show_yet(
    sandbox: Sandbox, staff: Client, buyer: Caller
) -> None:
    label = bought_unknown(buyer, "alpha", parcels=3)
    first, second, third = numbers_of(sandbox, label)

    with behind(sandbox, 1):
        decide(staff, label, "adopt", number_2=second, number_3=third, pdf=upload(pdf_file()))
    assert (label.state, label.surplus_numbers) == ("label_generated", [first])


def test_a_misspelt_number_has_no_parcel_cancelled_that_alpha_finds_in_its_place(
    sandbox: Sandbox, staff: Client, buyer: Caller
) -> None:
    """The uploaded PDF is that parcel's label."""
    label = bought_unknown(buyer, "alpha", parcels=2)
    first, second = numbers_of(sandbox, label)

    for typed in ([first, "XU000000000FR"], ["XU000000000FR", second]):
        form = dict(zip(["number_1", "number_2"], typed, strict=True))
        answer = decide(staff, label, "adopt", **form, pdf=upload(pdf_file())).text
        assert f"Nothing was changed: alpha made {first}, {second} for this label." in answer
        assert (label.state, label.surplus_numbers, label.is_leased) == ("unknown", [], False)
    decide(staff, label, "adopt", number_1=first, number_2=second, pdf=upload(pdf_file()))
    assert (label.state, label.surplus_numbers) == ("label_generated", [])


def test_an_adopted_parcels_missing_customs_form_is_told_to_the_shop_and_the_staff(
    staff: Client, buyer: Caller
) -> None:
    """Beta gives it once: a parcel that is adopted without it is stopped at customs, too."""
    parcels = [{"weight": 1, "reference": "FAULT NOCN23"}, {"weight": 2, "reference": "FAULT 30204"}]
    post(buyer, order(LINKED, parcels=parcels), key="k")
    label = ShippingLabel.objects.get()
    decide(staff, label, "adopt", number_1=label.tracking_number)
    left_out = "Not made: parcel 2 (2 kg). The label is for the other parcels."
    assert label.warnings == [CUSTOMS_FORM_MISSING, left_out]
    assert label.staff_notice == CUSTOMS_FORM_MISSING
    (listed,) = buyer.get(SHIPMENTS).json()["data"]
    assert listed["warnings"] == label.warnings


def test_of_adopted_parcels_that_without_a_customs_form_is_named(staff: Client, buyer: Caller) -> None:
    faults = zip(weighing(1, 2, 3), ("OK", "FAULT NOCN23", "FAULT 30204"), strict=True)
    post(buyer, order(LINKED, parcels=[each | {"reference": fault} for each, fault in faults]), key="k")
    label = ShippingLabel.objects.get()
    first, second = label.tracking_numbers
    decide(staff, label, "adopt", number_1=first, number_2=second)
    assert label.warnings[0].startswith("The customs form of parcel 2 (2 kg) did not come")
    assert label.staff_notice == CUSTOMS_FORM_MISSING


def test_an_adopted_parcel_of_alpha_lacks_no_customs_form_as_alpha_gives_none(
    staff: Client, buyer: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    swiss = RECIPIENT | {"countryCode": "CH", "zip": "8001"}
    with monkeypatch.context() as patch:
        patch.setattr("carriers.pdf.rewritten", fail_to_merge)
        post(buyer, order("alpha_express_world", destinationAddress=swiss, parcels=weighing(1, 2)), key="k")
    pass_time()
    label = row()
    decide(staff, label, "adopt", number_1=label.tracking_number)
    assert (label.state, label.staff_notice) == ("label_generated", "")
    assert label.warnings == ["Not made: parcel 2 (2 kg). The label is for the other parcels."]


@pytest.mark.parametrize("fault", ["FAULT 30204", "FAULT NOLABEL"])
def test_what_the_carrier_said_of_an_adopted_parcel_is_told_to_the_shop(
    fault: str, staff: Client, buyer: Caller
) -> None:
    parcels = [{"weight": 1, "reference": "FAULT WARNING"}, {"weight": 2, "reference": fault}]
    post(buyer, order(LINKED, parcels=parcels), key="k")
    ShippingLabel.objects.update(leased_until=timezone.now() - timedelta(seconds=1))
    label = ShippingLabel.objects.get()
    decide(staff, label, "adopt", number_1=label.tracking_number)
    (listed,) = buyer.get(SHIPMENTS).json()["data"]
    assert listed["warnings"][1:] == ["SANDBOX: line2 is cut"]


def test_a_number_beyond_those_adopted_that_cant_be_cancelled_is_a_notice(
    sandbox: Sandbox, staff: Client, buyer: Caller
) -> None:
    label = bought_unknown(buyer, "alpha", NO_PDF, parcels=2)
    kept, other = numbers_of(sandbox, label)
    sandbox.server.state.ledger.collected.add(("alpha", other))
    ShippingLabel.objects.update(weights_kg=["1"])
    decide(staff, label, "adopt", number_1=kept, pdf=upload(pdf_file()))
    reconcile()
    hour_ago = timezone.now() - timedelta(minutes=61)
    ShippingLabel.objects.update(decided_at=hour_ago, ask_again_at=hour_ago, leased_until=hour_ago)
    reconcile()
    label.refresh_from_db()
    assert other in label.staff_notice
    assert (label.state, label.ask_again_at) == ("label_generated", None)


def test_the_parcels_weights_are_written_as_the_reader_writes_numbers(staff: Client, shop: Shop) -> None:
    label = LabelFactory(shop=shop, state="unknown", weights_kg=["1.5", "30"])
    assert "parcel 1 (1.5 kg)" in page_of(staff, label, "adopt")
    french = staff.get(f"{LABELS}{label.id}/adopt/", headers=FRENCH).text
    assert "1 (1,5 kg)" in french
    assert "2 (30 kg)" in french


# A part of what alpha made


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


def test_staff_are_no_longer_told_of_it_when_it_is_cancelled_at_last(adopted: Adopted) -> None:
    """It is tried again when the label is cancelled, however late."""
    pass_time(2 * WAIT_S)
    adopted.sandbox.arm("2", operation=CANCEL, count=1)
    adopted.reconcile()
    assert adopted.label.staff_notice == of_surplus([adopted.left])
    adopted.cancel()
    adopted.reconcile()
    adopted.assert_rest_is_cancelled()


@pytest.mark.parametrize("notice", ["", CUSTOMS_FORM_MISSING])
def test_nor_when_the_process_that_cancelled_it_was_interrupted(notice: str, adopted: Adopted) -> None:
    ShippingLabel.objects.update(staff_notice=notice or of_surplus([adopted.left, "XU000000000FR"]))
    record_cancelled(adopted.label, adopted.left)
    adopted.reconcile()
    assert (adopted.label.ask_again_at, adopted.label.staff_notice) == (None, notice)


def test_a_label_of_which_only_the_rest_is_cancelled_stays_bought(adopted: Adopted, staff: Client) -> None:
    adopted.reconcile()
    adopted.assert_rest_is_cancelled()
    assert adopted.cancel("3") == 409
    assert adopted.label.state == "label_generated"
    assert adopted.cancel("2") == 200
    assert 'value="kept"' in page_of(staff, adopted.label)
    assert "Kept." in decide(staff, adopted.label, "cancelled", outcome="kept").text
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

"""Selected labels as one PDF: in the list's order, complete or asked about, on record."""

import io
from datetime import datetime
from pathlib import Path

import pytest
from django.test import Client
from pypdf import PdfReader

from labels.admin.printing import QUESTION
from labels.models import ShippingLabel
from labels.pdfs import printing, storage
from shops.models import Shop
from shops.staff import days
from shops.staff.audit.models import AuditEntry
from tests.labels.admin.pages import LABELS, pdf_file
from tests.labels.factories import LabelFactory
from tests.support.api import Response, logged_in
from tests.support.desk import act, seen


@pytest.fixture
def packer(db: None) -> Client:
    return logged_in("view_shippinglabel", "view_personal_data", name="packer")


def label(shop: Shop, order_id: str, pages: int = 1) -> ShippingLabel:
    made: ShippingLabel = LabelFactory(shop=shop, order_id=order_id)
    storage.store(made, pdf_file(pages, f"({order_id}) Tj".encode()))
    return made


def print_selected(staff: Client, labels: list[ShippingLabel], **data: str) -> Response:
    return act(staff, "print_selected", *labels, **data)


def drawings(answer: Response) -> list[str]:
    assert answer["Content-Type"] == "application/pdf"
    return [str(page.get_contents().get_data()) for page in PdfReader(io.BytesIO(answer.content)).pages]  # type: ignore[union-attr]  # pages have contents


def test_the_labels_are_printed_in_the_order_of_the_list(packer: Client, shop: Shop, kept: str) -> None:
    labels = [label(shop, f"order-{number}", pages=2 if number == 1 else 1) for number in range(3)]
    hours = [datetime.now(days.STAFF_TIME_ZONE)]
    answer = print_selected(packer, labels)
    hours.append(datetime.now(days.STAFF_TIME_ZONE))
    assert ["order-2" in each for each in drawings(answer)] == [True, False, False, False]
    assert ["order-1" in each for each in drawings(answer)] == [False, True, True, False]
    assert "no-store" in answer["Cache-Control"]
    assert answer["Content-Disposition"][:36] in {f'inline; filename="labels-{at:%Y%m%d-%H}' for at in hours}


def test_a_pdf_that_the_row_still_keeps_is_printed_too(packer: Client, shop: Shop) -> None:
    waiting = LabelFactory(shop=shop, state="received", pdf=pdf_file(1, b"(waiting) Tj"))
    assert "waiting" in drawings(print_selected(packer, [waiting]))[0]


def test_each_label_is_on_record_with_its_customer(packer: Client, shop: Shop) -> None:
    labels = [label(shop, "1"), label(shop, "2")]
    print_selected(packer, labels)
    entries = AuditEntry.objects.filter(action="pdf_opened")
    assert {entry.object_id for entry in entries} == {each.id for each in labels}
    assert all(entry.customer and entry.shop_id == shop.id for entry in entries)
    assert entries[0].details == {"printed_with": 1}


def test_a_label_without_a_pdf_is_named_and_left_out_only_when_confirmed(packer: Client, shop: Shop) -> None:
    printed, failed = label(shop, "printed"), LabelFactory(shop=shop, state="failed")
    asked = print_selected(packer, [printed, failed])
    assert "1 of 2 selected labels can&#x27;t be printed" in asked.text
    assert f"/{failed.id}/change/" in asked.text
    assert asked.text.count(f'value="{printed.id}"') == 1  # of 500 labels 500 fields; Django reads at most 1,000
    assert seen(asked.text) == []
    assert AuditEntry.objects.filter(action="pdf_opened").count() == 0
    confirmed = print_selected(packer, [printed, failed], is_confirmed="yes")
    assert len(drawings(confirmed)) == 1


def test_a_label_that_has_left_the_filtered_list_is_named_too(packer: Client, shop: Shop) -> None:
    printed, cancelled = label(shop, "printed"), label(shop, "cancelled")
    ShippingLabel.objects.filter(id=cancelled.id).update(state="cancelled")  # by a colleague, since the list was read
    selected = {"action": "print_selected", "_selected_action": [printed.id, cancelled.id]}
    asked = packer.post(f"{LABELS}?state=label_generated", selected).text
    assert "1 of 2 selected labels can&#x27;t be printed" in asked
    assert "Left out: no longer in this list" in asked
    assert f"/{cancelled.id}/change/" in asked
    assert len(drawings(packer.post(f"{LABELS}?state=label_generated", selected | {"is_confirmed": "yes"}))) == 1


@pytest.mark.parametrize("state", ["cancelled", "cancelling", "cancel_unknown"])
def test_a_label_that_must_not_be_used_is_printed_in_no_stack(packer: Client, shop: Shop, state: str) -> None:
    """design.md: a cancelled label is a 404 for the shop; in a stack for packing it would go out on a parcel."""
    printed, cancelled = label(shop, "printed"), label(shop, "cancelled")
    ShippingLabel.objects.filter(id=cancelled.id).update(state=state)
    assert "1 of 2 selected labels can&#x27;t be printed" in print_selected(packer, [printed, cancelled]).text
    (drawn,) = drawings(print_selected(packer, [printed, cancelled], is_confirmed="yes"))
    assert "printed" in drawn
    assert "cancelled" in print_selected(packer, [cancelled]).text
    assert packer.get(f"{LABELS}{cancelled.id}/pdf/").status_code == 302  # alone it is still shown


def test_nothing_is_printed_where_none_has_a_pdf(packer: Client, shop: Shop) -> None:
    answer = print_selected(packer, [LabelFactory(shop=shop, state="failed")])
    assert "None of these labels can be printed: no PDF: failed." in answer.text


def test_a_pdf_that_the_storage_lost_is_named_and_nothing_is_printed(packer: Client, shop: Shop) -> None:
    lost = label(shop, "lost")
    storage.delete(lost.pdf_key)
    answer = print_selected(packer, [label(shop, "kept"), lost])
    assert f"The PDF of {lost.id} is not in the storage" in answer.text


def test_a_storage_that_fails_prints_nothing(packer: Client, shop: Shop, folder: Path) -> None:
    printed = label(shop, "1")
    place = folder / printed.pdf_key
    place.unlink()
    place.mkdir()
    assert "The storage can&#x27;t be reached now" in print_selected(packer, [printed]).text


def test_a_pdf_that_can_not_be_read_prints_nothing(packer: Client, shop: Shop) -> None:
    answer = print_selected(packer, [label(shop, "1"), LabelFactory(shop=shop)])  # the factory's is no real PDF
    assert "One of these PDFs can&#x27;t be read" in answer.text
    assert AuditEntry.objects.filter(action="pdf_opened").count() == 0


@pytest.mark.parametrize(
    ("of", "name", "limit", "said"),
    [(QUESTION, "limit", 1, "at most 1"), (printing, "MAX_OUTPUT_BYTES", 9, "Print fewer")],
)
def test_a_print_is_bounded(
    packer: Client, shop: Shop, monkeypatch: pytest.MonkeyPatch, of: object, name: str, limit: int, said: str
) -> None:
    monkeypatch.setattr(of, name, limit)
    assert said in print_selected(packer, [label(shop, "1"), label(shop, "2")]).text


def test_a_process_makes_one_print_at_a_time(packer: Client, shop: Shop) -> None:
    with printing.prints.hold():
        assert "Another print is being made" in print_selected(packer, [label(shop, "1")]).text
    assert len(drawings(print_selected(packer, [label(shop, "2")]))) == 1


def test_without_the_permission_for_personal_data_nothing_is_printed(shop: Shop) -> None:
    staff = logged_in("view_shippinglabel")
    page = print_selected(staff, [label(shop, "secret")])
    assert page["Content-Type"].startswith("text/html")
    assert "print_selected" not in staff.get(LABELS).text
    assert AuditEntry.objects.filter(action="pdf_opened").count() == 0

"""Staff open a label's PDF from its page."""

import io
from typing import Any
from unittest.mock import Mock
from urllib.parse import urlsplit
from zipfile import ZipFile

import pytest
from django.test import Client
from django.utils import timezone
from pytest_django.fixtures import Settings

from labels.ids import new_label_id
from labels.lifecycle.reconciling import reconcile
from labels.models import ShippingLabel
from labels.pdfs import storage
from labels.pdfs.folder import LabelFolder
from shops.contracts import clients
from shops.models import Shop
from tests.carriers.support.servers import LABEL, MULTIPART, LoopbackServer, always, http
from tests.labels.admin.pages import LABELS, decide, page_of, pdf_file, upload
from tests.labels.conftest import row
from tests.labels.factories import LabelFactory
from tests.labels.interruptions import pass_time
from tests.labels.orders import PRODUCT, order, post, weighing
from tests.support.api import Caller, Response, client
from tests.support.cases import in_one_test
from tests.support.paths import SHIPMENTS

PERMISSIONS = ("change_shippinglabel", "view_personal_data")


def test_the_pdf_opens_by_a_url_signed_on_the_click(staff: Client, shop: Shop) -> None:
    label = LabelFactory(shop=shop, tracking_numbers=["6A1111"])
    storage.store(label, pdf_file())
    page = page_of(staff, label)
    assert f'href="{LABELS}{label.id}/pdf/"' in page
    assert label.pdf_key not in page
    answer = staff.get(f"{LABELS}{label.id}/pdf/")
    assert answer.status_code == 302
    assert answer.headers["Cache-Control"].startswith("private, no-store")
    opened = client().get(urlsplit(answer.headers["Location"]).path)
    assert opened.content == pdf_file()
    assert_private_pdf(opened, label)


def test_a_pdf_that_was_removed_is_not_offered_and_the_page_says_since_when(staff: Client, shop: Shop) -> None:
    label = LabelFactory(shop=shop, pdf_removed_at=timezone.now(), addresses_removed_at=timezone.now())
    page = page_of(staff, label)
    assert "/pdf/" not in page
    assert ("PDF removed" in page, "Addresses removed" in page) == (True, True)
    assert staff.get(f"{LABELS}{label.id}/pdf/").status_code == 404
    assert "removed" not in page_of(staff, LabelFactory(shop=shop))


def test_a_pdf_that_waits_for_the_storage_opens_too(staff: Client, shop: Shop) -> None:
    label = LabelFactory(shop=shop, state="received", pdf=pdf_file())
    answer = staff.get(f"{LABELS}{label.id}/pdf/")
    assert answer.content == pdf_file()
    assert_private_pdf(answer, label)


def assert_private_pdf(answer: Response, label: ShippingLabel) -> None:
    assert answer.headers["Content-Type"] == "application/pdf"
    assert answer.headers["Content-Disposition"] == f'inline; filename="label-{label.id}.pdf"'
    assert answer.headers["Cache-Control"].startswith("private, no-store")
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert answer.headers["Content-Security-Policy"] == "sandbox"


@in_one_test("state", ["purchasing", "failed", "incomplete", "unknown"])
def test_a_label_without_a_pdf_offers_none(staff: Client, shop: Shop, state: str) -> None:
    label = LabelFactory(shop=shop, state=state)
    assert "/pdf/" not in page_of(staff, label)
    assert staff.get(f"{LABELS}{label.id}/pdf/").status_code == 404
    assert staff.get(f"{LABELS}{new_label_id()}/pdf/").status_code == 404


def test_a_storage_that_is_down_is_told_on_the_page(staff: Client, shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(LabelFolder, "url", Mock(side_effect=OSError))
    answer = staff.get(f"{LABELS}{LabelFactory(shop=shop).id}/pdf/", follow=True)
    assert "The storage can&#x27;t be reached now" in answer.text


# Parcels' PDFs that cannot be merged

NUMBERS = ["6A00000000001", "6A00000000002"]
PDFS = [b"%PDF-1.4 one", b"%PDF-1.4 two"]


def answer(number: str, pdf: bytes) -> bytes:
    body = LABEL["beta"].partition(b"\r\n\r\n")[2].replace(b"6A12345678901", number.encode())
    label = body[body.index(b"%PDF-") :].removesuffix(b"\r\n--uuid:0f4a--")
    return http(body.replace(label, pdf), content_type=MULTIPART)


def bought_from(
    settings: Settings, buyer: Caller, body: dict[str, Any], *answers: bytes, code: str = "LABEL_STORAGE_UNAVAILABLE"
) -> ShippingLabel:
    """Return the label of an order that beta answers so; nothing can read the PDFs."""
    with LoopbackServer(always(*answers)) as server:
        settings.CARRIER_ENDPOINTS = settings.CARRIER_ENDPOINTS | {"beta": {"url": server.url}}
        clients.client.cache_clear()
        assert post(buyer, body, key="k").json()["code"] == code
    return row()


@pytest.fixture
def unmerged_pdfs(buyer: Caller, settings: Settings) -> ShippingLabel:
    """A label of two parcels whose PDFs nothing can read."""
    return bought_from(settings, buyer, order(PRODUCT["beta"], parcels=weighing(1, 2)), *map(answer, NUMBERS, PDFS))


def test_the_staff_download_what_the_carrier_gave(unmerged_pdfs: ShippingLabel, staff: Client) -> None:
    assert (unmerged_pdfs.state, unmerged_pdfs.tracking_numbers) == ("received", NUMBERS)
    page = f"{LABELS}{unmerged_pdfs.id}"
    assert f'href="{page}/pdf/"' in staff.get(f"{page}/change/").content.decode()
    response = staff.get(f"{page}/pdf/")
    assert response["Content-Type"] == "application/zip"
    assert response["Content-Disposition"] == f'attachment; filename="label-{unmerged_pdfs.id}.zip"'
    assert response["Cache-Control"].startswith("private, no-store")
    assert response["X-Content-Type-Options"] == "nosniff"
    with ZipFile(io.BytesIO(response.content)) as archive:
        names = [f"{rank:02}-{number}.pdf" for rank, number in enumerate(NUMBERS, 1)]
        assert archive.namelist() == names
        assert [archive.read(name) for name in names] == PDFS


def test_a_customs_form_is_downloaded_beside_its_label(buyer: Caller, settings: Settings, staff: Client) -> None:
    form = b"\r\n--uuid:0f4a\r\nContent-ID: <cn23>\r\n\r\n%PDF-1.4 form"
    label = bought_from(settings, buyer, order(PRODUCT["beta"]), answer(NUMBERS[0], PDFS[0] + form))
    assert (label.state, label.tracking_numbers) == ("received", NUMBERS[:1])
    with ZipFile(io.BytesIO(staff.get(f"{LABELS}{label.id}/pdf/").content)) as archive:
        read = {name: archive.read(name) for name in archive.namelist()}
    assert read == {f"01-{NUMBERS[0]}.pdf": PDFS[0], f"02-{NUMBERS[0]}-customs-form.pdf": b"%PDF-1.4 form"}


def test_what_came_without_a_number_is_downloaded_and_adopted(buyer: Caller, settings: Settings, staff: Client) -> None:
    body = answer(NUMBERS[0], PDFS[0]).partition(b"\r\n\r\n")[2]
    unnumbered = http(body.replace(f'"{NUMBERS[0]}"'.encode(), b"null"), content_type=MULTIPART)
    label = bought_from(settings, buyer, order(PRODUCT["beta"]), unnumbered, code="BETA_OUTCOME_UNKNOWN")
    assert (label.state, label.tracking_numbers) == ("unknown", [])
    page = f"{LABELS}{label.id}"
    assert f'href="{page}/pdf/"' in staff.get(f"{page}/change/").content.decode()
    with ZipFile(io.BytesIO(staff.get(f"{page}/pdf/").content)) as archive:
        assert {name: archive.read(name) for name in archive.namelist()} == {"01-parcel-1.pdf": PDFS[0]}
    assert "Adopted." in decide(staff, label, "adopt", number_1=NUMBERS[0], pdf=upload(pdf_file())).text
    assert (row().state, row().tracking_numbers) == ("label_generated", NUMBERS[:1])


def test_they_are_merged_again_until_it_succeeds(
    unmerged_pdfs: ShippingLabel, buyer: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    pass_time(50)
    assert reconcile() == {}
    pass_time(50)
    assert reconcile() == {"received": 1}
    monkeypatch.setattr("carriers.pdf.rewritten", lambda pdfs, _: b"".join(pdfs))
    pass_time(100)
    assert reconcile() == {"label_generated": 1}
    assert buyer.get(f"{SHIPMENTS}/{unmerged_pdfs.id}").status_code == 200
    assert storage.read(row().pdf_key) == b"".join(PDFS)


def test_a_person_may_put_another_pdf_in_their_place(unmerged_pdfs: ShippingLabel, staff: Client) -> None:
    numbers = {f"number_{rank}": number for rank, number in enumerate(NUMBERS, 1)}
    assert "Adopted." in decide(staff, unmerged_pdfs, "adopt", **numbers, pdf=upload(pdf_file())).text
    assert (row().state, row().pdf) == ("label_generated", None)

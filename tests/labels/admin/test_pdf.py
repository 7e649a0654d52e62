"""Staff open a label's PDF from its page."""

from typing import Any
from urllib.parse import urlsplit

import pytest
from django.test import Client
from django.utils import timezone

from labels.ids import new_label_id
from labels.models import ShippingLabel
from labels.pdfs import storage
from labels.pdfs.folder import LabelFolder
from shops.models import Shop
from tests.labels.admin.pages import LABELS, page_of, pdf_file
from tests.labels.factories import LabelFactory
from tests.support.api import Response, client


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


@pytest.mark.parametrize("state", ["purchasing", "failed", "incomplete", "unknown"])
def test_a_label_without_a_pdf_offers_none(staff: Client, shop: Shop, state: str) -> None:
    label = LabelFactory(shop=shop, state=state)
    assert "/pdf/" not in page_of(staff, label)
    assert staff.get(f"{LABELS}{label.id}/pdf/").status_code == 404
    assert staff.get(f"{LABELS}{new_label_id()}/pdf/").status_code == 404


def test_a_storage_that_is_down_is_told_on_the_page(staff: Client, shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(LabelFolder, "url", out_of_reach)
    answer = staff.get(f"{LABELS}{LabelFactory(shop=shop).id}/pdf/", follow=True)
    assert "The storage can&#x27;t be reached now" in answer.text


def out_of_reach(*args: Any) -> None:
    raise OSError

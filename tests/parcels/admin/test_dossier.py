"""The parcel's page as a dossier: late or not, one story, texts for the shop, and the claim."""

from io import BytesIO
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone
from pypdf import PdfReader

from parcels.models import Parcel, TrackingNumber
from parcels.tracking.timeline import recompute
from shops.models import Shop
from shops.staff.audit.models import Action, AuditEntry
from shops.staff.text_pdf import Heading, as_pdf
from shops.webhooks import endpoints
from tests.labels.factories import LabelFactory
from tests.parcels.admin.pages import PARCELS, page_of
from tests.support.desk import listed, member
from tests.support.factories import (
    DestinationFactory,
    EventFactory,
    LineItemFactory,
    ShopFactory,
    import_parcel,
    ms_ago,
    promise,
)

pytestmark = pytest.mark.django_db
PERMISSIONS = ("view_parcel", "view_shippinglabel", "view_webhookdelivery", "view_personal_data")
NUMBER = "XU123456789FR"


@pytest.fixture
def shop() -> Shop:
    return ShopFactory(
        id="lumiere", name="Maison Lumière", sender_address={"address1": "1 rue du Phare", "zip": "29200"}
    )


def ms(hours_ago: float) -> int:
    return ms_ago(hours_ago / 24)


def scan(at: int, code: str, place: str) -> dict[str, Any]:
    facts = {"text": f"Scan {code}", "status": "IN_TRANSIT", "is_listed": True, "kept_until": None}
    return {"at": at, "code": code, "place": place} | facts


def parcel(shop: Shop, **fields: Any) -> None:
    usual: dict[str, Any] = {
        "id": "P1",
        "trackingId": NUMBER,
        "trackingNumbers": [NUMBER, "XU2"],
        "carrierCode": "alpha",
    }
    import_parcel(shop, **usual | fields)


@pytest.mark.parametrize(
    ("end", "delivered", "words"),
    [
        (26, None, "Late: past its promise for 1 day."),
        (-26, None, "Not late: promised within 1 day."),
        (5.5, 2, "Delivered late, 3 hours after its promise."),  # in full hours
        (5, 6, "Delivered within its promise."),
        (None, None, "No delivery date was promised."),
    ],
)
def test_the_page_says_in_words_if_it_is_late(
    staff: Client, shop: Shop, end: float | None, delivered: float | None, words: str
) -> None:
    parcel(
        shop,
        lastStatus="DELIVERED" if delivered else "IN_TRANSIT",
        deliveryDate=ms(delivered) if delivered else None,
        estimatedDeliveryDateWindow=None if end is None else promise(ms(end)),
    )
    page = page_of(staff, "P1")
    assert words in page
    assert ("parcel-late" in page) == ("ate:" in words.replace("Not late", "") or "Delivered late" in words)


@pytest.mark.parametrize(
    ("status", "delivered", "is_withdrawn", "words"),
    [
        ("DELIVERED", None, False, "Delivered; when is not known."),
        ("IN_TRANSIT", None, True, "Withdrawn with its label."),
        ("RETURN_TO_SENDER", 2, False, ""),  # the shop names a delivery; the customer may have sent it back
    ],
)
def test_what_no_figure_counts_as_past_its_promise_is_not_called_late(
    staff: Client, shop: Shop, status: str, delivered: float | None, is_withdrawn: bool, words: str
) -> None:
    delivery_date = delivered and ms(delivered)
    parcel(shop, lastStatus=status, deliveryDate=delivery_date, estimatedDeliveryDateWindow=promise(ms(26)))
    Parcel.objects.update(is_withdrawn=is_withdrawn)
    for timing in ("late", "overdue"):
        assert listed(staff, f"{PARCELS}?delivery={timing}") == 0
    page = page_of(staff, "P1")
    assert words in page
    assert "Delivered late" not in page
    for text in (page, staff.get(PARCELS).text):
        assert ("Late" in text, "parcel-late" in text) == (False, False)


def test_each_event_is_told_once_with_its_place_and_source(staff: Client, shop: Shop) -> None:
    at = ms(30)
    told = EventFactory(createdAt=ms(40), label="Parcel packed", carrierStatusCode=None, status="FULFILLED")
    events = [told, told | {"label": "Label printed"}]
    parcel(shop, lastStatus="FULFILLED", lastStatusUpdatedAt=ms(40), events=events)
    for number in (NUMBER, "XU2"):
        TrackingNumber.objects.filter(number=number).update(
            events=[scan(at, "SC", "75015 PARIS")], carrier_code="alpha"
        )
    recompute(["P1"], timezone.now())
    answer = staff.get(f"{PARCELS}P1/change/")
    first, *others = answer.context["story"]
    assert (first.event["carrierStatusCode"], first.place, first.numbers) == ("SC", "75015 PARIS", [NUMBER, "XU2"])
    assert [(each.event["label"], each.numbers) for each in others] == [("Parcel packed", []), ("Label printed", [])]
    assert answer.text.count("75015 PARIS") == 1
    assert "told by the shop" in answer.text


def test_texts_for_the_shop_are_in_two_languages_and_name_nobody(staff: Client, shop: Shop) -> None:
    to = DestinationFactory(firstName="Anaïs", lastName="Quibble", name="Anaïs Quibble")
    noon = 1_795_690_800_000  # of 26 November 2026
    facts = {"lastStatus": "DELIVERED", "lastStatusUpdatedAt": noon, "estimatedDeliveryDateWindow": promise(noon)}
    parcel(shop, destination=to, orderNumber="A-1000", **facts)
    for reader in ("fr", "en"):
        copies = staff.get(f"{PARCELS}P1/change/", headers={"Accept-Language": reader}).context["copies"]
        french = ("livré", "depuis le 26/11/2026", "prévu le 26/11/2026")
        assert copies["fr"].splitlines() == [f"Colis {NUMBER} (commande A-1000) : {french[0]}", *french[1:]]
        english = ("Delivered", "since 26 Nov 2026", "expected by 26 Nov 2026")
        assert copies["en"].splitlines() == [f"Parcel {NUMBER} (order A-1000): {english[0]}", *english[1:]]
        assert "Quibble" not in str(copies)


def test_orders_and_webhooks_of_the_parcel_are_on_its_page(staff: Client, shop: Shop, settings: Any) -> None:
    settings.WEBHOOK_ALLOW_PRIVATE = True
    endpoints.create(shop=shop, url="https://203.0.113.1/")
    parcel(shop, orderId="77", lastStatus="IN_TRANSIT", lastStatusUpdatedAt=ms(5))
    failed = LabelFactory(shop=shop, order_id="77", state="failed", error_code="ALPHA_UNAVAILABLE", request_id="f" * 32)
    LabelFactory(order_id="77", request_id="e" * 32)
    page = page_of(staff, "P1")
    assert failed.id in page
    assert "f" * 32 in page
    assert "e" * 32 not in page  # another shop's
    assert "parcel.status_changed" in page


def test_a_claim_has_addresses_contents_and_events_and_is_on_record(shop: Shop) -> None:
    to = DestinationFactory(firstName="Anaïs", lastName="Quibble", name="Anaïs Quibble (3e)")
    items = [LineItemFactory(name="Bougie", quantity=2, price=12.5), LineItemFactory(name="Savon", quantity=1, price=4)]
    event = EventFactory(createdAt=ms(9), label="Remis au destinataire", status="DELIVERED")
    parcel(shop, destination=to, lineItems=items, events=[event], lastStatus="DELIVERED", deliveryDate=ms(9))
    answer = member("Support").get(f"{PARCELS}P1/claim/")
    assert (answer.headers["Content-Type"], answer.headers["Content-Security-Policy"]) == ("application/pdf", "sandbox")
    text = "".join(page.extract_text() for page in PdfReader(BytesIO(answer.content)).pages)
    for part in (
        *(NUMBER, "1 rue du Phare", "Anaïs Quibble (3e)", "2 x Bougie", "29.00 EUR"),
        *("Europe/Paris", "Remis au destinataire"),
    ):
        assert part in text
    entry = AuditEntry.objects.filter(action=Action.PDF_OPENED).get()
    assert entry.object_id == "P1"
    assert member("Operations").get(f"{PARCELS}P1/claim/").status_code == 403


def test_a_claim_puts_no_value_on_contents_that_nobody_named(shop: Shop) -> None:
    parcel(shop, lineItems=[])
    answer = member("Support").get(f"{PARCELS}P1/claim/")
    text = PdfReader(BytesIO(answer.content)).pages[0].extract_text()
    assert "The shop has named no items." in text
    assert "EUR" not in text


def test_a_claim_spells_what_its_font_lacks_in_latin_letters(shop: Shop) -> None:
    to = DestinationFactory(
        name="Ελένη Łukaszewicz-Ştefan", city="Ploie\u0219ti", address1="Œuf l\u2019e\u0301te\u0301, 5 €"
    )
    parcel(shop, destination=to)
    text = PdfReader(BytesIO(member("Support").get(f"{PARCELS}P1/claim/").content)).pages[0].extract_text()
    for spelt in ("Eleni Lukaszewicz-Stefan", "Ploiesti", "Œuf l\u2019été, 5 €"):
        assert spelt in text
    assert "?" not in text


def test_a_line_of_an_address_is_no_heading(shop: Shop) -> None:
    parcel(shop, destination=DestinationFactory(address2="# 5"))
    page = PdfReader(BytesIO(member("Support").get(f"{PARCELS}P1/claim/").content)).pages[0]
    assert "\n# 5\n" in page.extract_text()
    assert "/F1 10 Tf (# 5)" in page.get_contents().get_data().decode("cp1252")  # type: ignore[union-attr]  # it has some


def test_long_texts_are_pages_that_a_reader_opens() -> None:
    read = PdfReader(
        BytesIO(as_pdf([Heading("Title"), *(f"line {number} \\ (é €) " + "x " * 80 for number in range(100))]))
    )
    assert len(read.pages) == 4
    assert "line 99 \\ (é €)" in read.pages[-1].extract_text()
    assert len(PdfReader(BytesIO(as_pdf([]))).pages) == 1

"""Labels as people and scanners read them."""

import base64
from dataclasses import replace
from typing import Any

import pypdfium2
import pytest
import zxingcpp

from carriers.sandbox.papers import Label, label_pdf, printable
from carriers.sandbox.server import SandboxServer
from tests.carriers.sandbox.alpha.orders import alpha_buy
from tests.carriers.sandbox.beta.orders import beta_buy, linked
from tests.carriers.support.pdfs import sizes, texts

LABEL = Label(
    carrier="alpha",
    tracking_number="XU473124829FR",
    product_name="Relay, Europe",
    product_code="49 337",
    sender=("Atelier Dürand", "12 rue de l'Église", "75011 Paris", "FR"),
    recipient=("Kiosk Źródło", "Łukasz Wiśniewski", "ul. Świętokrzyska 12", "00-950 Warszawa", "PL"),
    phone="+48600700800",
    postal_code="00-950",
    pickup_point="1234A",
    order_reference="LABEL0000000001",
    reference="ORDER 1001",
    weight_kg=1.25,
    rank=2,
    count=3,
    ship_date="2026-02-03",
    page_format="10x15",
)


def text_of(pdf: bytes) -> str:
    (text,) = texts(pdf)
    return text


def scanned(pdf: bytes) -> list[tuple[Any, str]]:
    # Label printers have 203 dpi.
    with pypdfium2.PdfDocument(pdf) as document:
        image = document[0].render(scale=203 / 72).to_pil()
    return [(code.format, code.text) for code in zxingcpp.read_barcodes(image)]


@pytest.mark.parametrize(
    ("page_format", "size"),
    [("10x15", (283, 425)), ("10x12", (283, 340)), ("10x10", (283, 283)), ("A4", (595, 842))],
)
def test_a_label_has_its_size_and_a_barcode_that_scans(page_format: Any, size: tuple[int, int]) -> None:
    pdf = label_pdf(replace(LABEL, page_format=page_format))

    assert sizes(pdf) == [size]
    assert scanned(pdf) == [(zxingcpp.BarcodeFormat.Code128, "XU473124829FR")]


def test_a_label_shows_every_fact() -> None:
    text = text_of(label_pdf(LABEL))

    for words in (
        "ALPHA", "49 337", "Relay, Europe", "Atelier Dürand", "12 rue de l'Église", "00-950 Warszawa", "PL 00-950",
        "PICKUP POINT 1234A", "+48600700800", "1.25 kg", "2 / 3", "Ref. ORDER 1001", "LABEL0000000001",
        "XU473124829FR", "2026-02-03", "SANDBOX - NOT VALID FOR SHIPPING",
    ):  # fmt: skip
        assert words in text


def test_letters_that_the_fonts_lack_are_replaced_and_the_others_kept() -> None:
    assert printable("Łukasz Świętokrzyska Œuvre Straße Ørsted Žižek İzmir €") == (
        "Lukasz Swietokrzyska Œuvre Straße Ørsted Žižek Izmir €"
    )
    assert "Lukasz Wisniewski" in text_of(label_pdf(LABEL))


def test_a_long_line_is_printed_whole() -> None:
    long = "Wwwww " * 16
    pdf = label_pdf(replace(LABEL, recipient=(long.strip(), "75011 Paris", "FR")))

    assert long.strip() in text_of(pdf)
    assert scanned(pdf)


def test_the_same_label_gives_the_same_bytes() -> None:
    assert label_pdf(LABEL) == label_pdf(LABEL)


def test_every_parcel_bought_has_its_own_label(sandbox: SandboxServer) -> None:
    alpha = alpha_buy(sandbox, {"recipientValue.0.recipientName2": "Marie Curie"}, count=2)
    for number, label in zip(alpha.texts("skybillNumber"), alpha.texts("pdfEtiquette"), strict=True):
        assert scanned(base64.b64decode(label)) == [(zxingcpp.BarcodeFormat.Code128, number)]
        assert "Marie Curie" in text_of(base64.b64decode(label))

    beta = beta_buy(sandbox, linked(1, 2))
    assert scanned(beta.parts["label"]) == [(zxingcpp.BarcodeFormat.Code128, beta.number)]
    text = text_of(beta.parts["label"])
    for words in ("BETA", "Zoë Swietochowska", "5 rue du Bœuf", "97400 Lyon", "1 / 2", "ORDER 1001"):
        assert words in text

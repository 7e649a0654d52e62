"""alpha's reservations: one number for all parcels of a call, by which their labels are fetched again."""

import base64
import io
import re

import pypdf

from carriers.sandbox.server import SandboxServer
from tests.carriers.sandbox.alpha.orders import alpha_buy, reprint


def test_a_reservation_number_has_17_to_21_digits_and_comes_once(sandbox: SandboxServer) -> None:
    numbers = [alpha_buy(sandbox).texts("reservationNumber")[0] for _ in range(3)]

    assert all(re.fullmatch(r"\d{17,21}", number) for number in numbers)
    assert len(set(numbers)) == 3


def test_one_pdf_holds_the_labels_of_all_parcels(sandbox: SandboxServer) -> None:
    bought = alpha_buy(sandbox, count=3)

    reply = reprint(sandbox, bought.texts("reservationNumber")[0])

    pages = pypdf.PdfReader(io.BytesIO(base64.b64decode(reply.texts("skybill")[0]))).pages
    assert len(pages) == 3
    for page, number in zip(pages, bought.texts("skybillNumber"), strict=True):
        assert number in page.extract_text()


def test_a_parcels_number_is_no_reservations(sandbox: SandboxServer) -> None:
    bought = alpha_buy(sandbox)

    assert reprint(sandbox, bought.texts("skybillNumber")[0]).code == "33"
    assert reprint(sandbox, "").code == "33"


def test_numbers_may_be_ordered_without_labels(sandbox: SandboxServer) -> None:
    bought = alpha_buy(sandbox, {"skybillParamsValue.withReservation": "1"})

    assert bought.code == "0"
    assert bought.texts("pdfEtiquette") == []
    assert reprint(sandbox, bought.texts("reservationNumber")[0]).texts("skybill")

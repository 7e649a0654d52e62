"""beta's customs: where they are needed, what is refused, the form."""

from typing import Any

import pytest

from carriers.sandbox.server import SandboxServer
from tests.carriers.sandbox.beta.orders import (
    ADDRESSEE,
    AMERICAN,
    ARTICLE,
    CUSTOMS,
    SENDER,
    SERVICE,
    SWISS,
    beta_buy,
    beta_to,
    fields,
)
from tests.carriers.sandbox.changes import GONE, Changes
from tests.carriers.sandbox.control import get
from tests.carriers.support.pdfs import sizes, texts
from tests.support.cases import in_one_test

DECLARATION = "letter.customsDeclarations"
EORI = "FR12345678900012"
BRITISH = {**CUSTOMS, **beta_to("GB", "SW1A 1AA"), f"{DECLARATION}.invoiceNumber": "F-2026-1"}
FROM_REUNION: Changes = {f"{SENDER}.countryCode": "RE", f"{SENDER}.zipCode": "97400"}
DUTIES: Changes = {
    "letter.parcel.ddp": True,
    f"{DECLARATION}.description": "Shirts",
    **fields(EORI=EORI, LENGTH="30", WIDTH="20", HEIGHT="10"),
}
DUTIES_PAID = {**AMERICAN, **DUTIES}
ARTICLES = f"{DECLARATION}.contents.article"
SHIRT = {
    "description": "Shirt", "quantity": 1, "weight": 0.5, "value": 20, "hsCode": "610910", "originCountry": "FR",
    "currency": "EUR",
}  # fmt: skip
# What a customs declaration has and a parcel without one has not.
UNDECLARED: Changes = {f"{SERVICE}.totalAmount": GONE, DECLARATION: GONE}


@pytest.mark.parametrize(
    ("kind", "size"),
    [("PDF_A4_300dpi", (595, 842)), ("PDF_10x15_300dpi", (283, 425)), ("PDF_10x12_300dpi", (283, 340))],
)
def test_a_form_has_the_format_that_is_asked_for(sandbox: SandboxServer, kind: str, size: tuple[int, int]) -> None:
    form = beta_buy(sandbox, {**SWISS, **fields(OUTPUT_PRINT_TYPE_CN23=kind)}).parts["cn23"]

    assert sizes(form) == [size] * 4


@pytest.mark.parametrize(
    ("country", "zip_code", "code"),
    [
        *(("ES", zip_code, "DOS") for zip_code in ("35001", "38001", "51001", "52001")),
        *(("IT", zip_code, "DOS") for zip_code in ("23041", "23030", "22061", "22060")),
        *(("DE", zip_code, "DOS") for zip_code in ("27498", "78266")),
        ("FI", "22100", "DOS"),
        *(("GR", zip_code, "DOS") for zip_code in ("63086", "630 87")),
        ("AD", "AD500", "DOM"),
        ("CH", "3005", "DOM"),
        ("NO", "0150", "DOS"),
        *(("RE", "97400", code) for code in ("COM", "CDS")),
    ],
)
def test_a_declaration_is_needed_outside_the_customs_union(
    sandbox: SandboxServer, country: str, zip_code: str, code: str
) -> None:
    place = {**beta_to(country, zip_code, code), f"{SERVICE}.reseauPostal": 1 if country == "ES" else GONE}

    assert beta_buy(sandbox, place).codes == ["30500"]
    assert "cn23" in beta_buy(sandbox, {**CUSTOMS, **place}).parts


@pytest.mark.parametrize(("country", "zip_code"), [("ES", "28013"), ("IT", "20123"), ("FI", "00100"), ("GR", "10431")])
def test_no_declaration_is_needed_elsewhere_in_the_eu(sandbox: SandboxServer, country: str, zip_code: str) -> None:
    assert list(beta_buy(sandbox, beta_to(country, zip_code)).parts) == ["jsonInfos", "label"]


@pytest.mark.parametrize(
    ("place", "codes"),
    [
        (beta_to("FR", "69005", "COM"), []),
        (beta_to("FR", "69005", "CDS"), []),
        (beta_to("DE", "10115", "COLI"), []),
        (beta_to("FR", "69005", "DOM"), ["30213"]),
        (beta_to("DE", "10115", "DOS"), ["30213"]),
        (beta_to("US", "10001", "COLI"), ["30213"]),
    ],
)
def test_overseas_senders_declare_and_have_products_of_their_own(
    sandbox: SandboxServer, place: Changes, codes: list[str]
) -> None:
    order = {**FROM_REUNION, **CUSTOMS, **place, f"{ADDRESSEE}.mobileNumber": GONE}

    assert [code for code in _codes(sandbox, order) if code == "30213"] == codes
    if not codes:
        assert _codes(sandbox, order) == []
        assert _codes(sandbox, {**order, **UNDECLARED}) == ["30500"]


def _codes(sandbox: SandboxServer, changes: Changes) -> list[str]:
    return beta_buy(sandbox, changes).codes


@in_one_test(
    "code, changes",
    [
        ("30515", {**SWISS, f"{ARTICLE}.quantity": 3}),
        ("30519", {**SWISS, f"{ARTICLE}.hsCode": "6109.10"}),
        ("30600", {**SWISS, f"{ARTICLE}.description": "Café"}),
        ("30600", {**SWISS, f"{ARTICLE}.description": "Shirt 😀"}),
        ("30600", {**SWISS, f"{DECLARATION}.description": "Été"}),
        ("30504", {**SWISS, f"{DECLARATION}.numberOfCopies": 5}),
        ("30562", {**AMERICAN, "fields": GONE}),
        ("30562", {**AMERICAN, **fields(EORI="12345")}),
        ("30562", {**AMERICAN, **fields(EORI=f"{EORI} GB123456789000")}),
        ("30562", {**BRITISH, f"{ARTICLE}.value": 1000}),
        ("30562", {**BRITISH, f"{ARTICLE}.value": 1000, **fields(EORI=EORI)}),
        ("30212", {**AMERICAN, f"{ADDRESSEE}.stateOrProvinceCode": GONE}),
        ("30212", {**AMERICAN, f"{ADDRESSEE}.stateOrProvinceCode": "New York"}),
        ("30212", {**CUSTOMS, **beta_to("CA", "K1A 0B1")}),
        ("30212", {**AMERICAN, f"{ADDRESSEE}.zipCode": "10001-1234"}),
        ("30317", {**DUTIES_PAID, **fields(EORI=EORI, LENGTH="30", WIDTH="20")}),
        ("30317", {**DUTIES_PAID, **fields(EORI=EORI, LENGTH="30", WIDTH="20.5", HEIGHT="10")}),
        ("30220", {**DUTIES_PAID, f"{ADDRESSEE}.mobileNumber": GONE}),
        ("30220", {**SWISS, **DUTIES, f"{ADDRESSEE}.mobileNumber": GONE}),
        *(("30318", {**DUTIES_PAID, **beta_to(*place)}) for place in (("NO", "0150"), ("AD", "AD500"), ("BR", "1"))),
        ("30318", {**DUTIES_PAID, **beta_to("NC", "98800", "CDS")}),
        ("30318", {**DUTIES_PAID, f"{SENDER}.countryCode": "MC", f"{SENDER}.zipCode": "98000"}),
        ("30550", {**AMERICAN, f"{SERVICE}.returnTypeChoice": 3}),
        ("30510", {**AMERICAN, f"{ARTICLE}.description": "Shirt MID: FRATENOR12LIL"}),
        ("30510", {**AMERICAN, f"{ARTICLE}.description": "Shirt - MID: FRATENOR12LIL, blue"}),
        ("30554", {**AMERICAN, f"{DECLARATION}.comments": "FRATENOR12LIL", ARTICLES: [SHIRT, SHIRT]}),
        ("30517", {**SWISS, f"{ARTICLE}.currency": "NOK"}),
        ("30517", {**SWISS, ARTICLES: [SHIRT, SHIRT | {"currency": "CHF"}]}),
        ("30502", {**SWISS, ARTICLES: [SHIRT | {"weight": 0.01}] * 101}),
        ("30554", {**DUTIES_PAID, f"{DECLARATION}.description": GONE}),
        ("30562", {**DUTIES_PAID, **fields(LENGTH="30", WIDTH="20", HEIGHT="10")}),
        ("30318", {"letter.parcel.ddp": True}),
        ("30318", {"letter.parcel.ftd": True}),
        ("30318", {**CUSTOMS, **beta_to("RE", "97400", "COM"), "letter.parcel.ftd": True}),
        ("30318", {**SWISS, **fields(OUTPUT_PRINT_TYPE_CN23="ZPL")}),
    ],
)
def test_a_wrong_declaration_is_refused_by_code(sandbox: SandboxServer, code: str, changes: Changes) -> None:
    assert code in _codes(sandbox, changes)


@pytest.mark.parametrize(
    "changes",
    [
        *({**SWISS, f"{ARTICLE}.hsCode": "6109100010"[:digits]} for digits in (6, 8, 10)),
        {**SWISS, f"{SERVICE}.totalAmount": 1},
        BRITISH,
        {**BRITISH, **fields(EORI="GB123456789000")},
        {**BRITISH, f"{ARTICLE}.value": 1000, **fields(EORI=f"{EORI} GB123456789000")},
        {**BRITISH, f"{DECLARATION}.comments": "GB123456789"},
        DUTIES_PAID,
        {**CUSTOMS, **beta_to("CA", "K1A 0B1"), f"{ADDRESSEE}.stateOrProvinceCode": "ON"},
        {**CUSTOMS, **beta_to("RE", "97400", "CDS"), "letter.parcel.ftd": True},
        {**SWISS, **DUTIES},
        {
            **AMERICAN,
            f"{ARTICLE}.description": "Shirt - MID: FRATENOR12LIL",
            f"{DECLARATION}.comments": "FRATENOR12LIL",
        },
        {**AMERICAN, ARTICLES: [SHIRT | {"description": "Shirt - MID: FRATENOR12LIL"}] * 2},
        {**SWISS, **fields(OUTPUT_PRINT_TYPE_CN23="PDF_A4_300dpi")},
        {**SWISS, f"{SERVICE}.transportationAmount": 450},
    ],
)
def test_a_right_declaration_is_sold(sandbox: SandboxServer, changes: Changes) -> None:
    reply = beta_buy(sandbox, changes)

    assert reply.response.status_code == 200, reply.infos


def test_the_form_prints_what_was_declared_on_four_pages(sandbox: SandboxServer) -> None:
    changes = {**DUTIES_PAID, f"{SERVICE}.totalAmount": 1234, f"{DECLARATION}.invoiceNumber": "F-2026-1"}
    reply = beta_buy(sandbox, changes)

    assert sizes(reply.parts["cn23"]) == [(595, 842)] * 4
    for copy, text in enumerate(texts(reply.parts["cn23"]), 1):
        for words in ("12.34 EUR", "20.00 EUR", "1 x Shirt, 0.5 kg, 20 EUR, HS 610910, FR", EORI, "F-2026-1"):
            assert words in text
        assert f"Copy {copy} of 4" in text
    parcel: dict[str, Any] = get(f"{sandbox.url}/ledger/parcel", tracking_number=reply.number)
    assert parcel["customs_pages"] == 4
    assert "Postage: 12.34 EUR" in parcel["customs_form"]
    assert parcel["request"]["letter"]["service"]["totalAmount"] == 1234


def test_the_form_has_as_many_pages_as_copies(sandbox: SandboxServer) -> None:
    reply = beta_buy(sandbox, {**SWISS, f"{DECLARATION}.numberOfCopies": 2})

    assert len(sizes(reply.parts["cn23"])) == 2

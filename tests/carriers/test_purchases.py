"""Every product bought over HTTP, from recorded answers and from the sandbox, and what the carrier is sent for it."""

import io
import json
from contextlib import nullcontext
from dataclasses import replace
from decimal import Decimal
from itertools import product
from xml.etree import ElementTree as ET

import pypdf
import pypdfium2
import pytest
import zxingcpp

from carriers import CARRIERS, pdf
from carriers.errors import RequestRejected
from carriers.products import PRODUCTS
from carriers.sandbox.server import SandboxServer
from carriers.shipment import Package
from tests.carriers.conftest import Clients, Serve
from tests.carriers.sandbox.control import ledger
from tests.carriers.support.beta import labels
from tests.carriers.support.pdfs import merged, sizes, texts
from tests.carriers.support.points import alpha_point
from tests.carriers.support.refusals import label_of
from tests.carriers.support.sandbox import bought, creates, order, reset
from tests.carriers.support.servers import MULTIPART, XML, alpha_labels, always, answer_file, body_of, http
from tests.carriers.support.shipments import CREDENTIALS, CUSTOMS, DESTINATIONS, client, shipment
from tests.carriers.test_product_rules import BETA_DESTINATIONS
from tests.support.cases import in_one_test

WIRE_CODES = {
    "alpha-18": ("16", "0"),
    "alpha-13": ("01", "0"),
    "alpha_jour_j": ("4I", "973"),
    "alpha_rapide_eco": ("44", "0"),
    "alpha_express_world": ("17", "0"),
    "relais": ("86", "0"),
    "alpha_relais_europe_outre_mer": ("49", "337"),
    "shop2shop": ("5E", "6"),
    "alpha_2shopdirect": ("5X", "6"),
    "beta": ("DOM", None),
    "beta_domicile_signature_france": ("DOS", None),
    "beta_domicile_sans_signature_france": ("DOM", None),
    "beta_point_retrait_france": ("HD", None),
    "beta_domicile_signature_europe": ("DOS", None),
    "beta_domicile_sans_signature_europe": ("DOM", None),
    "beta_point_retrait_europe": ("HD", None),
    "beta_domicile_signature_outre_mer": ("CDS", None),
    "beta_domicile_sans_signature_outre_mer": ("COM", None),
    "beta_domicile_signature_monde": ("DOS", None),
}
CUSTOMS_PAGES = 4  # of beta's form
CODE_128 = zxingcpp.BarcodeFormats(zxingcpp.BarcodeFormat.Code128)  # the carriers' kind, found faster than any kind
PHONES = ["+33699001122", "+33472001122", "+4915112233445", "+37761234567", "+12125550123", ""]
# For heavier parcels, on Saturdays, and with `as`.
OTHER_SERVICES = {"alpha_relais_europe_outre_mer": {"338"}, "alpha_jour_j": {"974"}, "shop2shop": {"6 A15"}}


def answers(carrier: str, count: int) -> list[bytes]:
    if carrier == "alpha":
        return [http(alpha_labels(count))]
    return labels(count)


def point_answers(code: str) -> list[bytes]:
    """Return the answer of the point service that a product's look-up gets, for the code in `support`."""
    if PRODUCTS[code].carrier == "beta":
        file = "beta_points.json" if code in DESTINATIONS else "beta_point.json"
        return [http(answer_file(file), content_type="application/json")]
    return [http(alpha_point(abroad=DESTINATIONS.get(code, "")))]


def page_widths(pdf: bytes) -> list[int]:
    """Return the pages' widths: the recorded labels are 281, 282, ... points wide."""
    return [width for width, _ in sizes(pdf)]


def barcodes_of(pdf: bytes, labels: int) -> tuple[str, ...]:
    """Return what a scanner reads from the pages that are labels at the resolution of a label printer."""
    with pypdfium2.PdfDocument(pdf) as document:
        images = [document[place].render(scale=203 / 72).to_pil() for place in range(labels)]
    return tuple(code.text for image in images for code in zxingcpp.read_barcodes(image, CODE_128))


def sent_codes(carrier: str, request: bytes) -> tuple[str | None, str | None]:
    if carrier == "alpha":
        skybill = ET.fromstring(body_of(request)).find(".//skybillValue")
        assert skybill is not None
        return skybill.findtext("productCode"), skybill.findtext("service")
    return json.loads(body_of(request))["letter"]["service"]["productCode"], None


def test_the_catalogue_is_the_19_products_of_the_specification() -> None:
    assert set(PRODUCTS) == set(WIRE_CODES)
    assert len(PRODUCTS) == 19
    assert {product.carrier for product in PRODUCTS.values()} == set(CARRIERS)
    assert {code for code, product in PRODUCTS.items() if product.needs_pickup_point} == {
        "relais",
        "alpha_relais_europe_outre_mer",
        "shop2shop",
        "alpha_2shopdirect",
        "beta_point_retrait_france",
        "beta_point_retrait_europe",
    }


@pytest.mark.usefixtures("monday")
@pytest.mark.parametrize("count", [1, 3])
@pytest.mark.parametrize("code", WIRE_CODES)
def test_a_label_is_bought_with_the_products_codes_and_is_one_pdf_in_parcel_order(
    serve: Serve, code: str, count: int
) -> None:
    carrier = PRODUCTS[code].carrier
    server = serve(always(*answers(carrier, count)))
    points = serve(always(*point_answers(code)))
    buyer = client(carrier, server.url, points_url=points.url)
    label = buyer.create_label(shipment(code, count), CREDENTIALS[carrier])
    first_number = {"alpha": "XS000000001FR", "beta": "6A12345678901"}[carrier]
    assert len(set(label.tracking_numbers)) == count
    assert label.tracking_numbers[0] == first_number
    assert sorted(label.tracking_numbers) == list(label.tracking_numbers)
    assert page_widths(merged(label)) == [281, 282, 283][:count]
    assert label.warnings == ()
    assert len(server.requests) == (1 if carrier == "alpha" else count)
    assert sent_codes(carrier, server.requests[0]) == WIRE_CODES[code]


def test_linked_calls_of_beta_name_their_followers(serve: Serve) -> None:
    server = serve(always(*answers("beta", 3)))
    overseas = shipment("beta", 3, recipient={"country_code": "MF"}, customs=replace(CUSTOMS, eori=""))
    client("beta", server.url).create_label(overseas, CREDENTIALS["beta"])
    fields = [json.loads(body_of(request))["fields"]["field"] for request in server.requests]
    links = [{field["key"]: field["value"] for field in call} for call in fields]
    counted = [{"PARCEL_ITERATION_NUMBER": str(rank), "TOTAL_NUMBER_PARCEL": "3"} for rank in (1, 2, 3)]
    assert links == [
        {"TYPE_MULTI_PARCEL": "FOLLOWER", **counted[0]},
        {"TYPE_MULTI_PARCEL": "FOLLOWER", **counted[1]},
        {"TYPE_MULTI_PARCEL": "MASTER", **counted[2], "LIST_FOLLOWER_PARCEL": "6A12345678901/6A12345678902"},
    ]


@pytest.mark.parametrize(
    ("said", "warning"), [('"Le champ a été tronqué"', "Le champ a été tronqué"), ("null", "30219")]
)
def test_version_31_of_beta_and_its_warnings_are_read(said: str, warning: str) -> None:
    message = f'{{"id": "30219", "type": "WARNING", "messageContent": {said}}}, '.encode()
    answer = answer_file("beta_parcel_1.multipart").replace(b'{"messages": [', b'{"messages": [' + message)
    answer = answer.replace(b"labelV2Response", b"labelV31Response")
    label = label_of("beta", http(answer, content_type=MULTIPART))
    assert label.tracking_numbers == ("6A12345678901",)
    assert label.warnings == (warning,)


@pytest.mark.parametrize(
    ("carrier", "written", "read"),
    [
        ("beta", b'"6A 12345 67890 1"', "6A12345678901"),
        ("beta", b'" 6A12345678901\\n"', "6A12345678901"),
        ("beta", b"6112345678901", "6112345678901"),
        ("beta", b"6112345678901.0", "6112345678901"),
        ("beta", b'"\\ufeff6A12345678901"', "6A12345678901"),
        ("alpha", b"XS 000 000 001 FR", "XS000000001FR"),
        ("alpha", "\ufeffXS000000001FR".encode(), "XS000000001FR"),
        ("alpha", b"\n<!-- of 13 -->xs0000<![CDATA[00001fr]]> ", "XS000000001FR"),
    ],
)
def test_a_number_is_read_however_it_is_written(carrier: str, written: bytes, read: str) -> None:
    file, number, kind = {
        "alpha": ("alpha_1_parcels.xml", b"XS000000001FR", "text/xml"),
        "beta": ("beta_parcel_1.multipart", b'"6A12345678901"', MULTIPART),
    }[carrier]
    label = label_of(carrier, http(answer_file(file).replace(number, written), content_type=kind))
    assert label.tracking_numbers == (read,)


@pytest.mark.parametrize("before", ["\r\n \n", "\ufeff", "\ufeff\r\n"], ids=ascii)
def test_a_pdf_after_empty_lines_or_a_byte_order_mark_is_kept(before: str) -> None:
    body = answer_file("beta_parcel_1.multipart").replace(b"%PDF-", before.encode() + b"%PDF-")
    label = label_of("beta", http(body, content_type=MULTIPART))
    assert merged(label).startswith(b"%PDF-")
    assert page_widths(merged(label)) == [281]


def test_a_pdf_without_its_last_line_is_merged_as_its_newest_revision() -> None:
    (whole,) = label_of("beta", http(answer_file("beta_parcel_1.multipart"), content_type=MULTIPART)).pdfs.values()
    revision = pypdf.PdfWriter(io.BytesIO(whole), incremental=True)
    revision.pages[0].rotate(90)
    revision.write(revised := io.BytesIO())

    cut = [each[: each.rindex(b"%%EOF")] for each in (whole, revised.getvalue())]

    pages = pypdf.PdfReader(io.BytesIO(pdf.rewritten(cut, timeout_s=30))).pages
    assert [page.rotation for page in pages] == [0, 90]


def test_any_prefix_a_default_namespace_and_space_before_the_declaration_are_read() -> None:
    body = b"\r\n <?xml version='1.0'?>" + answer_file("alpha_1_parcels.xml")
    body = body.replace(b"soap:", b"S:").replace(b":soap=", b":S=")
    body = body.replace(b"<ns1:ship", b"<ship").replace(b"</ns1:", b"</").replace(b"xmlns:ns1", b"xmlns")
    label = label_of("alpha", http(body))
    assert label.tracking_numbers == ("XS000000001FR",)


def test_the_headers_are_the_protocols(serve: Serve) -> None:
    server = serve(always(*answers("alpha", 1)))
    client("alpha", f"{server.url}/shipping").create_label(shipment(), CREDENTIALS["alpha"])
    head = server.requests[0].partition(b"\r\n\r\n")[0].decode()
    assert head.startswith("POST /shipping HTTP/1.1\r\n")
    assert f"Content-Type: {XML}" in head
    assert 'SOAPAction: ""' in head
    assert "Accept-Encoding: identity" in head
    assert "Cookie" not in head


def test_an_api_key_takes_the_place_of_contract_and_password(serve: Serve) -> None:
    server = serve(always(*answers("beta", 1)))
    credentials = type(CREDENTIALS["beta"])(api_key="k-123")
    client("beta", f"{server.url}/base/").create_label(shipment("beta"), credentials)
    head, _, body = server.requests[0].partition(b"\r\n\r\n")
    assert head.startswith(b"POST /base/generateLabel HTTP/1.1\r\n")
    assert b"apiKey: k-123" in head
    assert not {"contractNumber", "password"} & set(json.loads(body))


@pytest.mark.parametrize("count", [1, 3])
@pytest.mark.parametrize("code", PRODUCTS)
def test_every_product_is_bought_and_stands_in_the_ledger(
    sandbox: SandboxServer, clients: Clients, code: str, count: int
) -> None:
    carrier = PRODUCTS[code].carrier
    shipment = order(code, count)

    label = clients[carrier].create_label(shipment, CREDENTIALS[carrier])

    rows = ledger(sandbox)
    wire_code, service = WIRE_CODES[code]
    assert tuple(row["tracking_number"] for row in rows) == label.tracking_numbers
    assert {row["carrier"] for row in rows} == {carrier}
    assert {row["reference"] for row in rows} == {shipment.id}
    assert {row["account"] for row in rows} == {CREDENTIALS[carrier].account_number}
    assert [row["weight_kg"] for row in rows] == [float(package.weight_kg) for package in shipment.packages]
    is_linked = carrier == "alpha" or "outre_mer" in code
    assert [(row["parcel_rank"], row["parcel_count"]) for row in rows] == [
        (rank, count) if is_linked else (1, 1) for rank in range(1, count + 1)
    ]
    services = {service, *OTHER_SERVICES.get(code, ())}
    assert {row["product_code"] for row in rows} <= {f"{wire_code} {each}" if each else wire_code for each in services}
    assert label.warnings == ()
    assert barcodes_of(merged(label), count) == label.tracking_numbers
    pages = texts(merged(label))
    is_declared = carrier == "beta" and DESTINATIONS.get(code) in ("RE", "GP", "US")
    assert len(pages) == count * (1 + CUSTOMS_PAGES * is_declared)
    for page, number in zip(pages[:count], label.tracking_numbers, strict=True):
        assert number in page.replace(" ", "")
        assert shipment.reference in page
    assert creates(sandbox, carrier) == (1 if carrier == "alpha" else count)


@in_one_test("country, code", [(country, home or signed) for country, home, signed, *_ in BETA_DESTINATIONS])
def test_beta_takes_every_destination_of_its_page(
    sandbox: SandboxServer, clients: Clients, country: str, code: str | None
) -> None:
    reset(sandbox)
    with nullcontext() if code else pytest.raises(RequestRejected):
        clients["beta"].create_label(order("beta", recipient={"country_code": country}), CREDENTIALS["beta"])
    assert [row["product_code"] for row in ledger(sandbox)] == [code] * (code is not None)


@pytest.mark.parametrize(
    ("code", "country"),
    [
        *(("alpha_rapide_eco", country) for country in ("FR", "MC", "AD", "BE", "CH", "GB", "PL", "PT")),
        *(("alpha_express_world", country) for country in ("FR", "MC", "AD", "BE", "CH", "GB", "PL", "PT")),
        *(("alpha_relais_europe_outre_mer", country) for country in ("FR", "MC", "BE", "PL", "PT")),
    ],
)
def test_alpha_is_sent_destinations_that_its_page_does_not_limit(
    sandbox: SandboxServer, clients: Clients, code: str, country: str
) -> None:
    recipient = {"country_code": country}
    label = clients["alpha"].create_label(order(code, recipient=recipient), CREDENTIALS["alpha"])
    assert bought(sandbox, "alpha") == label.tracking_numbers


@in_one_test("code, reference", product(PRODUCTS, ["ORDER-1", "N° 4711/2 «été»", "", "#1001", "Zażółć"]))
def test_any_reference_in_latin_letters_is_taken(
    sandbox: SandboxServer, clients: Clients, code: str, reference: str
) -> None:
    reset(sandbox)
    carrier = PRODUCTS[code].carrier
    clients[carrier].create_label(order(code, reference=reference), CREDENTIALS[carrier])
    assert len(ledger(sandbox)) == 1


@in_one_test("country, phone, email", product(["FR", "MC", "DE", "RE"], PHONES, ["soren@mail.example", ""]))
def test_any_phone_is_taken_where_none_is_needed(
    sandbox: SandboxServer, clients: Clients, country: str, phone: str, email: str
) -> None:
    reset(sandbox)
    recipient = {"country_code": country, "phone": phone, "email": email}
    sender = {"phone": phone, "email": email}
    for code in ("beta", "alpha_express_world"):
        carrier = PRODUCTS[code].carrier
        shipment = order(code, recipient=recipient, sender=sender)
        clients[carrier].create_label(shipment, CREDENTIALS[carrier])
    assert len(ledger(sandbox)) == 2


@pytest.mark.parametrize(
    "line", ["12 bis, rue de l'Église", "½ place § N°3 2ª m² 4£", "Łódzka 5/7", "Straße «Zum Bär»", "a" * 35]
)
def test_latin_text_is_taken_by_both(sandbox: SandboxServer, clients: Clients, line: str) -> None:
    for code in ("beta", "alpha-13"):
        carrier = PRODUCTS[code].carrier
        clients[carrier].create_label(order(code, recipient={"address1": line}), CREDENTIALS[carrier])
    assert len(ledger(sandbox)) == 2


@pytest.mark.parametrize(("code", "count"), [("alpha-13", 99), ("relais", 99), ("beta", 4)])
def test_the_maximum_of_parcels_is_one_label(sandbox: SandboxServer, clients: Clients, code: str, count: int) -> None:
    carrier = PRODUCTS[code].carrier
    label = clients[carrier].create_label(
        order(code, packages=(Package(Decimal("0.5")),) * count), CREDENTIALS[carrier]
    )
    assert len(set(label.tracking_numbers)) == count
    assert bought(sandbox, carrier) == label.tracking_numbers
    assert len(page_widths(merged(label))) == count

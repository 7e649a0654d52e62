"""Every product bought over HTTP, with one parcel and with several, and what the carrier is sent for it."""

import io
import json
from xml.etree import ElementTree as ET

import pypdf
import pytest

from carriers import CARRIERS
from carriers.products import PRODUCTS
from tests.carriers.conftest import Serve
from tests.carriers.support.servers import MULTIPART, XML, always, answer_file, body_of, http
from tests.carriers.support.shipments import CREDENTIALS, client, shipment

WIRE_CODES = {
    "alpha-18": ("16", "0"),
    "alpha-13": ("01", "0"),
    "alpha_jour_j": ("4I", "973"),
    "alpha_rapide_eco": ("44", "0"),
    "alpha_express_world": ("17", "0"),
    "relais": ("86", "0"),
    "alpha_relais_europe_outre_mer": ("49", "337"),
    "shop2shop": ("5E", "0"),
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


def answers(carrier: str, count: int) -> list[bytes]:
    if carrier == "alpha":
        return [http(answer_file(f"alpha_{count}_parcels.xml"))]
    files = (f"beta_parcel_{rank}.multipart" for rank in range(1, count + 1))
    return [http(answer_file(file), content_type=MULTIPART) for file in files]


def page_widths(pdf: bytes) -> list[int]:
    """The recorded labels are 281, 282, ... points wide."""
    return [round(page.mediabox.width) for page in pypdf.PdfReader(io.BytesIO(pdf)).pages]


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


@pytest.mark.parametrize("code", WIRE_CODES)
def test_a_label_of_one_parcel_is_bought_with_the_products_codes(serve: Serve, code: str) -> None:
    carrier = PRODUCTS[code].carrier
    server = serve(always(*answers(carrier, 1)))
    label = client(carrier, server.url).create_label(shipment(code), CREDENTIALS[carrier])
    assert label.tracking_numbers == (("XS000000001FR",) if carrier == "alpha" else ("6A12345678901",))
    assert page_widths(label.pdf) == [281]
    assert label.warnings == ()
    assert len(server.requests) == 1
    assert sent_codes(carrier, server.requests[0]) == WIRE_CODES[code]


@pytest.mark.parametrize("code", WIRE_CODES)
def test_several_parcels_give_one_pdf_in_parcel_order(serve: Serve, code: str) -> None:
    carrier = PRODUCTS[code].carrier
    server = serve(always(*answers(carrier, 3)))
    label = client(carrier, server.url).create_label(shipment(code, 3), CREDENTIALS[carrier])
    assert len(label.tracking_numbers) == 3
    assert sorted(label.tracking_numbers) == list(label.tracking_numbers)
    assert page_widths(label.pdf) == [281, 282, 283]
    assert len(server.requests) == (1 if carrier == "alpha" else 3)


def test_linked_calls_of_beta_name_their_followers(serve: Serve) -> None:
    server = serve(always(*answers("beta", 3)))
    client("beta", server.url).create_label(shipment("beta", 3), CREDENTIALS["beta"])
    fields = [json.loads(body_of(request))["fields"]["field"] for request in server.requests]
    links = [{field["key"]: field["value"] for field in call} for call in fields]
    counted = [{"PARCEL_ITERATION_NUMBER": str(rank), "TOTAL_NUMBER_PARCEL": "3"} for rank in (1, 2, 3)]
    assert links == [
        {"TYPE_MULTI_PARCEL": "FOLLOWER", **counted[0]},
        {"TYPE_MULTI_PARCEL": "FOLLOWER", **counted[1]},
        {
            "TYPE_MULTI_PARCEL": "MASTER",
            **counted[2],
            "LIST_FOLLOWER_PARCEL": "6A12345678901/6A12345678902",
        },
    ]


def test_version_31_of_beta_and_its_warnings_are_read(serve: Serve) -> None:
    server = serve(always(http(answer_file("beta_version_31.multipart"), content_type=MULTIPART)))
    label = client("beta", server.url).create_label(shipment("beta"), CREDENTIALS["beta"])
    assert label.tracking_numbers == ("6A12345678905",)
    assert label.warnings == ("Le champ a été tronqué",)


def test_older_answers_of_beta_are_mixed_and_start_with_the_boundary(serve: Serve) -> None:
    body = answer_file("beta_parcel_1.multipart").removeprefix(b"\r\n") + b"\r\n"
    server = serve(always(http(body, content_type="multipart/mixed; boundary=uuid:0f4a")))
    label = client("beta", server.url).create_label(shipment("beta"), CREDENTIALS["beta"])
    assert label.tracking_numbers == ("6A12345678901",)


def test_any_prefix_and_a_default_namespace_are_read(serve: Serve) -> None:
    body = answer_file("alpha_1_parcels.xml").replace(b"soap:", b"S:").replace(b":soap=", b":S=")
    body = body.replace(b"<ns1:ship", b"<ship").replace(b"</ns1:", b"</").replace(b"xmlns:ns1", b"xmlns")
    server = serve(always(http(body)))
    label = client("alpha", server.url).create_label(shipment(), CREDENTIALS["alpha"])
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


def test_an_unknown_parcel_is_found_by_its_reference_and_its_label_fetched(serve: Serve) -> None:
    tracking = serve(always(http(answer_file("alpha_found.xml"))))
    shipping = serve(always(http(answer_file("alpha_fetched.xml"))))
    alpha = client("alpha", shipping.url, tracking_url=tracking.url)
    assert alpha.can_be_asked
    numbers = alpha.find_by_reference("01JQ5ZK3M9X7ABC", CREDENTIALS["alpha"])
    assert numbers == ("XS000000001FR", "XS000000002FR")
    assert page_widths(alpha.fetch_label(numbers, CREDENTIALS["alpha"])) == [281, 281]
    search = ET.fromstring(body_of(tracking.requests[0]))[0][0]
    assert search.tag == "{http://cxf.tracking.soap.chronopost.fr/}trackWithSenderRef"
    assert [(child.tag, child.text) for child in search] == [
        ("accountNumber", "19869502"),
        ("password", "255562"),
        ("language", "fr_FR"),
        ("sendersRef", "01JQ5ZK3M9X7ABC"),
    ]
    fetch = ET.fromstring(body_of(shipping.requests[1]))[0][0]
    assert fetch.tag == "{http://cxf.shipping.soap.chronopost.fr/}getReservedSkybillWithTypeAndModeAuth"
    assert [(child.tag, child.text) for child in fetch] == [
        ("numberSearch", "XS000000002FR"),
        ("mode", "THE"),
        ("accountNumber", "19869502"),
        ("password", "255562"),
    ]

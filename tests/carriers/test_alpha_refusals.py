"""alpha's refusals in the API's own words: field, cause and remedy; and who they are blamed on."""

from decimal import Decimal
from typing import Any

import pytest

from carriers.alpha.refusals import FIELDS
from carriers.client import Limits
from carriers.errors import (
    AddressRejected,
    CarrierError,
    CarrierUnavailable,
    CredentialsRejected,
    OutcomeUnknown,
    ProductNotInContract,
    RequestRejected,
)
from carriers.sandbox.server import SandboxServer
from carriers.shipment import Customs, CustomsItem, Package
from tests.carriers.conftest import Serve
from tests.carriers.sandbox.control import ledger
from tests.carriers.support.refusals import alpha_refusal, refusal
from tests.carriers.support.sandbox import faulty, order, sandbox_clients
from tests.carriers.support.servers import always, answer_file, http
from tests.carriers.support.shipments import CREDENTIALS, client
from tests.support.cases import in_one_test

ALPHA = CREDENTIALS["alpha"]


@in_one_test(
    "code, text, field, said",
    [
        (38, "Routing not found", "destinationAddress.zip", "the postal code does not fit the country"),
        (
            38,
            "Routing not found: recipientCountry and recipientZipCode do not fit",
            "destinationAddress.zip",
            "destinationAddress.countryCode and destinationAddress.zip do not fit",
        ),
        (
            38,
            "Routing not found: shipperCountry and shipperZipCode do not fit",
            "originAddress.zip",
            "originAddress.countryCode and originAddress.zip do not fit",
        ),
        (35, "Code Service GeoPost not found", "productCode", "order another product"),
        (31, "empty value: recipientCity", "destinationAddress.city", "empty value: destinationAddress.city"),
        (32, "incorrect length: shipperAdress1", "originAddress.address1", "originAddress.address1"),
        (31, "empty value: recipientPhone", "destinationAddress.phone", "destinationAddress.phone"),
        (33, "invalid data: idRelais", "pickupPointCode", "invalid data: pickupPointCode"),
        (33, "invalid data: customerZipCode", "originAddress.zip", "invalid data: originAddress.zip"),
        (31, "empty value: content1", "customs", "empty value: customs"),
        *((31, f"empty value: content{rank}", "customs", "empty value: customs") for rank in range(2, 6)),
        (33, "invalid data: insuredValue", "insuredValue", "a value is malformed"),
        (34, "not a number", "", "give a number"),
        (
            33,
            "invalid data: recipientAdress1 rue du Contrat Social",
            "destinationAddress.address1",
            "a value is malformed",
        ),
        (33, "invalid data: recipientRef CONTRACT 12", "reference", "a value is malformed"),
        (33, "invalid data: Accountable Contractors", "", "a value is malformed"),
        (33, "contractNumber: not allowed", "productCode", "the contract does not include the product"),
        (33, "invalid data: productCode", "productCode", "the contract does not include the product"),
        (33, "This contract may not make labels", "productCode", "the contract does not include the product"),
        (30, "invalid contract number", "", "set the account number and password"),
        (33, "Invalid accesColis account number", "", "lacks this service"),
        (1, "System error", "", "order again later"),
    ],
)
def test_a_refusal_names_our_field_cause_and_remedy(code: int, text: str, field: str, said: str) -> None:
    failure = refusal("alpha", alpha_refusal(code, text))
    assert failure.field == field
    assert said in str(failure)
    assert str(failure).startswith(f"{field}: " if field else failure.summary)
    assert not [name for name in FIELDS if name != FIELDS[name] and name in str(failure)]


@pytest.mark.parametrize(
    ("changes", "echo"),
    [
        *(
            ({"recipient": {"address1": street}}, echo)
            for street, echo in (
                ("12 rue du Contrat Social", "12 RUE DU CONTRAT SOCIAL"),
                ("12 rue du Contrat-Social", "12 RUE DU CONTRAT SOCIAL"),
                ("12 rue du Contrat Social", "12 RUE DU CONTRAT SOC"),
                ("4 Product Road", "4 PRODUCT ROAD"),
            )
        ),
        ({"reference": "Contrat 12"}, "CONTRAT 12"),
        ({"packages": (Package(Decimal(1), reference="Compte 7-B"),)}, "COMPTE 7-B"),
        ({"customs": Customs((CustomsItem("Produits cosmétiques", 1, Decimal(5)),))}, "Produits cosmetiques"),
    ],
)
def test_an_orders_words_that_are_echoed_whole_or_in_part_decide_nothing(changes: dict[str, Any], echo: str) -> None:
    failure = refusal("alpha", alpha_refusal(33, f"invalid data: {echo}"), **changes)
    assert (type(failure), failure.code) == (RequestRejected, "ALPHA_REQUEST_REJECTED")


def test_a_company_with_the_name_of_a_field_is_no_field() -> None:
    answer = alpha_refusal(33, "invalid data: shipperCity Ltd")
    failure = refusal("alpha", answer, recipient={"company": "shipperCity Ltd"})
    assert (type(failure), failure.field) == (RequestRejected, "")


@in_one_test("text", ["Product not allowed", "This contract may not make labels", "Produits non autorises"])
@in_one_test("words", ["Product Studio", "Les Produits du Terroir", "Social Contract SARL"])
def test_single_words_of_an_order_hide_no_refusal_of_the_product(words: str, text: str) -> None:
    changed = {"company": words, "address1": words, "address2": "-"}
    failure = refusal("alpha", alpha_refusal(33, text), recipient=changed)
    assert (type(failure), failure.field) == (ProductNotInContract, "productCode")


@pytest.mark.parametrize(
    "changes", [{"reference": "Product"}, {"customs": Customs((CustomsItem("product", 1, Decimal(5)),))}]
)
def test_goods_of_one_word_hide_no_refusal_of_the_product(changes: dict[str, Any]) -> None:
    assert type(refusal("alpha", alpha_refusal(33, "Product not allowed"), **changes)) is ProductNotInContract


@in_one_test("text", ["Invalid accesColis  account\nnumber", "Invalid identWebPro password"])
@in_one_test("company", ["Number One", "Password & Account SARL", "Invalid Records"])
def test_a_customers_words_hide_no_refusal_of_the_credentials(company: str, text: str) -> None:
    assert type(refusal("alpha", alpha_refusal(33, text), recipient={"company": company})) is CredentialsRejected


def encoded(encoding: str, text: str, prolog: str = "") -> bytes:
    """Return a refusal in an encoding that it declares."""
    document = f'<?xml version="1.0" encoding="{encoding}"?>{prolog}{answer_file("alpha_refusal.xml").decode()}'
    return http(document.replace("@CODE@", "38").replace("@TEXT@", text).encode(encoding))


@pytest.mark.parametrize("encoding", ["ISO-8859-1", "iso-8859-15", "windows-1252", "UTF-8", "utf-16"])
def test_an_answer_is_read_in_the_encoding_that_it_declares(encoding: str) -> None:
    failure = refusal("alpha", encoded(encoding, "Routing erroné"))
    assert type(failure) is AddressRejected
    assert failure.carrier_text == "Routing erroné"


@pytest.mark.parametrize("start", ["\n", "\ufeff", "\ufeff\r\n"], ids=ascii)
def test_a_byte_order_mark_or_an_empty_line_may_precede_the_declaration(start: str) -> None:
    body = encoded("UTF-8", "Routing erroné").partition(b"\r\n\r\n")[2]
    failure = refusal("alpha", http(start.encode() + body))
    assert type(failure) is AddressRejected
    assert failure.carrier_text == "Routing erroné"


def test_an_encoding_that_nobody_knows_leaves_the_outcome_open() -> None:
    unknown = encoded("windows-1252", "erroné").replace(b"windows-1252", b"windows-1259")
    assert type(refusal("alpha", unknown)) is OutcomeUnknown


def test_a_doctype_is_refused_in_any_encoding() -> None:
    answer = encoded("ISO-8859-1", "&x;", prolog='<!DOCTYPE a [<!ENTITY x "\xe9">]>')
    assert type(refusal("alpha", answer)) is OutcomeUnknown


@pytest.mark.parametrize("status", [401, 403])
@pytest.mark.parametrize("body", [b"", b"<html>Forbidden</html>", b"no"])
def test_html_or_nothing_is_an_outage_whatever_its_status(serve: Serve, status: int, body: bytes) -> None:
    failure = refusal("alpha", http(body, status))
    assert type(failure) is OutcomeUnknown
    assert failure.http_status == status
    server = serve(always(http(body, status)))
    with pytest.raises(CarrierUnavailable):
        client("alpha", server.url).fetch_label("01JQ5ZK3M9X7ABC", ALPHA)


@pytest.mark.parametrize("status", [200, 401, 403, 503])
def test_a_page_in_front_of_the_tracking_service_is_an_outage(serve: Serve, status: int) -> None:
    server = serve(always(http(b"<html>Are you a robot?</html>", status, "text/html")))
    alpha = client("alpha", server.url, tracking_url=server.url)
    errors = {
        alpha.find_by_reference: CarrierUnavailable,
        alpha.proof_of_delivery: CarrierUnavailable,
        alpha.cancel: OutcomeUnknown,
    }
    for ask, error in errors.items():
        with pytest.raises(error):
            ask("01JQ5ZK3M9X7ABC", ALPHA)


@pytest.mark.parametrize("code", ["29", "30", "31", "32", "33", "34", "35", "38", "contract", "colisacct", "777"])
def test_what_one_shop_causes_stops_no_other(sandbox: SandboxServer, code: str) -> None:
    alpha = sandbox_clients(sandbox, Limits(failure_threshold=2))["alpha"]
    for _ in range(4):
        with pytest.raises(CarrierError):
            alpha.create_label(faulty("alpha", code), ALPHA)
    alpha.create_label(order("alpha-13"), ALPHA)
    assert len(ledger(sandbox)) == 1


def test_a_long_text_is_cut_and_a_field_in_it_still_ours() -> None:
    failure = refusal("alpha", alpha_refusal(31, "empty value: recipientCity " + "x " * 5000))
    assert type(failure) is RequestRejected
    assert failure.field == "destinationAddress.city"
    assert len(failure.carrier_text) <= 200

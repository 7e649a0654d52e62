"""Refusals: every error code of both protocol pages, the other known forms of answers, and the sandbox's rules."""

import json
from typing import Any

import pytest

from carriers.alpha import refusals as alpha
from carriers.beta.answers import MAX_JSON_BYTES
from carriers.errors import (
    AddressRejected,
    CancellationRefused,
    CarrierError,
    CarrierUnavailable,
    CredentialsRejected,
    OutcomeUnknown,
    PickupPointRejected,
    ProductNotInContract,
    Rejected,
    RequestRejected,
)
from carriers.products import PRODUCTS
from carriers.sandbox.server import SandboxServer
from carriers.shipment import Credentials, PurchasedLabel
from tests.carriers.conftest import Clients, Serve
from tests.carriers.sandbox.control import ledger
from tests.carriers.support.refusals import alpha_refusal, beta_refusal, messages, refusal
from tests.carriers.support.sandbox import creates, faulty, order, received, reset
from tests.carriers.support.servers import MULTIPART, always, answer_file, http
from tests.carriers.support.shipments import CREDENTIALS, PRODUCT, client, shipment
from tests.carriers.test_beta_refusals import CODES as BETA_CODES
from tests.support.cases import in_one_test

# Copied from the pages by hand, not from the clients' tables.
ALPHA_ROWS: list[tuple[int, str, type[CarrierError]]] = [
    (1, "System error", CarrierUnavailable),
    (29, "System error", CarrierUnavailable),
    (30, "invalid contract number", CredentialsRejected),
    (31, "empty", RequestRejected),
    (32, "incorrect length", RequestRejected),
    (34, "not a number", RequestRejected),
    (33, "invalid data", RequestRejected),
    (33, "Invalid accesColis account number", CredentialsRejected),
    (33, "Invalid accesColis password", CredentialsRejected),
    (33, "Invalid identWebPro password", CredentialsRejected),
    (33, "This contract may not make labels for this product", ProductNotInContract),
    (33, "Le compte ne permet pas ce produit", ProductNotInContract),
    (33, "productCode not allowed", ProductNotInContract),
    (33, "Account 19869502 has no such service", ProductNotInContract),
    (35, "Code Service GeoPost not found", RequestRejected),
    (36, "file", CarrierUnavailable),
    (37, "number allocation", CarrierUnavailable),
    (38, "Routing not found", AddressRejected),
    (777, "undocumented", OutcomeUnknown),
    (-1, "undocumented", OutcomeUnknown),
]
API_CODES = {
    ProductNotInContract: "PRODUCT_NOT_IN_CONTRACT",
    AddressRejected: "ADDRESS_REJECTED",
    PickupPointRejected: "PICKUP_POINT_REJECTED",
    RequestRejected: "REQUEST_REJECTED",
    CancellationRefused: "CANCELLATION_REFUSED",
    CredentialsRejected: "CREDENTIALS_REJECTED",
    CarrierUnavailable: "UNAVAILABLE",
    OutcomeUnknown: "OUTCOME_UNKNOWN",
}


@in_one_test("code, text, error", ALPHA_ROWS)
def test_every_code_of_alpha_has_its_class(code: int, text: str, error: type[CarrierError]) -> None:
    failure = refusal("alpha", alpha_refusal(code, text))
    assert type(failure) is error
    assert failure.code == f"ALPHA_{API_CODES[error]}"
    assert (failure.carrier_code, failure.http_status) == (str(code), 200)
    assert failure.is_nothing_made == (error is not OutcomeUnknown)
    assert failure.carrier_text.startswith(text.partition(" ")[0])
    assert failure.is_carrier_failing == (code in {1, 36, 37})


def test_the_tables_hold_the_codes_of_the_pages_and_no_others() -> None:
    assert set(alpha.REFUSALS) == {str(code) for code, _, _ in ALPHA_ROWS} - {"777", "-1"}


def test_a_soap_fault_leaves_the_outcome_unknown() -> None:
    failure = refusal("alpha", http(answer_file("alpha_fault.xml"), 500))
    assert type(failure) is OutcomeUnknown
    assert not failure.is_carrier_failing  # one order may have caused it
    assert (failure.carrier_code, failure.http_status) == ("Server", 500)
    assert "Fault occurred while processing." in str(failure)


@in_one_test(
    "document, status, error",
    [
        (messages("30204"), 200, AddressRejected),
        ({"messages": [{"id": 30204, "type": "ERROR", "messageContent": "x"}]}, 400, AddressRejected),
        ({"messages": {"id": "30204", "type": "ERROR", "messageContent": "x"}}, 400, AddressRejected),
        ({"messages": [{"id": 30204.0, "type": "ERROR", "messageContent": "x"}]}, 400, AddressRejected),
        ({"messages": [{"id": " 30204\n", "type": "ERROR ", "messageContent": "x"}]}, 200, AddressRejected),
        ({"messages": [{"id": "\ufeff30204", "type": "ERROR", "messageContent": "x"}]}, 400, AddressRejected),
        (messages("39999", "30204"), 400, AddressRejected),
        (messages("30204", kind="INFOS"), 500, AddressRejected),
        (messages("0", kind="INFOS"), 500, OutcomeUnknown),
        (messages("39999"), 503, OutcomeUnknown),
        ({"error": "Internal Server Error", "message": "again later"}, 500, OutcomeUnknown),
        ({"error": "Bad Request", "message": "no"}, 400, OutcomeUnknown),
        ({"errors": [{"code": "30000", "message": "no"}]}, 401, CredentialsRejected),
        ({"errors": [{"code": "WHO", "message": "no"}]}, 400, OutcomeUnknown),
        ({"errorCode": "30700", "errorLabel": "no"}, 400, ProductNotInContract),
        ({"errorCode": 40015, "errorLabel": "no"}, 503, CarrierUnavailable),
        ({"messageContent": "x"}, 500, OutcomeUnknown),
        ({"id": "30204", "type": "ERROR", "messageContent": "x"}, 500, AddressRejected),
        ({"id": "30204", "messageContent": "x"}, 200, AddressRejected),
        ({"id": "0", "type": "INFOS", "messageContent": "x"}, 200, OutcomeUnknown),
        ({}, 500, OutcomeUnknown),
        ({"messages": []}, 400, OutcomeUnknown),
        ({"messages": "none"}, 400, OutcomeUnknown),
        ({"errorCode": "0"}, 200, OutcomeUnknown),
        (messages("0", kind="INFOS"), 200, OutcomeUnknown),
        (messages("30219", kind="WARNING"), 200, OutcomeUnknown),
    ],
)
def test_every_shape_of_an_answer_of_beta_is_read(
    document: dict[str, Any], status: int, error: type[CarrierError]
) -> None:
    assert type(refusal("beta", beta_refusal(document, status))) is error


@pytest.mark.parametrize(
    ("head", "end"), [(b"\r\n--uuid:0f4a\r\nContent-ID: <jsonInfos>\r\n\r\n", b"\r\n--uuid:0f4a--"), (b"\r\n", b"")]
)
def test_a_refusal_of_beta_may_come_as_multipart_or_be_said_to(head: bytes, end: bytes) -> None:
    failure = refusal("beta", http(head + json.dumps(messages("30401")).encode() + end, 400, MULTIPART))
    assert type(failure) is PickupPointRejected


def test_too_long_json_is_not_read() -> None:
    document = messages("30204") | {"padding": "x" * MAX_JSON_BYTES}
    assert type(refusal("beta", beta_refusal(document))) is OutcomeUnknown


@in_one_test(
    "carrier, credentials",
    [
        ("alpha", Credentials("1986950", "255562")),
        ("alpha", Credentials("1986950x", "255562")),
        ("alpha", Credentials("19869502", "25556")),
        ("alpha", Credentials()),
        ("beta", Credentials("804735")),
        ("beta", Credentials(api_key="key\r\nX-Other: 1")),
        ("beta", Credentials("804735", "secret", api_key="clé")),
        ("beta", Credentials()),
    ],
)
def test_malformed_credentials_are_never_sent(serve: Serve, carrier: str, credentials: Credentials) -> None:
    server = serve(always(b""))
    buyer = client(carrier, server.url, tracking_url=server.url)
    with pytest.raises(CredentialsRejected):
        buyer.create_label(shipment(PRODUCT[carrier]), credentials)
    if buyer.can_be_asked:
        with pytest.raises(CredentialsRejected):
            buyer.find_by_reference("01JQ5ZK3M9X7ABC", credentials)
        with pytest.raises(CredentialsRejected):
            buyer.fetch_label("10000000000000042", credentials)
        with pytest.raises(CredentialsRejected):
            buyer.cancel("XS000000001FR", credentials)
    assert server.connections == 0


def test_the_tree_is_the_one_that_its_docstring_draws() -> None:
    assert {error for error in API_CODES if issubclass(error, Rejected)} == set(Rejected.__subclasses__())
    assert set(CarrierError.__subclasses__()) == {Rejected, CarrierUnavailable, OutcomeUnknown}
    for error, suffix in API_CODES.items():
        assert error("alpha").code == f"ALPHA_{suffix}"
    assert not OutcomeUnknown("alpha").is_nothing_made
    assert not CarrierUnavailable("beta", made=PurchasedLabel(("6A1",))).is_nothing_made


@in_one_test(
    "carrier, code, error",
    [
        *(("alpha", str(code), error) for code, text, error in ALPHA_ROWS if text != "undocumented" and code != 33),
        ("alpha", "33", RequestRejected),
        ("alpha", "contract", ProductNotInContract),
        ("alpha", "colisacct", CredentialsRejected),
        ("alpha", "colispwd", CredentialsRejected),
        ("alpha", "webpropwd", CredentialsRejected),
        ("alpha", "badformat", RequestRejected),
        ("alpha", "777", OutcomeUnknown),
        *(("beta", code, error) for code, error, _ in BETA_CODES if code.isdigit()),
        ("beta", "39999", OutcomeUnknown),
        ("beta", "ROUTING", OutcomeUnknown),
        ("beta", "contract", ProductNotInContract),
    ],
)
def test_every_code_of_the_sandbox_has_its_class_and_nothing_is_bought(
    sandbox: SandboxServer, clients: Clients, carrier: str, code: str, error: type[CarrierError]
) -> None:
    reset(sandbox)
    with pytest.raises(CarrierError) as caught:
        clients[carrier].create_label(faulty(carrier, code), CREDENTIALS[carrier])
    assert type(caught.value) is error
    assert caught.value.is_nothing_made == (error is not OutcomeUnknown)
    assert caught.value.carrier_text
    assert ledger(sandbox) == []
    assert creates(sandbox, carrier) == 1


@pytest.mark.parametrize(
    ("carrier", "credentials", "error"),
    [
        ("alpha", Credentials("19869502", "000000"), CredentialsRejected),
        ("alpha", Credentials("19000030", "255562"), CredentialsRejected),
        ("alpha", Credentials("19000029", "255562"), CarrierUnavailable),
        ("alpha", Credentials("19000033", "255562"), ProductNotInContract),
        ("alpha", Credentials("19000133", "255562"), CredentialsRejected),
        ("alpha", Credentials("19000233", "255562"), CredentialsRejected),
        ("alpha", Credentials("19000333", "255562"), CredentialsRejected),
        ("beta", Credentials("30000", "secret"), CredentialsRejected),
        ("beta", Credentials("30007", "secret"), CredentialsRejected),
        ("beta", Credentials("30008", "secret"), CredentialsRejected),
        ("beta", Credentials("30009", "secret"), ProductNotInContract),
        ("beta", Credentials("30700", "secret"), ProductNotInContract),
        ("beta", Credentials(api_key="key-30000"), CredentialsRejected),
        ("beta", Credentials(api_key="key-30700"), ProductNotInContract),
    ],
)
def test_a_contract_that_is_refused_buys_nothing(
    sandbox: SandboxServer, clients: Clients, carrier: str, credentials: Credentials, error: type[CarrierError]
) -> None:
    with pytest.raises(error):
        clients[carrier].create_label(order(PRODUCT[carrier]), credentials)
    assert ledger(sandbox) == []


def test_what_is_refused_before_it_is_sent_reaches_no_carrier(sandbox: SandboxServer, clients: Clients) -> None:
    for code in PRODUCTS:
        carrier = PRODUCTS[code].carrier
        with pytest.raises(CarrierError) as caught:
            clients[carrier].create_label(
                order(code, recipient={"first_name": "", "last_name": "☃"}), CREDENTIALS[carrier]
            )
        assert caught.value.field == "destinationAddress.lastName"
    assert received(sandbox) == {}

"""Checks of contracts: credentials and products, as the carriers answer about them."""

import json
from datetime import date, timedelta
from functools import partial
from typing import Any

import pytest

from carriers import CARRIERS
from carriers.base import Carrier, Endpoint
from carriers.errors import CarrierUnavailable, CredentialsRejected
from carriers.products import PRODUCTS
from carriers.sandbox.server import SandboxServer
from carriers.shipment import Credentials, ProductOverride
from carriers.trials import SAMPLE_SENDER, Finding, Terms, Trial
from tests.carriers.conftest import Serve, SetTime
from tests.carriers.support.sandbox import bought, received, sandbox_clients
from tests.carriers.support.servers import LoopbackServer, always, answer_file, asked, body_of, http
from tests.carriers.support.shipments import ALPHA_CONTRACT, CREDENTIALS, LENIENT, SATURDAY_IN_PARIS, client, shipment


def terms(carrier: str, **overrides: ProductOverride) -> Terms:
    own = [code for code, product in PRODUCTS.items() if product.carrier == carrier]
    return Terms(dict.fromkeys(own) | overrides, SAMPLE_SENDER, "Bougies")


def one(product_code: str, override: ProductOverride | None = None) -> Terms:
    return Terms({product_code: override}, SAMPLE_SENDER, "Bougies")


def verdicts(findings: list[Finding]) -> dict[str, str]:
    return {finding.product_code: finding.verdict for finding in findings}


def alpha(url: str) -> Carrier:
    return CARRIERS["alpha"](Endpoint(url, quickcost_url=f"{url}/products"), LENIENT)


def products(*codes: str, error: str = "0") -> bytes:
    """An answer as it was recorded: no leading zeros, amounts of 0.0."""
    listed = "".join(
        f"<productList><amount>0.0</amount><amountTTC>0.0</amountTTC><amountTVA>0.0</amountTVA>"
        f"<productCode>{code}</productCode></productList>"
        for code in codes
    )
    return http(
        '<soap:Envelope xmlns:soap="http://schemas.xmlsoap.org/soap/envelope/"><soap:Body>'
        '<ns1:calculateProductsResponse xmlns:ns1="http://cxf.quickcost.soap.chronopost.fr/"><return>'
        f"<errorCode>{error}</errorCode><errorMessage>x</errorMessage>{listed}"
        "</return></ns1:calculateProductsResponse></soap:Body></soap:Envelope>".encode()
    )


def test_alphas_products_are_asked_for_each_place_and_their_codes_padded(serve: Serve) -> None:
    server = serve(always(products("1", "2", "16"), products("44"), products("4P"), products(error="5")))
    found = alpha(server.url).check_contract(terms("alpha"), CREDENTIALS["alpha"])
    assert verdicts(found) == {
        "alpha-18": "included",
        "alpha-13": "included",
        "alpha_jour_j": "missing",
        "alpha_rapide_eco": "included",
        "alpha_express_world": "missing",
        "relais": "missing",
        "alpha_relais_europe_outre_mer": "missing",
        "shop2shop": "missing",
        "alpha_2shopdirect": "missing",
    }
    details = {finding.product_code: finding.detail for finding in found}
    assert details["alpha-13"] == "the contract has 01"
    assert details["alpha_relais_europe_outre_mer"] == "the contract lacks 49"
    assert asked(server) == (
        "{http://cxf.quickcost.soap.chronopost.fr/}calculateProducts",
        [
            *ALPHA_CONTRACT,
            *(("depCountryCode", "FR"), ("depZipCode", "69002"), ("arrCountryCode", "FR"), ("arrZipCode", "75001")),
            *(("arrCity", "Paris"), ("type", "M"), ("weight", "1")),
        ],
    )
    assert len(server.requests) == 4


@pytest.mark.usefixtures("monday")
@pytest.mark.parametrize(
    ("written", "day"),
    [
        ("2026-03-04T18:00:00+01:00", 4),
        ("2026-03-03T23:30:00Z", 4),
        ("2026-03-02", 2),
        ("2026-03-01T18:00:00+01:00", None),  # before it is handed in
        ("1970-01-01T01:00:00+01:00", None),
        ("soon", None),
        ("", None),
    ],
)
def test_alphas_day_of_arrival_is_that_of_paris(serve: Serve, written: str, day: int | None) -> None:
    promise = products().replace(b"calculateProducts", b"calculateDeliveryTime")
    promise = http(body_of(promise).replace(b"</return>", f"<date>{written}</date></return>".encode()))
    server, trial = serve(always(products("1"), promise)), Trial()
    alpha(server.url).try_order(shipment(), CREDENTIALS["alpha"], trial)
    assert trial.delivery_day == (day and date(2026, 3, day))
    assert asked(server, 1)[1] == [
        *(("depCountryCode", "FR"), ("depZipCode", "69002"), ("arrCountryCode", "FR"), ("arrZipCode", "75011")),
        *(("arrCity", "Paris"), ("productCode", "1"), ("type", "M"), ("service", "0")),
        ("shippingDate", "2026-03-02T12:00:00"),
    ]


@pytest.mark.usefixtures("monday")
@pytest.mark.parametrize(
    ("promise", "day"),
    [
        ({"errorCode": "OK", "deliveryDate": "04/03/2026"}, 4),
        ({"errorCode": "OK", "deliveryDate": "2026-03-04"}, None),
        ({"errorCode": "NO_DATE", "message": "x", "deliveryDate": "04/03/2026"}, None),
        ({"deliveryDate": "04/03/2026"}, None),
    ],
)
def test_betas_day_of_arrival_is_what_it_promises(serve: Serve, promise: dict[str, str], day: int | None) -> None:
    of_account = FACTS | {"statutTunnelCommande": True}
    server = serve(always(answered("0"), *(http(json.dumps(each).encode()) for each in (of_account, promise))))
    url, trial = server.url, Trial()
    CARRIERS["beta"](Endpoint(url, account_url=url, delivery_url=url), LENIENT).try_order(
        shipment("beta"), CREDENTIALS["beta"], trial
    )
    assert (trial.refusal, trial.delivery_day) == (None, day and date(2026, 3, day))
    asked_for = {"zipCodeDest": "75011", "regateDepart": "690470", "depositDate": "2026-03-02"}
    assert json.loads(body_of(server.requests[2]))["data"] == asked_for


@pytest.mark.parametrize(
    ("days", "product_code", "override", "service"),
    [
        (0, "alpha_jour_j", None, "6"),  # on Saturday
        (2, "alpha_jour_j", None, "0"),
        (2, "alpha_jour_j", ProductOverride("4I", "974"), "6"),
        (2, "alpha-13", ProductOverride("01", "6"), "6"),
        (2, "alpha-13", ProductOverride("01", "1"), "0"),
        (5, "alpha_express_world", ProductOverride("4P", "369"), "6"),  # on Thursday
        (2, "alpha_express_world", ProductOverride("4P", "369"), "0"),
        (0, "alpha_express_world", ProductOverride("4P", "368"), "0"),
    ],
)
def test_alphas_day_of_arrival_may_be_a_saturday_as_it_is_bought(
    serve: Serve, at: SetTime, days: int, product_code: str, override: ProductOverride | None, service: str
) -> None:
    at(SATURDAY_IN_PARIS + timedelta(days=days))
    server = serve(always(products("1", "4I", "4P")))
    alpha(server.url).try_order(shipment(product_code, override=override), CREDENTIALS["alpha"], Trial())
    assert ("service", service) in asked(server, 1)[1]


def test_alphas_products_are_asked_for_the_postal_codes_that_it_prints(serve: Serve) -> None:
    server = serve(always(products("17")))
    ordered = shipment(
        "alpha_express_world", sender={"zip_code": " 69\uff10\uff10\uff12"}, recipient={"zip_code": "10001-1234"}
    )
    alpha(server.url).try_order(ordered, CREDENTIALS["alpha"], Trial())
    for number in range(2):  # about products, then about the day
        assert {("depZipCode", "69002"), ("arrZipCode", "10001")} <= set(asked(server, number)[1])
    assert len(server.requests) == 2


def test_alphas_override_is_what_is_looked_for(serve: Serve) -> None:
    server = serve(always(products("2")))
    found = alpha(server.url).check_contract(one("alpha-18", ProductOverride("02")), CREDENTIALS["alpha"])
    assert verdicts(found) == {"alpha-18": "included"}


def test_without_a_quickcost_url_alpha_cannot_be_asked(serve: Serve) -> None:
    server = serve(always(b""))
    with pytest.raises(CarrierUnavailable, match="no service to ask"):
        client("alpha", server.url).check_contract(one("alpha-13"), CREDENTIALS["alpha"])
    assert server.requests == []


def answered(codes: str, status: int = 400) -> bytes:
    messages: list[dict[str, Any]] = [
        {"id": code, "type": "INFOS" if code == "0" else "ERROR", "messageContent": "x", "replacementValues": []}
        for code in codes.split()
    ]
    body = json.dumps({"messages": messages, "labelV2Response": None}).encode()
    return http(body, status, content_type="application/json;charset=UTF-8")


@pytest.mark.parametrize(
    ("answer", "verdict"),
    [
        (answered("0", 200), "included"),
        (answered("30009"), "missing"),
        (answered("30700"), "missing"),
        (answered("30015"), "open"),
        (answered("30213"), "open"),
        (answered("30300"), "open"),
        (answered("30401 30009"), "missing"),
        (answered("30204 30700"), "missing"),
    ],
)
def test_betas_answer_to_a_sample_tells_about_the_product(serve: Serve, answer: bytes, verdict: str) -> None:
    server = serve(always(answer))
    found = client("beta", f"{server.url}/2.0").check_contract(one("beta"), CREDENTIALS["beta"])
    assert verdicts(found) == {"beta": verdict}
    assert server.requests[0].startswith(b"POST /2.0/checkGenerateLabel ")
    body: dict[str, Any] = json.loads(body_of(server.requests[0]))
    assert (body["contractNumber"], body["password"]) == ("804735", "s3cret-Pass")
    assert body["letter"]["service"]["productCode"] == "DOS" or body["letter"]["service"]["productCode"] == "DOM"


@pytest.mark.parametrize(
    ("codes", "is_the_points"), [("30401", True), ("30401 30903", True), ("30401 30300", False), ("30300 30401", False)]
)
def test_betas_refusal_of_the_samples_point_alone_is_said_to_be_no_more(
    serve: Serve, codes: str, is_the_points: bool
) -> None:
    buyer = client("beta", serve(always(answered(codes))).url)
    (finding,) = buyer.check_contract(one("beta_point_retrait_france"), CREDENTIALS["beta"])
    assert finding.verdict == "open"
    assert ("only the sample's pickup point" in finding.detail) == is_the_points


@pytest.mark.parametrize("product_code", ["beta_point_retrait_france", "beta_point_retrait_europe"])
def test_nothing_but_the_point_is_wrong_with_the_sample_of_a_pickup_product(
    product_code: str, sandbox: SandboxServer
) -> None:
    (finding,) = sandbox_clients(sandbox)["beta"].check_contract(one(product_code), CREDENTIALS["beta"])
    assert finding.detail == "the carrier refused only the sample's pickup point"


FACTS = {
    "contractType": "FACILITE",
    "statutHD": True,
    "statutTunnelCommande": False,
    "hazmatCategories": ["A", "B"],
    "siteDepotList": [{"codeRegate": "690470", "libellepfc": "LYON PFC"}, {"codeRegate": "750001"}],
    "cgv": {"accepted": False},
    "provider": "COLISSIMO-V2",
    "messageErreur": None,
}


def account(serve: Serve, answer: bytes) -> tuple[Carrier, LoopbackServer]:
    server = serve(always(answer))
    return CARRIERS["beta"](Endpoint("http://127.0.0.1:9", account_url=f"{server.url}/info"), LENIENT), server


@pytest.mark.parametrize(
    ("credentials", "body"),
    [
        (Credentials("804735", "x"), {"credential": {"login": "804735", "password": "x"}}),
        (Credentials("804735", api_key="k"), {"credential": {"apiKey": "k"}, "partnerClientCode": "804735"}),
        (
            Credentials("804735", "x", parent_account_number="900001"),
            {"credential": {"login": "804735", "password": "x"}, "partnerClientCode": "804735"},
        ),
    ],
)
def test_betas_account_is_described_in_words(serve: Serve, credentials: Credentials, body: dict[str, Any]) -> None:
    beta, server = account(serve, http(json.dumps(FACTS).encode(), content_type="application/json"))
    assert beta.describe_account(credentials) == {
        "Contract": "FACILITE",
        "Kind of account": "new: its own parent, with a password",
        "Pickup points": "yes",
        "Day of delivery": "no",
        "Hazardous categories": "A, B",
        "General terms accepted": "no",
        "Deposit sites": "LYON PFC, 750001",
    }
    assert server.requests[0].startswith(b"POST /info ")
    assert json.loads(body_of(server.requests[0])) == body


@pytest.mark.parametrize(
    ("asked_of", "answer", "error"),
    [
        ("alpha", products(error="3"), CredentialsRejected),
        ("alpha", products(error="1"), CarrierUnavailable),
        ("alpha", products(error="77"), CarrierUnavailable),
        ("alpha", http(answer_file("alpha_fault.xml"), 500), CarrierUnavailable),
        ("alpha", http(b"<html>", 502), CarrierUnavailable),
        ("beta", answered("30000", 403), CredentialsRejected),
        ("beta", answered("30007", 403), CredentialsRejected),
        ("beta", answered("30204 30008"), CredentialsRejected),
        ("beta", http(b"Forbidden", 403), CredentialsRejected),
        ("beta", answered("30701"), CarrierUnavailable),
        ("beta", http(b'{"error": "Unprocessable"}', 422), CarrierUnavailable),
        ("beta", http(b"<html>", 500), CarrierUnavailable),
        ("account", http(b'{"messageErreur": "Identifiant inconnu"}'), CredentialsRejected),
        ("account", http(b"Forbidden", 403), CredentialsRejected),
        ("account", http(b"<html>", 503), CarrierUnavailable),
        ("account", http(b"{}"), CarrierUnavailable),
        ("account", http(b'{"provider": "COLISSIMO-V1"}', 500), CarrierUnavailable),
        ("account", http(b'{"messageErreur": "Erreur technique"}', 500), CarrierUnavailable),
        ("account", http(b'{"messageErreur": "Acces refuse"}', 403), CredentialsRejected),
    ],
)
def test_every_refusal_has_its_class(serve: Serve, asked_of: str, answer: bytes, error: type[Exception]) -> None:
    beta, server = account(serve, answer)
    asks: dict[str, Any] = {
        "account": partial(beta.describe_account, CREDENTIALS["beta"]),
        "alpha": partial(alpha(server.url).check_contract, one("alpha-13"), CREDENTIALS["alpha"]),
        "beta": partial(client("beta", server.url).check_contract, terms("beta"), CREDENTIALS["beta"]),
    }
    with pytest.raises(error):
        asks[asked_of]()
    assert len(server.requests) == 1  # the next samples would tell nothing else


def test_strange_facts_of_an_account_are_left_out(serve: Serve) -> None:
    strange = {
        "provider": 3,
        "statutHD": {},
        "siteDepotList": 7,
        "cgv": [],
        "hazmatCategories": [1],
        "contractType": [],
    }
    beta, _ = account(serve, http(json.dumps(strange).encode()))
    assert beta.describe_account(CREDENTIALS["beta"]) == {"Kind of account": "3"}


def test_without_an_account_url_nothing_is_known_of_an_account(serve: Serve) -> None:
    server = serve(always(b""))
    for carrier in CARRIERS:
        assert client(carrier, server.url).describe_account(CREDENTIALS[carrier]) == {}
    assert server.requests == []


def test_the_sandbox_tells_right_and_wrong_credentials_and_buys_nothing(sandbox: SandboxServer) -> None:
    clients = sandbox_clients(sandbox)
    found = {carrier: clients[carrier].check_contract(terms(carrier), CREDENTIALS[carrier]) for carrier in CARRIERS}
    assert set(verdicts(found["alpha"]).values()) == {"included"}
    pickup = {code for code, product in PRODUCTS.items() if product.carrier == "beta" and product.needs_pickup_point}
    assert {code for code, verdict in verdicts(found["beta"]).items() if verdict != "included"} == pickup
    with pytest.raises(CredentialsRejected):
        clients["alpha"].check_contract(terms("alpha"), Credentials("19869502", "000000"))
    with pytest.raises(CredentialsRejected):
        clients["beta"].check_contract(terms("beta"), Credentials("130000", "x"))
    assert bought(sandbox, "alpha") == bought(sandbox, "beta") == ()
    assert received(sandbox).get("/beta/2.0/generateLabel", 0) == 0

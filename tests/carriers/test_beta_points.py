"""beta's pickup points: looked up before the purchase, sent with their own address, refused if they cannot take it."""

from contextlib import suppress
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest

from carriers.errors import CarrierError, CarrierUnavailable, CredentialsRejected, PickupPointRejected, RequestRejected
from carriers.sandbox.pickup_points import NAMED, PickupPoint
from carriers.sandbox.server import SandboxServer
from carriers.shipment import Credentials, Package
from tests.carriers.conftest import Clients, Serve
from tests.carriers.sandbox.control import ledger
from tests.carriers.support.beta import JSON, bodies, found, lines, near, refused
from tests.carriers.support.points import Services
from tests.carriers.support.sandbox import order, reset
from tests.carriers.support.servers import answer_file, http
from tests.carriers.support.shipments import CREDENTIALS, shipment
from tests.support.cases import in_one_test

BETA = CREDENTIALS["beta"]
FRANCE, EUROPE = "beta_point_retrait_france", "beta_point_retrait_europe"
DAY_MS = 24 * 3600 * 1000
LONG_STREET = "12 quai de la Fosse, entrée du parc Atlantis"


def midnight_ms(day: int) -> int:
    """Return a day of March 2026 as the carrier writes it: midnight in Paris."""
    return int(datetime(2026, 3, day, tzinfo=UTC).timestamp() * 1000) - 3600 * 1000


def buy(services: Services, code: str = "", **changes: Any) -> dict[str, Any]:
    """Buy a label; return the addressee that the carrier was sent."""
    services.buy(code, **changes)
    addressee: dict[str, Any] = bodies(services.labels)[-1]["letter"]["addressee"]["address"]
    return addressee


# The look-up


@pytest.mark.usefixtures("monday")
def test_the_point_is_looked_up_by_its_code(serve: Serve) -> None:
    services = Services(serve, "beta")
    buy(services, packages=(Package(Decimal("0.5")), Package(Decimal("1.2345"))))
    assert services.points.requests[0].startswith(b"POST /points/findPointRetraitAcheminementByID HTTP/1.1\r\n")
    assert bodies(services.points) == [
        {
            "accountNumber": "804735",
            "password": "s3cret-Pass",
            "id": "001234",
            "date": "02/03/2026",
            "weight": "1235",
            "filterRelay": "1",
            "langue": "FR",
        }
    ]


@pytest.mark.parametrize(("weight_kg", "kinds"), [("20", "1"), ("20.001", "0")])
def test_above_20_kg_a_post_office_is_looked_up(serve: Serve, weight_kg: str, kinds: str) -> None:
    services = Services(serve, "beta")
    with suppress(PickupPointRejected):  # the recorded point takes 20 kg
        buy(services, packages=(Package(Decimal("0.5")), Package(Decimal(weight_kg))))
    (body,) = bodies(services.points)
    assert body["filterRelay"] == kinds


def test_an_api_key_is_sent_in_the_body_of_the_look_up(serve: Serve) -> None:
    services = Services(serve, "beta")
    services.client.create_label(shipment(FRANCE), Credentials(api_key="k-123"))
    (body,) = bodies(services.points)
    assert body["apiKey"] == "k-123"
    assert not {"accountNumber", "password"} & set(body)
    assert b"apikey: k-123" not in services.points.requests[0].lower()


def test_the_label_is_sent_to_the_points_own_address_in_the_customers_name(serve: Serve) -> None:
    services = Services(serve, "beta")
    assert buy(services) == {
        "companyName": "Tabac du Port",
        "lastName": "Grünwald",
        "firstName": "Søren",
        "line2": "12 quai de la Fosse",
        "line3": "Bâtiment B",
        "countryCode": "FR",
        "city": "Nantes",
        "zipCode": "44000",
        "mobileNumber": "+33699001122",
        "email": "soren@mail.example",
    }
    letter = bodies(services.labels)[0]["letter"]
    assert letter["parcel"] == {"weight": 1.25, "pickupLocationId": "001234"}
    assert letter["service"]["commercialName"] == "Bougies & Cie"


@pytest.mark.parametrize(
    ("changes", "printed"),
    [
        ({"adresse2": ""}, {"line2": "12 quai de la Fosse"}),
        ({"adresse2": None}, {"line2": "12 quai de la Fosse"}),
        ({"adresse1": "", "adresse2": "Gare du Nord"}, {"line2": "Gare du Nord"}),
        ({"adresse1": "", "adresse2": ""}, {"line2": "Tabac du Port"}),
        ({"adresse1": "x" * 50}, {"line2": "x" * 35, "line3": "Bâtiment B"}),
        ({"adresse1": LONG_STREET, "adresse2": ""}, {"line2": LONG_STREET[:35], "line3": "Atlantis"}),
        ({"adresse1": LONG_STREET}, {"line2": LONG_STREET[:35], "line3": "Atlantis Bâtiment B"}),
        ({"adresse1": LONG_STREET, "adresse2": "y" * 36}, {"line2": LONG_STREET[:35], "line3": "y" * 35}),
        ({"adresse1": "☎ 12 quai Œ", "adresse2": "Москва"}, {"line2": "12 quai Oe", "line3": "Moskva"}),
    ],
)
def test_a_points_own_text_never_fails_an_order(serve: Serve, changes: dict[str, Any], printed: dict[str, str]) -> None:
    assert lines(buy(Services(serve, "beta", [found(**changes)]))) == printed


@pytest.mark.parametrize("odd", ["\x00", "\ud800", "\x1b", "\u202e"])
def test_characters_that_no_database_keeps_are_spaces_in_a_points_text(serve: Serve, odd: str) -> None:
    services = Services(
        serve, "beta", [found(nom=f"Tabac{odd}du Port", adresse2=f"B{odd}", localite=f"{odd}Nantes{odd}")]
    )
    point = services.buy().pickup_point
    assert point is not None
    assert (point.name, point.address2, point.city) == ("Tabac du Port", "B", "Nantes")


# Points that cannot take the parcel


@pytest.mark.usefixtures("monday")
@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"congesTotal": True}, "is closed"),
        ({"congesTotal": " True "}, "is closed"),
        (
            {"listeConges": [{"numero": 1, "calendarDeDebut": midnight_ms(1), "calendarDeFin": midnight_ms(9)}]},
            "is closed",
        ),
        (
            {"listeConges": [{"numero": 1, "calendarDeDebut": midnight_ms(2), "calendarDeFin": midnight_ms(2)}]},
            "is closed",
        ),
        ({"listeConges": [{"numero": 1, "calendarDeDebut": midnight_ms(1), "calendarDeFin": None}]}, "is closed"),
        ({"listeConges": {"calendarDeFin": midnight_ms(9)}}, "is closed"),
        ({"poidsMaxi": 1249}, "takes parcels of at most 1.249 kg"),
    ],
)
def test_a_point_that_cannot_take_the_parcel_is_refused_before_anything_is_bought(
    serve: Serve, changes: dict[str, Any], problem: str
) -> None:
    failure = Services(serve, "beta", [found(**changes)]).refuse(PickupPointRejected)
    assert failure.field == "pickupPointCode"
    assert problem in str(failure)


@pytest.mark.usefixtures("monday")
@pytest.mark.parametrize(
    "changes",
    [
        {"listeConges": [{"numero": 1, "calendarDeDebut": midnight_ms(3), "calendarDeFin": midnight_ms(9)}]},
        {"listeConges": [{"numero": 1, "calendarDeDebut": midnight_ms(1) - DAY_MS, "calendarDeFin": midnight_ms(1)}]},
        {"listeConges": None},
        {"listeConges": [{"calendarDeDebut": "soon"}, 7, {"calendarDeDebut": 10**30, "calendarDeFin": 10**30}]},
        {"listeConges": [{"numero": 1, "calendarDeDebut": None}]},
        {"listeConges": [{"calendarDeDebut": midnight_ms(1), "calendarDeFin": "soon"}]},
        {"congesPartiel": True},
        {"poidsMaxi": 1250},
        {"poidsMaxi": 0},
        {"poidsMaxi": None},
        {"poidsMaxi": "20 kg"},
        {"codePays": None},
        {"codePays": "fr "},
        {"codePays": "FRA"},
        {"codePays": 33},
        {"identifiant": " 001234\n"},
    ],
)
def test_an_open_point_is_bought(serve: Serve, changes: dict[str, Any]) -> None:
    assert buy(Services(serve, "beta", [found(**changes)]))["countryCode"] == "FR"


# Errors of the service

CODES = [
    *((code, CredentialsRejected) for code in (101, 102, 201, 202)),
    *((code, PickupPointRejected) for code in (124, 146, 203, 300, 301)),
    *((code, RequestRejected) for code in (104, 105, 106, 107, 117, 120, 121, 122, 123, 125, 127, 129, 143, 144, 145)),
    *((code, CarrierUnavailable) for code in (1000, 999, -1)),
]


@pytest.mark.parametrize("status", [200, 400])
@in_one_test("code, error", CODES)
def test_every_code_of_the_point_service_has_its_class(
    serve: Serve, code: int, error: type[CarrierError], status: int
) -> None:
    failure = Services(serve, "beta", [refused(code, status)]).refuse(error)
    assert (failure.carrier_code, failure.carrier_text) == (str(code), f"text {code}")
    assert failure.is_carrier_failing == (code == 1000)


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        (refused(0), PickupPointRejected),
        (refused(0, pointRetraitAcheminement=[]), PickupPointRejected),
        (found(identifiant="999999"), CarrierUnavailable),
        (found(nom="", codePostal=""), PickupPointRejected),
        (http(b"<html>", 502, "text/html"), CarrierUnavailable),
        (http(b"<html>", 200, "text/html"), CarrierUnavailable),
        (http(b"<html>", 401, "text/html"), CredentialsRejected),
        (http(b"{}", 403, JSON), CredentialsRejected),
        (http(b'{"message": "Forbidden"}', 403, JSON), CarrierUnavailable),
        (http(b"[]", 200, JSON), CarrierUnavailable),
        (http(b"{}", 200, JSON), CarrierUnavailable),
        (refused(0, 500), CarrierUnavailable),
    ],
)
def test_every_other_answer_has_an_end_and_buys_nothing(serve: Serve, answer: bytes, error: type[CarrierError]) -> None:
    Services(serve, "beta", [answer]).refuse(error)


# Abroad


@pytest.mark.usefixtures("monday")
def test_a_point_abroad_is_found_near_the_recipient_as_the_look_up_needs_its_network(serve: Serve) -> None:
    services = Services(serve, "beta", [near()])
    addressee = buy(services, EUROPE, recipient={"zip_code": "28012", "city": "Madrid"})
    assert services.points.requests[0].startswith(b"POST /points/findRDVPointRetraitAcheminement HTTP/1.1\r\n")
    assert bodies(services.points) == [
        {
            "accountNumber": "804735",
            "password": "s3cret-Pass",
            "zipCode": "28012",
            "city": "Madrid",
            "countryCode": "ES",
            "shippingDate": "02/03/2026",
            "weight": "1250",
            "filterRelay": "1",
            "optionInter": "1",
            "lang": "FR",
        }
    ]
    assert (addressee["companyName"], addressee["line2"]) == ("Papelería Atocha", "Calle Atocha 44")
    assert (addressee["zipCode"], addressee["countryCode"]) == ("28012", "ES")


def test_a_point_elsewhere_in_the_country_is_looked_up_in_the_networks_found(serve: Serve) -> None:
    services = Services(serve, "beta", [near(), found(identifiant="840777", codePays="ES", nom="Lejos")])
    assert buy(services, EUROPE, pickup_point_code="840777")["companyName"] == "Lejos"
    search, look_up = bodies(services.points)
    assert "reseau" not in search
    assert (look_up["id"], look_up["reseau"]) == ("840777", "X00")


def test_a_point_in_monaco_is_looked_up_without_a_network_and_else_as_abroad(serve: Serve) -> None:
    around = answer_file("beta_points.json").replace(b'"ES"', b'"MC"')
    services = Services(serve, "beta", [refused(124), http(around, content_type=JSON)])
    assert buy(services, recipient={"country_code": "MC"})["companyName"] == "Papelería Atocha"
    look_up, search = bodies(services.points)
    assert ("reseau" in look_up, search["optionInter"]) == (False, "1")


@pytest.mark.parametrize(
    "changes",
    [
        {"nom": None},
        {"nom": {"fr": "Estanco"}, "localite": None},
        {"codePostal": ""},
        {"identifiant": None, "listeConges": "never", "poidsMaxi": -1, "reseau": ["X00"]},
    ],
)
def test_a_bad_record_in_a_search_spoils_itself_alone(serve: Serve, changes: dict[str, Any]) -> None:
    services = Services(serve, "beta", [near(**changes)])
    assert buy(services, EUROPE)["companyName"] == "Papelería Atocha"
    assert len(services.points.requests) == 1


def test_a_record_without_an_address_is_looked_up_in_its_network(serve: Serve) -> None:
    services = Services(serve, "beta", [near(nom=""), found(identifiant="840100", codePays="ES", nom="Estanco Sol")])
    assert buy(services, EUROPE, pickup_point_code="840100")["companyName"] == "Estanco Sol"


def test_bad_records_never_count_as_an_outage(serve: Serve) -> None:
    services = Services(serve, "beta", [*[near(nom=""), found(identifiant="840100", nom="")] * 8, found()])
    for _ in range(8):
        assert not services.refuse(PickupPointRejected, EUROPE, pickup_point_code="840100").is_carrier_failing
    assert buy(services)["companyName"] == "Tabac du Port"


@pytest.mark.parametrize("answers", [[near(), refused(124)], [refused(300)], [refused(203)], [refused(0)]])
def test_a_point_abroad_that_is_not_found_is_refused(serve: Serve, answers: list[bytes]) -> None:
    failure = Services(serve, "beta", answers).refuse(PickupPointRejected, EUROPE, pickup_point_code="840777")
    assert str(failure).startswith("pickupPointCode: the carrier finds no such pickup point near the recipient")
    assert failure.field == "pickupPointCode"


@pytest.mark.parametrize(
    ("adresse2", "line2"),
    [("Boîte 2", "12 quai de la Fosse Boîte 2"), ("Entrée derrière la gare", "12 quai de la Fosse")],
)
def test_in_belgium_the_address_is_one_line(serve: Serve, adresse2: str, line2: str) -> None:
    around = answer_file("beta_points.json").replace(b'"001234"', b'"001111"').replace(b'"ES"', b'"BE"')
    point = found(codePays="BE", adresse2=adresse2)
    services = Services(serve, "beta", [http(around, content_type=JSON), point])
    addressee = buy(services, EUROPE, recipient={"country_code": "BE", "phone": "+32470112233"})
    assert lines(addressee) == {"line2": line2}
    assert addressee["mobileNumber"] == "+32470112233"


def test_a_luxembourg_point_loses_the_letter_of_its_postal_code(serve: Serve) -> None:
    around = answer_file("beta_points.json").replace(b'"28012"', b'"L-1118"').replace(b'"ES"', b'"LU"')
    services = Services(serve, "beta", [http(around, content_type=JSON)])
    recipient = {"country_code": "LU", "zip_code": "L-1009"}
    assert buy(services, EUROPE, recipient=recipient)["zipCode"] == "1118"
    assert bodies(services.points)[0]["zipCode"] == "1009"


def test_customs_go_by_the_points_place(serve: Serve) -> None:
    around = answer_file("beta_points.json").replace(b'"28012"', b'"35002"')
    services = Services(serve, "beta", [http(around, content_type=JSON)])
    services.buy(EUROPE, recipient={"zip_code": "28012"})
    assert "customsDeclarations" in bodies(services.labels)[0]["letter"]


def test_no_customs_are_needed_to_a_point_in_the_union_for_a_customer_outside_it(serve: Serve) -> None:
    services = Services(serve, "beta", [near()])
    services.buy(EUROPE, recipient={"zip_code": "35002"}, customs=None)
    assert "customsDeclarations" not in bodies(services.labels)[0]["letter"]


# The sandbox


@in_one_test("point", [point for point in NAMED if point.carrier == "beta"])
def test_every_point_of_the_sandbox_is_bought_or_refused_and_none_is_misrouted(
    sandbox: SandboxServer, clients: Clients, point: PickupPoint
) -> None:
    reset(sandbox)
    code = FRANCE if point.country in ("FR", "MC") else EUROPE
    recipient = {"country_code": point.country, "zip_code": point.zip_code, "city": point.city}
    ordered = order(code, recipient=recipient, pickup_point_code=point.code)
    if point.is_open:
        clients["beta"].create_label(ordered, BETA)
        (row,) = ledger(sandbox)
        assert (row["product_code"], row["misrouted"]) == ("HD", False)
        return
    with pytest.raises(PickupPointRejected, match=r"^pickupPointCode: "):
        clients["beta"].create_label(ordered, BETA)
    assert ledger(sandbox) == []


@pytest.mark.parametrize(("weight_kg", "is_bought"), [("5", True), ("5.01", False)])
def test_a_small_locker_takes_small_parcels(
    sandbox: SandboxServer, clients: Clients, weight_kg: str, is_bought: bool
) -> None:
    packages = (Package(Decimal(1)), Package(Decimal(weight_kg)))
    ordered = order(FRANCE, pickup_point_code="004713", packages=packages)
    if is_bought:
        clients["beta"].create_label(ordered, BETA)
    else:
        with pytest.raises(PickupPointRejected, match="at most 5 kg"):
            clients["beta"].create_label(ordered, BETA)
    assert len(ledger(sandbox)) == 2 * is_bought

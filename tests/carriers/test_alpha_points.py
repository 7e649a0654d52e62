"""alpha's relays: looked up before the purchase, and the label sent to the relay's own address."""

from xml.etree import ElementTree as ET

import pytest

from carriers.errors import CarrierError, CarrierUnavailable, CredentialsRejected, PickupPointRejected, RequestRejected
from carriers.products import PRODUCTS
from carriers.sandbox.data import ALPHA_3
from carriers.sandbox.server import SandboxServer
from tests.carriers.conftest import Clients, Serve
from tests.carriers.sandbox.control import ledger
from tests.carriers.support.points import Services, alpha_closed, alpha_point, alpha_refused
from tests.carriers.support.sandbox import POINT_CODES, order
from tests.carriers.support.servers import LoopbackServer, answer_file, asked, body_of, http
from tests.carriers.support.shipments import ALPHA_CONTRACT, CREDENTIALS
from tests.support.cases import in_one_test

ALPHA = CREDENTIALS["alpha"]
RELAY_ABROAD = "alpha_relais_europe_outre_mer"
RELAYS = [code for code, product in PRODUCTS.items() if product.carrier == "alpha" and product.needs_pickup_point]
LOOK_UP, LOOK_UP_ABROAD = "rechercheDetailPointChronopost", "rechercheDetailPointChronopostInter"
NAMESPACE = "{http://cxf.rechercheBt.soap.chronopost.fr/}"


def operation(server: LoopbackServer, number: int = 0) -> ET.Element:
    return ET.fromstring(body_of(server.requests[number]))[0][0]


def fields(element: ET.Element) -> dict[str, str]:
    return {child.tag: child.text or "" for child in element}


def sent(server: LoopbackServer, structure: str) -> dict[str, str]:
    """Return one of the structures of the first purchase."""
    element = operation(server).find(structure)
    assert element is not None
    return fields(element)


def test_a_relay_is_looked_up_and_its_own_address_sent_with_the_customers_name(serve: Serve) -> None:
    services = Services(serve, "alpha", [http(answer_file("alpha_point.xml"))])
    services.buy()
    assert asked(services.points) == (NAMESPACE + LOOK_UP, [*ALPHA_CONTRACT, ("identifiant", "1234A")])
    assert sent(services.labels, "recipientValue") == {
        "recipientAdress1": "12 rue de l Etoile",
        "recipientAdress2": "Angle de la place",
        "recipientCity": "Toulouse",
        "recipientContactName": "Soren Grunwald",
        "recipientCountry": "FR",
        "recipientEmail": "soren@mail.example",
        "recipientMobilePhone": "+33699001122",
        "recipientName": "Cafe de l Etoile",
        "recipientName2": "Soren Grunwald",
        "recipientPhone": "+33699001122",
        "recipientPreAlert": "22",
        "recipientType": "2",
        "recipientZipCode": "31000",
    }
    assert sent(services.labels, "refValue") == {
        "recipientRef": "1234A",
        "shipperRef": "01JQ5ZK3M9X7ABC",
        "idRelais": "1234A",
    }


def test_a_relay_overseas_is_asked_for_and_answered_by_alpha_3(serve: Serve) -> None:
    point = alpha_point(abroad="REU", identifiant="9741R", codePostal="97400")
    services = Services(serve, "alpha", [http(point)])
    services.buy(RELAY_ABROAD, recipient={"country_code": "RE"}, pickup_point_code="9741R")
    place = [("identifiant", "9741R"), ("countryCode", "REU"), ("language", "FR"), ("version", "2.0")]
    assert asked(services.points) == (NAMESPACE + LOOK_UP_ABROAD, [*ALPHA_CONTRACT, *place])
    recipient = sent(services.labels, "recipientValue")
    assert (recipient["recipientCountry"], recipient["recipientZipCode"]) == ("RE", "97400")
    assert recipient["recipientPhone"] == recipient["recipientMobilePhone"] == "+33699001122"
    assert sent(services.labels, "skybillValue")["productCode"] == "4P"


@pytest.mark.parametrize(
    ("asked", "answered"),
    [("BE", "BEL"), ("BE", "be"), ("BE", ""), ("BE", "00"), ("RE", "RE"), ("YT", "MYT"), ("MF", "MAF")],
)
def test_the_country_of_the_label_is_alpha_2(serve: Serve, asked: str, answered: str) -> None:
    services = Services(serve, "alpha", [http(alpha_point(abroad=asked, codePays=answered))])
    services.buy(RELAY_ABROAD, recipient={"country_code": asked})
    recipient = sent(services.labels, "recipientValue")
    assert recipient["recipientCountry"] == asked
    assert (" " in recipient["recipientPhone"]) == (asked == "BE")  # a space after the country's number in Europe alone


@pytest.mark.parametrize("country_code", ALPHA_3)
def test_the_point_service_has_overseas_territories_by_alpha_3(serve: Serve, country_code: str) -> None:
    services = Services(serve, "alpha", [http(alpha_point(abroad=country_code))])
    services.buy(RELAY_ABROAD, recipient={"country_code": country_code})
    assert fields(operation(services.points))["countryCode"] == ALPHA_3[country_code]


@pytest.mark.parametrize(
    ("answers", "asked", "bought"),
    [
        ([http(alpha_point())], ["1234A"], "1234A"),
        ([http(alpha_point())], ["1234a"], "1234A"),
        ([alpha_refused(601, LOOK_UP), http(alpha_point())], ["1234a", "1234A"], "1234A"),
        ([http(alpha_point(identifiant="1234a")), http(alpha_point())], ["1234a"], "1234a"),  # and not the other one
    ],
)
def test_a_code_is_looked_up_as_the_order_has_it_then_in_capitals(
    serve: Serve, answers: list[bytes], asked: list[str], bought: str
) -> None:
    services = Services(serve, "alpha", answers)
    services.buy(pickup_point_code=asked[0])
    sent_codes = [
        fields(operation(services.points, rank))["identifiant"] for rank in range(len(services.points.requests))
    ]
    assert (sent_codes, sent(services.labels, "refValue")["idRelais"]) == (asked, bought)


@in_one_test(
    "code, error, is_failing",
    [
        (601, PickupPointRejected, False),
        (1500, CredentialsRejected, False),
        (700, CarrierUnavailable, True),
        # "Invalid data" is a documented refusal, no failure of the carrier: the same order meets it again.
        *((code, RequestRejected, False) for code in (300, 301, 302, 306, 307, 309, 317, 319, 320, 321)),
        (4711, CarrierUnavailable, False),
    ],
)
@in_one_test("abroad", [True, False])
def test_every_code_of_a_look_up_has_its_class(
    serve: Serve, code: int, error: type[CarrierError], is_failing: bool, abroad: bool
) -> None:
    services = Services(serve, "alpha", [alpha_refused(code, LOOK_UP_ABROAD if abroad else LOOK_UP)])
    failure = services.refuse(error, RELAY_ABROAD if abroad else "relais")
    assert failure.carrier_code == str(code)
    assert failure.is_carrier_failing == is_failing
    assert failure.field == ("pickupPointCode" if error in (PickupPointRejected, RequestRejected) else "")
    assert len(services.points.requests) == 1


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"actif": "false"}, "is closed"),
        ({"actif": "0"}, "is closed"),
        ({"poidsMaxi": "1"}, "takes parcels of at most 1 kg"),
        ({"nom": "☕"}, "cannot be printed"),
        ({"nom": ""}, "cannot be printed"),
        ({"adresse1": ""}, "cannot be printed"),
    ],
)
def test_a_relay_that_cannot_take_the_parcel_is_refused(serve: Serve, changes: dict[str, str], problem: str) -> None:
    failure = Services(serve, "alpha", [http(alpha_point(**changes))]).refuse(PickupPointRejected)
    assert failure.field == "pickupPointCode"
    assert problem in str(failure)
    assert failure.code == "ALPHA_PICKUP_POINT_REJECTED"


@pytest.mark.parametrize("changes", [{"poidsMaxi": "20000"}, {"poidsMaxi": "0"}, {"poidsMaxi": None}, {"actif": None}])
def test_a_relay_without_a_readable_limit_takes_the_parcel(serve: Serve, changes: dict[str, str]) -> None:
    services = Services(serve, "alpha", [http(alpha_point(**changes))])
    services.buy()
    assert len(services.labels.requests) == 1


@pytest.mark.usefixtures("monday")
@pytest.mark.parametrize(
    ("first", "last", "is_closed"),
    [
        ("2026-03-02T00:00:00+01:00", "2026-03-09T00:00:00+01:00", True),
        ("2026-02-20T00:00:00+01:00", "2026-03-02T00:00:00+01:00", True),
        ("2026-03-01T23:00:00Z", "2026-03-01T23:00:00Z", True),
        ("2026-03-02T00:00:00", "2026-03-02T00:00:00", True),
        ("2026-03-03T00:00:00+01:00", "2026-03-09T00:00:00+01:00", False),
        ("2026-02-20T00:00:00+01:00", "2026-03-01T00:00:00+01:00", False),
        ("2026-03-02T00:00:00+01:00", "", True),
        ("2026-03-03T00:00:00+01:00", "", False),
        ("", "2026-03-02T00:00:00+01:00", True),
        ("", "2026-03-01T00:00:00+01:00", False),
        ("", "", False),
        ("soon", "later", False),
        ("2026-03-02T00:00:00+01:00", "later", False),
    ],
)
def test_a_relay_is_closed_on_the_days_of_its_holidays(serve: Serve, first: str, last: str, is_closed: bool) -> None:
    services = Services(serve, "alpha", [http(alpha_closed(first, last))])
    if is_closed:
        assert "is closed" in str(services.refuse(PickupPointRejected))
    else:
        services.buy()


@pytest.mark.parametrize(
    "answer",
    [
        http(b"<html>", 502),
        http(b"no", 403),
        http(answer_file("alpha_fault.xml"), 500),
        http(answer_file("alpha_found.xml")),
        http(alpha_point(identifiant="9999Z")),
        http(alpha_point(abroad="BE")),
    ],
)
def test_a_point_service_that_fails_has_bought_nothing(serve: Serve, answer: bytes) -> None:
    Services(serve, "alpha", [answer]).refuse(CarrierUnavailable)


@pytest.mark.parametrize("nothing", [b"", b"<listePointRelais/>"])
def test_an_answer_without_a_point_knows_none(serve: Serve, nothing: bytes) -> None:
    empty = http(alpha_point().replace(b"listePointRelais>", b"other>").replace(b"<other>", nothing + b"<other>"))
    assert Services(serve, "alpha", [empty]).refuse(PickupPointRejected).field == "pickupPointCode"


@pytest.mark.parametrize("country", POINT_CODES["alpha"])
def test_no_relay_is_sold_under_another_address(sandbox: SandboxServer, clients: Clients, country: str) -> None:
    codes = [RELAY_ABROAD] if country != "FR" else RELAYS
    for code in codes:
        clients["alpha"].create_label(order(code, recipient={"country_code": country}), ALPHA)
    assert [row["misrouted"] for row in ledger(sandbox)] == [False] * len(codes)


@pytest.mark.parametrize("code", ["4501L", "4502M", "2047h"])
def test_lockers_and_second_lines_of_an_address_are_sent_as_the_relay_has_them(
    sandbox: SandboxServer, clients: Clients, code: str
) -> None:
    clients["alpha"].create_label(order("relais", pickup_point_code=code), ALPHA)
    assert [row["misrouted"] for row in ledger(sandbox)] == [False]


def test_shop_direct_goes_to_no_locker(sandbox: SandboxServer, clients: Clients) -> None:
    for code in ("relais", "shop2shop"):
        clients["alpha"].create_label(order(code, pickup_point_code="4501L"), ALPHA)
    with pytest.raises(PickupPointRejected, match="is a locker") as caught:
        clients["alpha"].create_label(order("alpha_2shopdirect", pickup_point_code="4501L"), ALPHA)
    assert caught.value.field == "pickupPointCode"
    assert caught.value.made.pickup_point
    assert caught.value.made.pickup_point.code == "4501L"  # by whose place Ignored-Fields goes
    assert [row["misrouted"] for row in ledger(sandbox)] == [False, False]

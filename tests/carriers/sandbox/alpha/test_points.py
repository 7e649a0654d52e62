"""alpha's pickup point service: searches, look-ups and errors."""

from datetime import datetime
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from carriers.sandbox.alpha.points import BY_SERVICE, DETAIL, DETAIL_INTER, INTER
from carriers.sandbox.alpha.points import FRENCH as SEARCH
from carriers.sandbox.alpha.soap import CHILDREN
from carriers.sandbox.alpha.tables import POINT_MESSAGES
from carriers.sandbox.data import ALPHA_3, OVERSEAS, PARIS
from carriers.sandbox.server import SandboxServer
from tests.carriers.sandbox.alpha.orders import ACCOUNT, PASSWORD, Reply, alpha_call
from tests.carriers.sandbox.control import arm
from tests.support.cases import in_one_test


def ask(sandbox: SandboxServer, operation: str, **changes: Any) -> Reply:
    values = {
        "accountNumber": ACCOUNT, "password": PASSWORD, "zipCode": "75005", "city": "Paris", "countryCode": "FR",
        "type": "P", "productCode": "86", "service": "L", "weight": "1250", "maxPointChronopost": "5",
        "shippingDate": datetime.now(PARIS).strftime("%d/%m/%Y"), "maxDistanceSearch": "10", "holidayTolerant": "1",
        "language": "FR", "version": "2.0", "identifiant": "1487R",
    }  # fmt: skip
    values = {name: values[name] for name in CHILDREN[operation] if name in values} | changes
    return alpha_call(sandbox, "ALPHA_POINTS_URL", operation, values)


def test_a_look_up_answers_the_point_with_quality_0(sandbox: SandboxServer) -> None:
    reply = ask(sandbox, DETAIL)

    assert reply.response.status_code == 200
    assert (reply.code, reply.texts("qualiteReponse"), reply.texts("errorMessage")) == ("0", ["0"], ["Code retour OK"])
    (point,) = ET.fromstring(reply.response.content).iter("listePointRelais")
    names = [child.tag for child in point]
    assert names == sorted(names)
    assert {name: point.findtext(name) for name in ("identifiant", "nom", "adresse1", "codePostal", "localite")} == {
        "identifiant": "1487R",
        "nom": "Épicerie du Marché",
        "adresse1": "3 place du Marché",
        "codePostal": "35000",
        "localite": "Rennes",
    }
    assert (point.findtext("actif"), point.findtext("poidsMaxi"), point.findtext("codePays")) == ("true", "20", "FR")
    assert "adresse2" not in names


@pytest.mark.parametrize(
    ("code", "country", "answered"),
    [("7001D", "DE", "DE"), ("9741R", "REU", "REU"), ("9721M", "MTQ", "MTQ"), ("9761Y", "MYT", "MYT")],
)
def test_a_look_up_abroad_names_the_country_overseas_in_three_letters(
    sandbox: SandboxServer, code: str, country: str, answered: str
) -> None:
    reply = ask(sandbox, DETAIL_INTER, identifiant=code, countryCode=country)

    assert (reply.code, reply.texts("codePays")) == ("0", [answered])


@pytest.mark.parametrize(
    ("operation", "changes"),
    [
        (DETAIL, {"identifiant": "9999Z"}),
        (DETAIL, {"identifiant": "1487r"}),
        (DETAIL, {"identifiant": "7001D"}),
        (DETAIL_INTER, {"identifiant": "7001D", "countryCode": "BE"}),
        (DETAIL_INTER, {"identifiant": "9741R", "countryCode": "RE"}),
    ],
)
def test_an_unknown_code_is_601(sandbox: SandboxServer, operation: str, changes: dict[str, str]) -> None:
    assert ask(sandbox, operation, **changes).code == "601"


@pytest.mark.parametrize(
    ("code", "active", "periods"), [("5603E", "false", 0), ("5604F", "false", 0), ("5601C", "true", 1)]
)
def test_a_point_that_is_gone_full_or_on_holiday_says_so(
    sandbox: SandboxServer, code: str, active: str, periods: int
) -> None:
    reply = ask(sandbox, DETAIL, identifiant=code)

    assert (reply.code, reply.texts("actif"), len(reply.texts("calendarDeDebut"))) == ("0", [active], periods)


def test_a_search_answers_the_points_of_the_town(sandbox: SandboxServer) -> None:
    reply = ask(sandbox, SEARCH)

    assert reply.code == "0"
    assert reply.texts("identifiant")[0] == "8339S"
    assert reply.texts("qualiteReponse") == ["1"]
    assert ask(sandbox, SEARCH, type="C").texts("identifiant")[0] == "8339S"
    assert "L" in ask(sandbox, SEARCH, maxPointChronopost="25").texts("typeDePoint")
    assert "L" not in ask(sandbox, SEARCH, type="C", maxPointChronopost="25").texts("typeDePoint")
    assert ask(sandbox, SEARCH, city="75005").texts("identifiant")[0] == "8339S"


def test_distances_hold_and_count_only_where_an_address_was_found(sandbox: SandboxServer) -> None:
    """points-search.md, 2 and 3: with `qualiteReponse` 1 they are 0, and `maxDistanceSearch` leaves nothing out."""
    near = {"maxDistanceSearch": "1", "maxPointChronopost": "25"}
    by_address = ask(sandbox, SEARCH, address="27 boulevard Saint-Michel", **near)
    by_zip_code = ask(sandbox, SEARCH, **near)

    assert by_address.texts("qualiteReponse") == ["2"]
    metres = [int(text) for text in by_address.texts("distanceEnMetre")]
    assert metres == sorted(metres)
    assert 0 < metres[0] <= metres[-1] <= 1000
    assert set(by_zip_code.texts("distanceEnMetre")) == {"0"}
    assert len(by_zip_code.texts("identifiant")) > len(metres)


def test_the_city_beats_the_postal_code_and_the_weight_does_not_filter(sandbox: SandboxServer) -> None:
    reply = ask(sandbox, SEARCH, city="Tours", zipCode="75005", weight="29000")

    assert reply.texts("identifiant") == ["5605G"]


def test_closed_points_are_listed(sandbox: SandboxServer) -> None:
    assert ask(sandbox, SEARCH, city="Nantes").texts("identifiant") == ["5601C"]


@pytest.mark.parametrize("country", sorted(OVERSEAS))
def test_all_of_overseas_has_three_letters(sandbox: SandboxServer, country: str) -> None:
    place = {"city": "Nowhere", "zipCode": "01000"}
    assert ask(sandbox, INTER, countryCode=ALPHA_3[country], **place).code == "601"
    assert ask(sandbox, INTER, countryCode=country, **place).code == "301"


def test_europe_and_overseas_are_searched_with_inter(sandbox: SandboxServer) -> None:
    berlin = {"countryCode": "DE", "city": "Berlin", "zipCode": "10178"}
    assert ask(sandbox, INTER, **berlin).texts("identifiant")[0] == "7001D"
    assert ask(sandbox, BY_SERVICE, **berlin).code == "0"
    assert ask(sandbox, SEARCH, **berlin).code == "601"
    assert (
        ask(sandbox, INTER, countryCode="REU", city="Saint-Denis", zipCode="97400").texts("identifiant")[0] == "9741R"
    )
    assert ask(sandbox, INTER, countryCode="RE", city="Saint-Denis", zipCode="97400").code == "301"


@in_one_test(
    "code, changes",
    [
        ("1500", {"accountNumber": "12000030"}),
        ("1500", {"password": ""}),
        ("300", {"type": ""}),
        ("300", {"type": "A"}),
        ("300", {"service": ""}),
        ("300", {"service": "X"}),
        ("302", {"zipCode": "7500/5"}),
        ("302", {"zipCode": "7500"}),
        ("302", {"zipCode": "75 005"}),
        ("302", {"zipCode": ""}),
        ("301", {"countryCode": "XX"}),
        ("300", {"productCode": "ABC"}),
        ("300", {"address": "27 rue d'Ici"}),
        ("300", {"address": "x" * 201}),
        ("300", {"city": "x" * 51}),
        ("306", {"shippingDate": "2026-02-03"}),
        ("307", {"shippingDate": "31/02/2027"}),
        ("321", {"weight": "100000"}),
        ("321", {"weight": "1.25"}),
        ("321", {"weight": ""}),
        ("320", {"maxPointChronopost": "26"}),
        ("320", {"maxPointChronopost": ""}),
        ("319", {"maxDistanceSearch": "100"}),
        ("319", {"maxDistanceSearch": "0"}),
        ("319", {"maxDistanceSearch": ""}),
        ("317", {"holidayTolerant": "0"}),
        ("317", {"holidayTolerant": "2"}),
        ("317", {"holidayTolerant": ""}),
        ("309", {"language": "EN"}),
        ("309", {"version": "1.0"}),
        ("700", {"city": ""}),
        ("601", {"city": "Nowhere", "zipCode": "01000"}),
    ],
)
def test_a_mistake_is_a_business_error(sandbox: SandboxServer, code: str, changes: dict[str, str]) -> None:
    reply = ask(sandbox, INTER, **changes)

    assert (reply.response.status_code, reply.code) == (200, code)
    assert reply.texts("listePointRelais") == []


@pytest.mark.parametrize("distance_km", ["1", "40", "41", "99"])
def test_a_distance_is_refused_above_99_km_alone(sandbox: SandboxServer, distance_km: str) -> None:
    assert ask(sandbox, SEARCH, maxDistanceSearch=distance_km).code == "0"


@pytest.mark.parametrize("code", POINT_MESSAGES)
def test_every_error_can_be_provoked(sandbox: SandboxServer, code: int) -> None:
    assert ask(sandbox, DETAIL, identifiant=f"F{code:04d}").code == str(code)
    arm(sandbox, str(code), operation=DETAIL, count=1)
    assert ask(sandbox, DETAIL).code == str(code)
    assert ask(sandbox, DETAIL).code == "0"


def test_an_unknown_child_is_a_soap_fault(sandbox: SandboxServer) -> None:
    assert ask(sandbox, SEARCH, adress="1 rue").response.status_code == 500


def test_the_service_fails_as_others_do(sandbox: SandboxServer) -> None:
    arm(sandbox, "http403", operation=DETAIL, count=1)
    assert ask(sandbox, DETAIL).response.status_code == 403
    arm(sandbox, "truncated", operation=DETAIL, count=1)
    assert b"</soap:Envelope>" not in ask(sandbox, DETAIL).response.content

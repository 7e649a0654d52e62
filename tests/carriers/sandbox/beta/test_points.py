"""beta's pickup point service: searches, look-ups and errors."""

import re
from datetime import datetime
from typing import Any

import pytest
import requests

from carriers.sandbox.beta.points import MESSAGES
from carriers.sandbox.data import PARIS
from carriers.sandbox.server import SandboxServer
from tests.carriers.sandbox.beta.orders import ADDRESSEE, PICKUP, beta_buy, beta_to
from tests.carriers.sandbox.control import TIMEOUT_S, arm, get, post
from tests.support.cases import in_one_test

SEARCH, LOOK_UP = "findRDVPointRetraitAcheminement", "findPointRetraitAcheminementByID"
NOTHING: dict[str, tuple[str, Any]] = {
    SEARCH: ("listePointRetraitAcheminement", []),
    LOOK_UP: ("pointRetraitAcheminement", None),
}
MOBILES = {"FR": "+33699001122", "MC": "+33699001122", "BE": "+32470990011"}
TODAY = datetime.now(PARIS).strftime("%d/%m/%Y")
CREDENTIALS = {"accountNumber": "123456", "password": "secret"}


def ask(sandbox: SandboxServer, operation: str, **changes: Any) -> dict[str, Any]:
    bodies: dict[str, dict[str, Any]] = {
        SEARCH: {
            "address": "", "zipCode": "69005", "city": "Lyon", "countryCode": "FR", "shippingDate": TODAY,
            "weight": 1250, "filterRelay": "1", "optionInter": "0", "lang": "FR",
        },
        LOOK_UP: {"id": "123456", "date": TODAY, "weight": "1250", "filterRelay": "1", "reseau": "", "langue": "FR"},
    }  # fmt: skip
    response = post(
        f"{sandbox.urls['BETA_POINTS_URL']}/{operation}", json={**CREDENTIALS, **bodies[operation], **changes}
    )
    assert response.status_code == 200, response.text
    answer: dict[str, Any] = response.json()
    return answer


def test_a_look_up_answers_the_point(sandbox: SandboxServer) -> None:
    answer = ask(sandbox, LOOK_UP)

    assert (answer["errorCode"], answer["qualiteReponse"]) == (0, 0)
    point = answer["pointRetraitAcheminement"]
    assert {name: point[name] for name in ("identifiant", "nom", "adresse1", "adresse2", "codePostal", "localite")} == {
        "identifiant": "123456",
        "nom": "Épicerie du Bœuf",
        "adresse1": "9 rue du Bœuf",
        "adresse2": "Angle de la place",
        "codePostal": "69005",
        "localite": "Lyon",
    }
    assert (point["poidsMaxi"], point["distanceEnMetre"], point["typeDePoint"], point["reseau"]) == (
        20000,
        -1,
        "A2P",
        "R03",
    )
    assert point["coordGeolocalisationLatitude"].startswith("45.")
    assert point["horairesOuvertureLundi"] == "08:15-12:00 14:00-19:00"
    assert point["horairesOuvertureDimanche"] == "00:00-00:00 00:00-00:00"
    assert ask(sandbox, LOOK_UP, id="692690", weight=None)["pointRetraitAcheminement"]["poidsMaxi"] == 30000


def test_an_api_key_in_the_body_replaces_the_account(sandbox: SandboxServer) -> None:
    assert ask(sandbox, LOOK_UP, accountNumber=None, password=None, apiKey="key-1")["errorCode"] == 0


@in_one_test("country", "FR MC BE DE LU NL AT ES IE IT PT CZ DK EE HU LT LV PL SE SI SK FI".split())
def test_a_point_is_found_and_sold_to_in_every_country_that_is_served(sandbox: SandboxServer, country: str) -> None:
    point = next(row for row in open_points(sandbox) if row["country"] == country)
    place = {"zipCode": re.sub(r"\W", "", point["zip_code"]), "city": point["city"], "countryCode": country}
    found = ask(sandbox, SEARCH, **place, optionInter="0" if country == "FR" else "1")

    assert point["code"] in [each["identifiant"] for each in found["listePointRetraitAcheminement"]]
    order = {**PICKUP, **beta_to(country, point["zip_code"], "HD"), "letter.parcel.pickupLocationId": point["code"]}
    assert beta_buy(sandbox, {**order, f"{ADDRESSEE}.mobileNumber": MOBILES.get(country, "+491701122334")}).codes == []


def open_points(sandbox: SandboxServer) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = get(f"{sandbox.url}/points", carrier="beta", status="open")
    return rows


@pytest.mark.parametrize("operation", [SEARCH, LOOK_UP])
@pytest.mark.parametrize("account", [{"accountNumber": "NEW1"}, {"apiKey": "CHILD-key"}])
def test_an_account_of_the_newer_kind_says_its_number(
    sandbox: SandboxServer, operation: str, account: dict[str, str]
) -> None:
    assert ask(sandbox, operation, **account)["errorCode"] == 202
    assert ask(sandbox, operation, **account, codTiersPourPartenaire="123456")["errorCode"] == 0


@pytest.mark.parametrize(("code", "is_total", "is_partial"), [("005801", True, False), ("005802", False, True)])
def test_holidays_are_in_epoch_milliseconds(
    sandbox: SandboxServer, code: str, is_total: bool, is_partial: bool
) -> None:
    point = ask(sandbox, LOOK_UP, id=code)["pointRetraitAcheminement"]

    assert (point["congesTotal"], point["congesPartiel"]) == (is_total, is_partial)
    (holiday,) = point["listeConges"]
    now_ms = datetime.now(PARIS).timestamp() * 1000
    assert (holiday["calendarDeDebut"] < now_ms < holiday["calendarDeFin"]) is is_total


@in_one_test(
    "operation, code, changes",
    [
        (LOOK_UP, 124, {"id": "999999"}),
        (LOOK_UP, 124, {"id": "12345"}),
        (LOOK_UP, 124, {"id": "810101"}),
        (LOOK_UP, 124, {"id": "810101", "reseau": "R03"}),
        (LOOK_UP, 107, {"id": ""}),
        (LOOK_UP, 106, {"date": None}),
        (LOOK_UP, 122, {"date": "2026-02-03"}),
        (LOOK_UP, 120, {"weight": "1.25"}),
        (LOOK_UP, 121, {"weight": 0}),
        (LOOK_UP, 121, {"weight": 100000}),
        (LOOK_UP, 123, {"filterRelay": "4"}),
        (LOOK_UP, 129, {"langue": "French"}),
        (LOOK_UP, 145, {"shippingDate": TODAY}),
        (LOOK_UP, 145, {"id": ["123456"]}),
        (LOOK_UP, 300, {"id": "004712"}),
        (LOOK_UP, 300, {"id": "005803"}),
        (LOOK_UP, 101, {"accountNumber": ""}),
        (LOOK_UP, 102, {"password": ""}),
        (LOOK_UP, 201, {"accountNumber": "130000"}),
        (LOOK_UP, 202, {"accountNumber": "130008"}),
        (SEARCH, 104, {"zipCode": ""}),
        (SEARCH, 105, {"city": ""}),
        (SEARCH, 106, {"shippingDate": ""}),
        *((SEARCH, 117, {"zipCode": zip_code}) for zip_code in ("69/005", "69 005", "1100-200")),
        (SEARCH, 123, {"filterRelay": ""}),
        (SEARCH, 125, {"countryCode": "FRA"}),
        (SEARCH, 127, {"requestId": "x" * 65}),
        (SEARCH, 143, {"optionInter": ""}),
        (SEARCH, 144, {"optionInter": "1"}),
        (SEARCH, 144, {"countryCode": "DE"}),
        (SEARCH, 203, {"countryCode": "JP", "optionInter": "1"}),
        (SEARCH, 300, {"city": "Nowhere", "zipCode": "01000"}),
    ],
)
def test_a_mistake_is_an_error_code(sandbox: SandboxServer, operation: str, code: int, changes: dict[str, Any]) -> None:
    name, nothing = NOTHING[operation]
    answer = ask(sandbox, operation, **changes)

    assert (answer["errorCode"], answer[name]) == (code, nothing)


def test_a_point_abroad_is_looked_up_with_its_network(sandbox: SandboxServer) -> None:
    point = ask(sandbox, LOOK_UP, id="810101", reseau="X00")["pointRetraitAcheminement"]

    assert (point["codePays"], point["typeDePoint"]) == ("DE", "BDP")


def found(sandbox: SandboxServer, **changes: Any) -> list[str]:
    points = ask(sandbox, SEARCH, **changes)["listePointRetraitAcheminement"]
    return [point["identifiant"] for point in points]


@pytest.mark.parametrize(
    ("changes", "codes"),
    [
        ({}, ["006431", "123456"]),
        ({"origin": "CMS"}, ["006431", "123456"]),
        ({"city": "Lyon", "zipCode": "69002", "filterRelay": "0"}, ["692690", "300037"]),
        ({"filterRelay": "2"}, ["006431", "123456"]),
        ({"city": "Lille", "zipCode": "59000"}, []),
        ({"city": "Toulouse", "filterRelay": "2"}, ["004713"]),
        ({"city": "Toulouse", "filterRelay": "3"}, []),
        ({"city": "Berlin", "zipCode": "10178", "countryCode": "DE", "optionInter": "1"}, ["810102", "810101"]),
        ({"city": "Berlin", "countryCode": "DE", "optionInter": "1", "filterRelay": "10"}, ["810101"]),
        ({"city": "Liège", "zipCode": "4000", "countryCode": "BE", "optionInter": "1"}, ["300559", "300560"]),
    ],
)
def test_a_search_answers_the_points_of_the_town(
    sandbox: SandboxServer, changes: dict[str, str], codes: list[str]
) -> None:
    answered = found(sandbox, **changes)
    assert len(answered) <= 20
    assert set(codes) <= set(answered)
    assert answered[:1] == codes[:1]


@in_one_test("code", MESSAGES)
def test_every_error_can_be_provoked(sandbox: SandboxServer, code: int) -> None:
    assert ask(sandbox, LOOK_UP, id=f"99{code:04d}")["errorCode"] == code
    arm(sandbox, str(code), operation=LOOK_UP, count=1)
    assert ask(sandbox, LOOK_UP)["errorCode"] == code
    assert ask(sandbox, LOOK_UP)["errorCode"] == 0


def test_other_bodies_and_methods_are_refused(sandbox: SandboxServer) -> None:
    url = f"{sandbox.urls['BETA_POINTS_URL']}/{LOOK_UP}"

    assert post(url, data=b"x").json()["errorCode"] == 145
    assert post(url, data=b"[]").json()["errorCode"] == 145
    assert requests.get(url, timeout=TIMEOUT_S).status_code == 405

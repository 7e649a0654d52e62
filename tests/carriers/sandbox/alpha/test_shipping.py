"""alpha's shipping service: purchases, faults and reprints."""

import base64
import re
from datetime import datetime, timedelta
from typing import Any

import pytest

from carriers.sandbox.alpha.shipping import as_accepted
from carriers.sandbox.data import PARIS
from carriers.sandbox.server import SandboxServer
from carriers.sandbox.state import alpha_number
from tests.carriers.conftest import Clients
from tests.carriers.sandbox.alpha.orders import (
    ACCOUNT,
    EUROPE_RELAY,
    FRIDAY,
    RECIPIENT,
    REF,
    RELAY,
    SATURDAY,
    SHIPPER,
    SHOP_TO_SHOP,
    SKYBILL,
    THURSDAY,
    alpha_buy,
    on,
    product,
    reprint,
    to,
)
from tests.carriers.sandbox.changes import GONE, Changes
from tests.carriers.sandbox.control import NEW_ROW, get, ledger
from tests.carriers.support.shipments import CREDENTIALS, shipment
from tests.support.cases import in_one_test


def test_a_purchase_returns_a_label_and_is_entered_in_the_ledger(sandbox: SandboxServer) -> None:
    reply = alpha_buy(sandbox)

    assert reply.response.status_code == 200
    assert reply.response.headers["Content-Type"] == "text/xml; charset=utf-8"
    assert reply.code == "0"
    (number,) = reply.texts("skybillNumber")
    assert number == alpha_number(int(number[2:10]))
    assert base64.b64decode(reply.texts("pdfEtiquette")[0]).startswith(b"%PDF-")
    (row,) = ledger(sandbox)
    made_at = datetime.fromisoformat(row.pop("made_at"))
    assert abs(made_at - datetime.now(PARIS)) < timedelta(minutes=1)
    assert row == NEW_ROW | {
        "carrier": "alpha",
        "tracking_number": number,
        "account": ACCOUNT,
        "product_code": "01 0",
        "reservation_number": reply.texts("reservationNumber")[0],
    }


def test_several_parcels_are_one_call(sandbox: SandboxServer) -> None:
    reply = alpha_buy(sandbox, count=3)

    assert len(set(reply.texts("skybillNumber"))) == 3
    assert len(reply.texts("pdfEtiquette")) == 3
    assert [(row["parcel_rank"], row["parcel_count"]) for row in ledger(sandbox)] == [(1, 3), (2, 3), (3, 3)]


OVERSEAS_RELAY = {**RELAY, **to("RE", "97400")}


@in_one_test(
    "changes",
    [
        *(product(code, service) for code in ("01", "16") for service in ("0", "1", "6")),
        *(product("4I", service) for service in ("0", "973", "974")),
        {**product("44", "0"), **to("DE", "10115")},
        {**product("17", "0"), **to("US", "10001"), f"{SKYBILL}.content1": "Shirts"},
        {**product("17", "0"), **to("RE", "97400")},
        *({**product("86", service), **RELAY} for service in ("0", "1", "6")),
        {**product("86", "0"), **RELAY, **to("MC", "98000")},
        {**product("49", "337"), **EUROPE_RELAY, f"{SKYBILL}.weight": "3"},
        {**product("49", "338"), **EUROPE_RELAY, f"{SKYBILL}.weight": "3.01"},
        {**product("4P", "368"), **OVERSEAS_RELAY},
        {**product("4P", "369"), **OVERSEAS_RELAY, **on(THURSDAY)},
        {**product("4P", "369"), **OVERSEAS_RELAY, **on(FRIDAY)},
        {**product("4P", "368"), **OVERSEAS_RELAY, **on(SATURDAY)},
        SHOP_TO_SHOP,
        {**product("5X", "6"), **RELAY},
        {f"{SKYBILL}.weight": "30"},
        {f"{SKYBILL}.bulkNumber": GONE, f"{SKYBILL}.skybillRank": GONE},
        {"skybillParamsValue.mode": "PDF"},
        {"skybillParamsValue.mode": "SPD"},
        {f"{RECIPIENT}.recipientPreAlert": "22", f"{RECIPIENT}.recipientEmail": "marie.curie@example.com"},
        # As the carrier's own modules send numbers.
        *({f"{RECIPIENT}.recipientPhone": phone} for phone in ("06.01.02.03.04", "06-01-02-03-04")),
        # Ireland has an Eircode or an old code.
        *({**product("44", "0"), **to("IE", zip_code)} for zip_code in ("1", "2", "D02 X285", "A65F4E2")),
        {f"{SKYBILL}.latitude": "48.85", f"{SKYBILL}.longitude": "-2.35"},
        {f"{SKYBILL}.codValue": "0", f"{SKYBILL}.codCurrency": "EUR"},
        {f"{SKYBILL}.insuredValue": "0", f"{SKYBILL}.insuredCurrency": "EUR"},
        {f"{SKYBILL}.insuredValue": "2000000", f"{SKYBILL}.insuredCurrency": "EUR"},
        {f"{RECIPIENT}.recipientAdress1": "12-14 rue Saint-Honore", f"{RECIPIENT}.recipientCity": "Saint-Denis"},
        {f"{REF}.recipientRef": "21-12345", f"{SHIPPER}.shipperName": "Jean-Marie", f"{SKYBILL}.content1": "T-shirts"},
    ],
)
def test_every_documented_order_is_sold(sandbox: SandboxServer, changes: Changes) -> None:
    reply = alpha_buy(sandbox, changes)

    assert reply.code == "0", reply.texts("errorMessage")


def test_a_relay_products_magic_reference_is_in_content1(sandbox: SandboxServer) -> None:
    changes = {**product("86", "0"), **RELAY, f"{SKYBILL}.content1": "fault 38"}

    assert alpha_buy(sandbox, changes).code == "38"


@pytest.mark.parametrize("name", ["HANGG", "DOCTYPES", "ERROR200", "ACCEPT"])
def test_a_magic_reference_that_names_no_fault_of_alpha_is_refused(sandbox: SandboxServer, name: str) -> None:
    reply = alpha_buy(sandbox, {f"{REF}.recipientRef": f"FAULT {name}"})

    assert reply.code == "33"
    assert "no such fault" in reply.texts("errorMessage")[0]


# Reservations


def test_a_reservation_number_has_17_to_21_digits_and_comes_once(sandbox: SandboxServer) -> None:
    numbers = [alpha_buy(sandbox).texts("reservationNumber")[0] for _ in range(3)]

    assert all(re.fullmatch(r"\d{17,21}", number) for number in numbers)
    assert len(set(numbers)) == 3


def test_what_is_no_reservation_or_asked_for_wrongly_is_not_reprinted(sandbox: SandboxServer) -> None:
    bought = alpha_buy(sandbox)

    assert reprint(sandbox, bought.texts("skybillNumber")[0]).code == "33"
    assert reprint(sandbox, "").code == "33"
    assert reprint(sandbox, bought.texts("reservationNumber")[0], mode="Z2D").code == "33"
    assert reprint(sandbox, bought.texts("reservationNumber")[0], account="1").code == "32"


def test_a_label_is_sold_with_relays_nearby_too(sandbox: SandboxServer) -> None:
    bought = alpha_buy(sandbox, {"skybillParamsValue.mode": "PPR"})
    again = reprint(sandbox, bought.texts("reservationNumber")[0], mode="PPR")

    assert (bought.code, again.texts("type")) == ("0", ["PPR"])


def test_goods_are_taken_as_the_last_child(sandbox: SandboxServer) -> None:
    goods = {"articlesValue": [{"content": "Shirts", "hscode": "610910", "position": "1"}], "incoterm": "01"}

    assert alpha_buy(sandbox, {"customsValue": goods}).code == "0"


def test_numbers_may_be_ordered_without_labels(sandbox: SandboxServer) -> None:
    bought = alpha_buy(sandbox, {"skybillParamsValue.withReservation": "1"})

    assert bought.code == "0"
    assert bought.texts("pdfEtiquette") == []
    reply = reprint(sandbox, bought.texts("reservationNumber")[0])
    assert (len(reply.texts("skybill")), reply.texts("type")) == (1, ["THE"])


# Relays and customs

POINT: Changes = {
    **product("86", "0"),
    f"{REF}.recipientRef": "1487R",
    f"{REF}.idRelais": "1487R",
    f"{RECIPIENT}.recipientName": "Epicerie du Marche",
    f"{RECIPIENT}.recipientAdress1": "3 place du Marche",
    f"{RECIPIENT}.recipientZipCode": "35000",
    f"{RECIPIENT}.recipientCity": "Rennes",
}


def sold(sandbox: SandboxServer, changes: Changes) -> dict[str, Any]:
    """Buy a parcel and return all that the ledger knows of it."""
    reply = alpha_buy(sandbox, changes)
    assert reply.code == "0", reply.texts("errorMessage")
    parcel: dict[str, Any] = get(f"{sandbox.url}/ledger/parcel", tracking_number=reply.texts("skybillNumber")[0])
    return parcel


def test_a_customers_home_sends_the_parcel_to_the_wrong_depot(sandbox: SandboxServer) -> None:
    parcel = sold(sandbox, {**POINT, f"{RECIPIENT}.recipientZipCode": "75011", f"{RECIPIENT}.recipientCity": "Paris"})

    assert parcel["misrouted"] is True
    assert parcel["misrouted_by"] == ["recipientZipCode", "recipientCity"]
    assert parcel["routing"] == "FR 75011"
    assert ledger(sandbox)[0]["misrouted"] is True


@pytest.mark.parametrize(
    "changes",
    [
        {f"{RECIPIENT}.recipientName": "Marie Curie"},
        {f"{RECIPIENT}.recipientAdress1": "12 rue de la Paix"},
        {f"{RECIPIENT}.recipientAdress2": "3e etage"},
        {f"{RECIPIENT}.recipientCountry": "MC", f"{RECIPIENT}.recipientZipCode": "98000"},
        *({f"{REF}.recipientRef": code, f"{REF}.idRelais": code} for code in ("9999Z", "5601C", "5603E", "1487r")),
    ],
)
def test_any_other_address_or_a_point_that_takes_nothing_misroutes(sandbox: SandboxServer, changes: Changes) -> None:
    assert sold(sandbox, {**POINT, **changes})["misrouted"] is True


@pytest.mark.parametrize(
    ("street", "is_misrouted"),
    [("14 rue des Ecoles Batiment B", False), ("14 RUE DES ECOLES", True), ("14 rue desEcoles Batiment B", True)],
)
def test_a_relays_address_is_the_directorys_word_for_word(
    sandbox: SandboxServer, street: str, is_misrouted: bool
) -> None:
    relay = {
        f"{REF}.recipientRef": "2047h",
        f"{REF}.idRelais": "2047h",
        f"{RECIPIENT}.recipientName": "Librairie L Etoile",
        f"{RECIPIENT}.recipientAdress1": street,
        f"{RECIPIENT}.recipientZipCode": "31000",
        f"{RECIPIENT}.recipientCity": "Toulouse",
    }
    parcel = sold(sandbox, {**POINT, **relay})

    assert parcel["misrouted_by"] == (["recipientAdress1"] if is_misrouted else [])
    assert sold(sandbox, {**POINT, **relay, f"{RECIPIENT}.recipientName": "Librairie LEtoile"})["misrouted"] is True


@pytest.mark.parametrize(
    ("written", "accepted"),
    [
        ("12-14 RUE DE L'EGLISE", "12-14 RUE DE L EGLISE"),
        ("n°5, A & B", "N 5 A B"),
        ("Saint--Michel-", "SAINT MICHEL"),
        ("12 - 14 Świętokrzyska", "12 14 SWIETOKRZYSKA"),
        ("7\u20139 rue", "7 9 RUE"),
    ],
)
def test_the_carriers_own_texts_are_compared_as_it_accepts_them(written: str, accepted: str) -> None:
    assert as_accepted(written) == accepted


@pytest.mark.parametrize("code", ["2047h", "ABCDE", "31Z9Q", "12345"])
def test_a_relays_code_is_any_five_letters_or_digits(sandbox: SandboxServer, code: str) -> None:
    assert alpha_buy(sandbox, {**POINT, f"{REF}.recipientRef": code, f"{REF}.idRelais": code}).code == "0"


def test_value_and_contents_are_printed_outside_the_eu(sandbox: SandboxServer) -> None:
    customs = {f"{SKYBILL}.customsValue": "24.90", f"{SKYBILL}.customsCurrency": "EUR", f"{SKYBILL}.content1": "Shirts"}
    swiss = {**product("17", "0"), **to("CH", "3005"), **customs}
    two = {**swiss, f"{SKYBILL}.content2": "Socks", f"{SKYBILL}.customsValue": "0", f"{SKYBILL}.customsCurrency": GONE}

    assert "24.90 EUR Shirts" in sold(sandbox, swiss)["printed"]
    assert "0.00 EUR Shirts Socks" in sold(sandbox, two)["printed"]
    assert not [text for text in sold(sandbox, {**swiss, **to("DE", "10115")})["printed"] if "EUR" in text]


def test_the_ledger_says_what_was_insured_and_on_what_paper(sandbox: SandboxServer) -> None:
    changes = {
        f"{SKYBILL}.insuredValue": "12345", f"{SKYBILL}.insuredCurrency": "EUR", "skybillParamsValue.mode": "SPD",
    }  # fmt: skip
    parcel = sold(sandbox, changes)

    assert parcel["request"]["skybillValue"][0]["insuredValue"] == "12345"
    assert parcel["page_format"] == "A4"


def test_the_ledger_says_whether_structures_are_in_the_schemas_order(sandbox: SandboxServer, clients: Clients) -> None:
    (number,) = clients["alpha"].create_label(shipment(), CREDENTIALS["alpha"]).tracking_numbers

    assert get(f"{sandbox.url}/ledger/parcel", tracking_number=number)["in_schema_order"] is True  # see test_wire
    assert sold(sandbox, {})["in_schema_order"] is False


def test_the_kept_request_has_no_credentials(sandbox: SandboxServer) -> None:
    parcel = sold(sandbox, {"headerValue.subAccount": "12"})

    assert parcel["request"]["headerValue"] == [{"idEmit": "CHRFR", "identWebPro": "", "subAccount": "12"}]
    assert "password" not in parcel["request"]

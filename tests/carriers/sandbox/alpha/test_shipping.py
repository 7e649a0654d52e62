"""alpha's shipping service: purchases, faults and reprints."""

import base64
from datetime import datetime, timedelta

import pytest

from carriers.sandbox.alpha.tables import MESSAGES
from carriers.sandbox.countries import PARIS
from carriers.sandbox.server import SandboxServer
from carriers.sandbox.state import alpha_number
from tests.carriers.sandbox.alpha.orders import (
    ACCOUNT,
    EUROPE_RELAY,
    FRIDAY,
    RECIPIENT,
    REF,
    REFERENCE,
    RELAY,
    REPRINT,
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
from tests.carriers.sandbox.control import arm, ledger
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
    assert row == {
        "carrier": "alpha",
        "tracking_number": number,
        "reference": REFERENCE,
        "account": ACCOUNT,
        "product_code": "01 0",
        "weight_kg": 1.25,
        "parcel_rank": 1,
        "parcel_count": 1,
        "reservation_number": reply.texts("reservationNumber")[0],
        "misrouted": False,
        "journey": "home",
        "pace": 1.0,
        "cancelled": False,
    }


def test_the_same_request_twice_makes_two_parcels(sandbox: SandboxServer) -> None:
    numbers = {alpha_buy(sandbox).texts("skybillNumber")[0] for _ in range(2)}

    assert numbers == {row["tracking_number"] for row in ledger(sandbox)}
    assert len(numbers) == 2


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


@pytest.mark.parametrize("code", [*MESSAGES, 99])
def test_a_magic_reference_provokes_every_error_code(sandbox: SandboxServer, code: int) -> None:
    reply = alpha_buy(sandbox, {f"{REF}.recipientRef": f"FAULT {code}"})

    assert (reply.response.status_code, reply.code) == (200, str(code))
    assert ledger(sandbox) == []


def test_a_relay_products_magic_reference_is_in_content1(sandbox: SandboxServer) -> None:
    changes = {**product("86", "0"), **RELAY, f"{SKYBILL}.content1": "fault 38"}

    assert alpha_buy(sandbox, changes).code == "38"


def test_a_magic_reference_provokes_a_product_not_on_the_contract(sandbox: SandboxServer) -> None:
    reply = alpha_buy(sandbox, {f"{REF}.recipientRef": "FAULT CONTRACT"})

    assert reply.code == "33"
    assert "contract" in reply.texts("errorMessage")[0]


def test_a_magic_reference_provokes_a_soap_fault(sandbox: SandboxServer) -> None:
    reply = alpha_buy(sandbox, {f"{REF}.recipientRef": "FAULT SOAPFAULT"})

    assert reply.response.status_code == 500
    assert reply.texts("faultcode") == ["soap:Server"]
    assert ledger(sandbox) == []


@pytest.mark.parametrize("name", ["HANGG", "DOCTYPES", "ERROR200", "ACCEPT"])
def test_a_magic_reference_that_names_no_fault_of_alpha_is_refused(sandbox: SandboxServer, name: str) -> None:
    reply = alpha_buy(sandbox, {f"{REF}.recipientRef": f"FAULT {name}"})

    assert reply.code == "33"
    assert "no such fault" in reply.texts("errorMessage")[0]


def test_a_parcels_label_can_be_reprinted(sandbox: SandboxServer) -> None:
    bought = alpha_buy(sandbox)

    reply = reprint(sandbox, bought.texts("reservationNumber")[0])

    assert reply.code == "0"
    assert reply.texts("skybill") == bought.texts("pdfEtiquette")
    assert reply.texts("type") == ["THE"]
    assert len(ledger(sandbox)) == 1


def test_the_label_of_another_account_or_of_no_parcel_is_not_reprinted(sandbox: SandboxServer) -> None:
    number = alpha_buy(sandbox).texts("reservationNumber")[0]

    assert reprint(sandbox, number, account="11111111").code == "33"
    assert reprint(sandbox, "XU000000005FR").code == "33"
    assert reprint(sandbox, number, mode="Z2D").code == "33"
    assert reprint(sandbox, number, account="1").code == "32"


def test_a_reprint_can_fail_on_its_own(sandbox: SandboxServer) -> None:
    number = alpha_buy(sandbox).texts("reservationNumber")[0]
    arm(sandbox, "nolabel", operation=REPRINT, count=1)

    assert reprint(sandbox, number).texts("skybill") == []
    assert reprint(sandbox, number).texts("skybill")

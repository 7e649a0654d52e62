"""alpha's shipping service: what it sells, and everything it refuses."""

from __future__ import annotations

import base64
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from carriers.sandbox.alpha_tables import MESSAGES
from tests.carriers.sandbox.orders import (
    ACCOUNT,
    GONE,
    PARIS,
    PASSWORD,
    RELAY,
    SHIPPING,
    SOAP_HEADERS,
    Changes,
    Reply,
    alpha_buy,
    alpha_call,
    alpha_order,
    arm,
    changed,
    envelope,
    ledger,
    post,
    product,
    to,
)

if TYPE_CHECKING:
    from carriers.sandbox.server import SandboxServer

SKYBILL, REF, RECIPIENT, SHIPPER = "skybillValue.0", "refValue.0", "recipientValue.0", "shipperValue.0"


def is_s10(number: str) -> bool:
    total = sum(int(d) * w for d, w in zip(number[2:10], (8, 6, 4, 2, 3, 5, 9, 7), strict=True))
    return int(number[10]) == {10: 0, 11: 5}.get(11 - total % 11, 11 - total % 11)


def test_a_purchase_is_answered_with_a_label_and_stands_in_the_ledger(sandbox: SandboxServer) -> None:
    reply = alpha_buy(sandbox)

    assert reply.response.status_code == 200
    assert reply.response.headers["Content-Type"] == "text/xml; charset=utf-8"
    assert reply.code == "0"
    (number,) = reply.texts("skybillNumber")
    assert number.startswith("XU")
    assert number.endswith("FR")
    assert is_s10(number)
    assert base64.b64decode(reply.texts("pdfEtiquette")[0]).startswith(b"%PDF-")
    (row,) = ledger(sandbox)
    made_at = datetime.fromisoformat(row.pop("made_at"))
    assert abs(made_at - datetime.now(PARIS)) < timedelta(minutes=1)
    assert row == {
        "carrier": "alpha",
        "tracking_number": number,
        "reference": "LABEL0000000001",
        "account": ACCOUNT,
        "product_code": "01 0",
        "weight_kg": 1.25,
        "parcel_rank": 1,
        "parcel_count": 1,
        "is_cancelled": False,
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
EUROPE_RELAY = {**RELAY, **to("DE", "10115")}


@pytest.mark.parametrize(
    "changes",
    [
        product("01", "0"),
        product("01", "6"),
        product("16", "0"),
        product("4I", "973"),
        product("4I", "974"),
        {**product("44", "0"), **to("DE", "10115")},
        {**product("17", "0"), **to("US", "10001"), f"{SKYBILL}.content1": "Shirts"},
        {**product("17", "0"), **to("RE", "97400")},
        {**product("86", "0"), **RELAY},
        {**product("49", "337"), **EUROPE_RELAY, f"{SKYBILL}.weight": "3"},
        {**product("49", "338"), **EUROPE_RELAY, f"{SKYBILL}.weight": "3.01"},
        {**product("4P", "368"), **OVERSEAS_RELAY},
        {**product("4P", "369"), **OVERSEAS_RELAY},
        {**product("5E", "0"), **RELAY},
        {**product("5X", "6"), **RELAY},
        {f"{SKYBILL}.weight": "30"},
        {f"{SKYBILL}.bulkNumber": GONE, f"{SKYBILL}.skybillRank": GONE},
        {"skybillParamsValue.mode": "PDF"},
        {"skybillParamsValue.mode": "SPD"},
        {f"{RECIPIENT}.recipientPreAlert": "22", f"{RECIPIENT}.recipientEmail": "marie.curie@example.com"},
        {f"{SKYBILL}.insuredValue": "0", f"{SKYBILL}.insuredCurrency": "EUR"},
    ],
)
def test_what_the_page_describes_is_sold(sandbox: SandboxServer, changes: Changes) -> None:
    reply = alpha_buy(sandbox, changes)

    assert reply.code == "0", reply.texts("errorMessage")


YESTERDAY = (datetime.now(PARIS) - timedelta(days=2)).strftime("%Y-%m-%dT%H:%M:%S")


@pytest.mark.parametrize(
    ("code", "field", "changes"),
    [
        # Empty, where the page says required.
        *(
            ("31", field, {path: value})
            for value in ("", GONE)
            for path in (
                "headerValue.accountNumber", "headerValue.idEmit",
                f"{SHIPPER}.shipperCivility", f"{SHIPPER}.shipperName", f"{SHIPPER}.shipperAdress1",
                f"{SHIPPER}.shipperZipCode", f"{SHIPPER}.shipperCity", f"{SHIPPER}.shipperCountry",
                f"{SHIPPER}.shipperPreAlert", "customerValue.customerCivility", "customerValue.customerName",
                "customerValue.customerPreAlert", f"{RECIPIENT}.recipientName", f"{RECIPIENT}.recipientAdress1",
                f"{RECIPIENT}.recipientZipCode", f"{RECIPIENT}.recipientCity", f"{RECIPIENT}.recipientCountry",
                f"{RECIPIENT}.recipientPreAlert", f"{SKYBILL}.productCode", f"{SKYBILL}.service",
                f"{SKYBILL}.evtCode", f"{SKYBILL}.objectType", f"{SKYBILL}.shipDate", f"{SKYBILL}.shipHour",
                f"{SKYBILL}.weight", f"{SKYBILL}.weightUnit", f"{SKYBILL}.height", f"{SKYBILL}.length",
                f"{SKYBILL}.width", "skybillParamsValue.duplicata", "skybillParamsValue.mode",
                "skybillParamsValue.withReservation", "password", "modeRetour", "numberOfParcel", "version",
                "multiParcel",
            )
            for field in (path.split(".")[-1],)
        ),
        *(("31", name, {name: GONE}) for name in (
            "headerValue", "shipperValue", "customerValue", "recipientValue", "refValue", "skybillValue",
            "skybillParamsValue",
        )),
        ("31", "customsCurrency", {f"{SKYBILL}.customsValue": "500"}),
        ("31", "content1", {**product("17", "0"), **to("US", "10001")}),
        ("31", "recipientPhone", {**product("49", "337"), **EUROPE_RELAY, f"{RECIPIENT}.recipientPhone": ""}),
        ("31", "recipientRef", {**product("86", "0"), **RELAY, f"{REF}.recipientRef": ""}),
        ("31", "idRelais", {**product("86", "0"), **RELAY, f"{REF}.idRelais": GONE}),
        # Lengths.
        ("32", "accountNumber", {"headerValue.accountNumber": "1234567"}),
        ("32", "password", {"password": "12345"}),
        ("32", "shipperName", {f"{SHIPPER}.shipperName": "x" * 101}),
        ("32", "shipperAdress2", {f"{SHIPPER}.shipperAdress2": "x" * 39}),
        ("32", "recipientAdress1", {f"{RECIPIENT}.recipientAdress1": "x" * 39}),
        ("32", "recipientZipCode", {f"{RECIPIENT}.recipientZipCode": "1" * 10}),
        ("32", "recipientCity", {f"{RECIPIENT}.recipientCity": "x" * 51}),
        ("32", "recipientContactName", {f"{RECIPIENT}.recipientContactName": "x" * 101}),
        ("32", "recipientEmail", {f"{RECIPIENT}.recipientEmail": "x" * 70 + "@example.com"}),
        ("32", "recipientMobilePhone", {f"{RECIPIENT}.recipientMobilePhone": "1" * 18}),
        ("32", "shipperRef", {f"{REF}.shipperRef": "x" * 36}),
        ("32", "recipientRef", {f"{REF}.recipientRef": "x" * 36}),
        ("32", "customerSkybillNumber", {f"{REF}.customerSkybillNumber": "x" * 16}),
        ("32", "content1", {f"{SKYBILL}.content1": "x" * 46}),
        # Numbers.
        ("34", "accountNumber", {"headerValue.accountNumber": "1234567A"}),
        ("34", "password", {"password": "secret"}),
        ("34", "shipperPreAlert", {f"{SHIPPER}.shipperPreAlert": "no"}),
        ("34", "service", {f"{SKYBILL}.service": "1234"}),
        ("34", "weight", {f"{SKYBILL}.weight": "1,25"}),
        ("34", "shipHour", {f"{SKYBILL}.shipHour": "noon"}),
        ("34", "codValue", {f"{SKYBILL}.codValue": "1.5"}),
        ("34", "numberOfParcel", {"numberOfParcel": "one"}),
        # Values.
        ("33", "idEmit", {"headerValue.idEmit": "CHRXX"}),
        ("33", "subAccount", {"headerValue.subAccount": "1"}),
        ("33", "shipperCivility", {f"{SHIPPER}.shipperCivility": "X"}),
        ("33", "shipperName", {f"{SHIPPER}.shipperName": "Dürand"}),
        ("33", "recipientName", {f"{RECIPIENT}.recipientName": "Curie & Fils"}),
        ("33", "recipientAdress1", {f"{RECIPIENT}.recipientAdress1": "12/14 rue"}),
        ("33", "recipientCity", {f"{RECIPIENT}.recipientCity": "L'Isle"}),
        ("33", "recipientCountry", {f"{RECIPIENT}.recipientCountry": "XX"}),
        ("33", "recipientCountry", {f"{RECIPIENT}.recipientCountry": "fr"}),
        ("33", "recipientEmail", {f"{RECIPIENT}.recipientEmail": "nobody"}),
        ("33", "recipientPhone", {f"{RECIPIENT}.recipientPhone": "06.01.02.03.04"}),
        ("33", "recipientPreAlert", {f"{RECIPIENT}.recipientPreAlert": "1"}),
        ("33", "recipientType", {f"{RECIPIENT}.recipientType": "3"}),
        ("33", "printAsSender", {"customerValue.printAsSender": "X"}),
        ("33", "shipperRef", {f"{REF}.shipperRef": "LABEL#1"}),
        ("33", "evtCode", {f"{SKYBILL}.evtCode": "XX"}),
        ("33", "objectType", {f"{SKYBILL}.objectType": "DOC"}),
        ("33", "weightUnit", {f"{SKYBILL}.weightUnit": "GRM"}),
        ("33", "shipDate", {f"{SKYBILL}.shipDate": "2026-02-30T10:00:00"}),
        ("33", "shipDate", {f"{SKYBILL}.shipDate": "2026-02-03"}),
        ("33", "shipDate", {f"{SKYBILL}.shipDate": YESTERDAY}),
        ("33", "shipHour", {f"{SKYBILL}.shipHour": "24"}),
        ("33", "customsCurrency", {f"{SKYBILL}.customsValue": "1", f"{SKYBILL}.customsCurrency": "USD"}),
        ("33", "duplicata", {"skybillParamsValue.duplicata": "Y"}),
        ("33", "mode", {"skybillParamsValue.mode": "Z2D"}),
        ("33", "withReservation", {"skybillParamsValue.withReservation": "1"}),
        ("33", "modeRetour", {"modeRetour": "1"}),
        ("33", "version", {"version": "1.0"}),
        # Weight and relay.
        ("33", "weight", {f"{SKYBILL}.weight": "0"}),
        ("33", "weight", {f"{SKYBILL}.weight": "30.01"}),
        ("33", "weight", {**product("86", "0"), **RELAY, f"{SKYBILL}.weight": "20.5"}),
        ("33", "idRelais", {f"{REF}.idRelais": "1234A"}),
        ("33", "idRelais", {**product("86", "0"), **RELAY, f"{REF}.idRelais": "12345"}),
        ("33", "recipientRef", {**product("86", "0"), **RELAY, f"{REF}.recipientRef": "4321A"}),
        # Several parcels.
        ("33", "numberOfParcel", {"numberOfParcel": "0"}),
        ("33", "numberOfParcel", {"numberOfParcel": "101", "multiParcel": "Y"}),
        ("33", "multiParcel", {"multiParcel": "Y"}),
        ("33", "refValue", {"numberOfParcel": "2", "multiParcel": "Y"}),
        ("33", "skybillRank", {f"{SKYBILL}.skybillRank": "2"}),
        ("33", "bulkNumber", {f"{SKYBILL}.bulkNumber": "3"}),
        # Products and places.
        ("33", "contract", product("99", "0")),
        ("35", "GeoPost", product("01", "7")),
        ("35", "GeoPost", {**product("01", "0"), **to("DE", "10115")}),
        ("35", "GeoPost", {**product("86", "0"), **RELAY, **to("RE", "97400")}),
        ("35", "GeoPost", {**product("49", "338"), **EUROPE_RELAY, f"{SKYBILL}.weight": "3"}),
        ("35", "GeoPost", {**product("49", "337"), **EUROPE_RELAY, f"{SKYBILL}.weight": "3.01"}),
        ("35", "GeoPost", {**product("4P", "368"), **EUROPE_RELAY}),
        ("38", "recipient", to("FR", "97400")),
        ("38", "recipient", to("FR", "1234")),
        ("38", "recipient", {**product("44", "0"), **to("DE", "1234")}),
        ("38", "shipper", {f"{SHIPPER}.shipperZipCode": "98000"}),
        # Credentials.
        ("30", "contract", {"password": "000000"}),
        ("30", "contract", {"headerValue.accountNumber": "12000030"}),
        ("33", "contract", {"headerValue.accountNumber": "12000033"}),
    ],
)  # fmt: skip
def test_what_breaks_a_rule_is_refused_by_code(sandbox: SandboxServer, code: str, field: str, changes: Changes) -> None:
    reply = alpha_buy(sandbox, changes)

    assert reply.response.status_code == 200
    assert reply.code == code
    assert field in reply.texts("errorMessage")[0]
    assert reply.texts("pdfEtiquette") == []
    assert ledger(sandbox) == []


def test_parcels_of_one_call_need_their_ranks(sandbox: SandboxServer) -> None:
    assert alpha_buy(sandbox, {"skybillValue.1.skybillRank": GONE}, count=2).code == "31"
    assert alpha_buy(sandbox, {"skybillValue.1.skybillRank": "1"}, count=2).code == "33"


def reordered() -> dict[str, Any]:
    order = alpha_order()
    return {"password": order.pop("password"), **order}


GOOD = envelope("shippingMultiParcelV4", alpha_order())


@pytest.mark.parametrize(
    ("body", "headers"),
    [
        (b"", {}),
        (b"not xml", {}),
        (b"<a/>", {}),
        (b'<!DOCTYPE a [<!ENTITY b "c">]>' + GOOD.split(b"?>", 1)[1], {}),
        (GOOD.replace(b"schemas.xmlsoap.org/soap", b"www.w3.org/2003/05/soap"), {}),
        (GOOD, {"Content-Type": "application/xml"}),
        (GOOD, {"Content-Type": "text/xml; charset=iso-8859-1"}),
        (GOOD, {"SOAPAction": None}),
        (GOOD, {"SOAPAction": '"shippingMultiParcelV4"'}),
        (envelope("shippingMultiParcelV4", alpha_order(), "urn:other"), {}),
        (envelope("shippingV1", alpha_order()), {}),
        (envelope("shippingMultiParcelV4", reordered()), {}),
        (envelope("shippingMultiParcelV4", {**alpha_order(), "extra": "1"}), {}),
        (envelope("shippingMultiParcelV4", {f"{{{SHIPPING}}}headerValue": {}}), {}),
        (envelope("shippingMultiParcelV4", changed(alpha_order(), {"headerValue.extra": "1"})), {}),
        (envelope("shippingMultiParcelV4", changed(alpha_order(), {"headerValue.idEmit": {"a": "b"}})), {}),
        (envelope("shippingMultiParcelV4", changed(alpha_order(), {"headerValue.idEmit": ["a", "b"]})), {}),
        (envelope("shippingMultiParcelV4", changed(alpha_order(), {"customerValue": [{}, {}]})), {}),
    ],
)  # fmt: skip
def test_what_is_no_message_of_the_service_is_a_soap_fault(
    sandbox: SandboxServer, body: bytes, headers: dict[str, str | None]
) -> None:
    reply = Reply(post(sandbox.alpha_url, data=body, headers={**SOAP_HEADERS, **headers}))

    assert reply.response.status_code == 500
    assert reply.texts("faultcode") == ["soap:Client"]
    assert reply.texts("faultstring")[0]
    assert ledger(sandbox) == []


@pytest.mark.parametrize("code", [*MESSAGES, 99])
def test_every_error_code_is_had_by_the_magic_reference(sandbox: SandboxServer, code: int) -> None:
    reply = alpha_buy(sandbox, {f"{REF}.recipientRef": f"FAULT {code}"})

    assert (reply.response.status_code, reply.code) == (200, str(code))
    assert ledger(sandbox) == []


def test_a_relay_products_magic_reference_is_in_content1(sandbox: SandboxServer) -> None:
    changes = {**product("86", "0"), **RELAY, f"{SKYBILL}.content1": "fault 38"}

    assert alpha_buy(sandbox, changes).code == "38"


def test_product_not_on_the_contract_is_had_by_name(sandbox: SandboxServer) -> None:
    reply = alpha_buy(sandbox, {f"{REF}.recipientRef": "FAULT CONTRACT"})

    assert reply.code == "33"
    assert "contract" in reply.texts("errorMessage")[0]


def test_a_soap_fault_is_had_by_name(sandbox: SandboxServer) -> None:
    reply = alpha_buy(sandbox, {f"{REF}.recipientRef": "FAULT SOAPFAULT"})

    assert reply.response.status_code == 500
    assert reply.texts("faultcode") == ["soap:Server"]
    assert ledger(sandbox) == []


@pytest.mark.parametrize("name", ["HANGG", "DOCTYPES", "ERROR200", "ACCEPT"])
def test_a_magic_reference_that_names_no_fault_of_alpha_is_refused(sandbox: SandboxServer, name: str) -> None:
    reply = alpha_buy(sandbox, {f"{REF}.recipientRef": f"FAULT {name}"})

    assert reply.code == "33"
    assert "no such fault" in reply.texts("errorMessage")[0]


def reprint(sandbox: SandboxServer, number: str, account: str = ACCOUNT, mode: str = "THE") -> Reply:
    return alpha_call(
        sandbox,
        "getReservedSkybillWithTypeAndModeAuth",
        numberSearch=number,
        mode=mode,
        accountNumber=account,
        password=PASSWORD,
    )


def test_the_label_of_a_parcel_is_had_again(sandbox: SandboxServer) -> None:
    bought = alpha_buy(sandbox)

    reply = reprint(sandbox, bought.texts("skybillNumber")[0])

    assert reply.code == "0"
    assert reply.texts("skybill") == bought.texts("pdfEtiquette")
    assert reply.texts("type") == ["THE"]
    assert len(ledger(sandbox)) == 1


def test_the_label_of_another_account_or_of_no_parcel_is_not_had(sandbox: SandboxServer) -> None:
    number = alpha_buy(sandbox).texts("skybillNumber")[0]

    assert reprint(sandbox, number, account="11111111").code == "33"
    assert reprint(sandbox, "XU000000005FR").code == "33"
    assert reprint(sandbox, number, mode="Z2D").code == "33"
    assert reprint(sandbox, number, account="1").code == "32"


def test_a_reprint_can_fail_on_its_own(sandbox: SandboxServer) -> None:
    number = alpha_buy(sandbox).texts("skybillNumber")[0]
    arm(sandbox, "nolabel", operation="getReservedSkybillWithTypeAndModeAuth", count=1)

    assert reprint(sandbox, number).texts("skybill") == []
    assert reprint(sandbox, number).texts("skybill")

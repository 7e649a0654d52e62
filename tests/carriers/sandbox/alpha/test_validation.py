"""alpha's refusals: broken rules by their code, malformed messages by a SOAP fault."""

from datetime import datetime, timedelta
from typing import Any

from carriers.sandbox.data import PARIS
from carriers.sandbox.server import SandboxServer
from tests.carriers.sandbox.alpha.orders import (
    BUY,
    EUROPE_RELAY,
    RECIPIENT,
    REF,
    RELAY,
    SATURDAY,
    SHIPPER,
    SHIPPING,
    SHOP_TO_SHOP,
    SKYBILL,
    SOAP_HEADERS,
    WEDNESDAY,
    Reply,
    alpha_buy,
    alpha_order,
    envelope,
    on,
    product,
    to,
)
from tests.carriers.sandbox.changes import GONE, Changes, changed
from tests.carriers.sandbox.control import ledger, post
from tests.support.cases import in_one_test

TWO_DAYS_AGO = (datetime.now(PARIS) - timedelta(days=2)).strftime("%Y-%m-%dT%H:%M:%S")


@in_one_test(
    "code, field, changes",
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
        ("32", "service", {f"{SKYBILL}.service": "1234"}),
        ("32", "productCode", {f"{SKYBILL}.productCode": "001"}),
        # Numbers.
        ("34", "accountNumber", {"headerValue.accountNumber": "1234567A"}),
        ("34", "password", {"password": "secret"}),
        ("34", "shipperPreAlert", {f"{SHIPPER}.shipperPreAlert": "no"}),
        ("34", "service", {f"{SKYBILL}.service": "six"}),
        ("34", "weight", {f"{SKYBILL}.weight": "1,25"}),
        ("34", "shipHour", {f"{SKYBILL}.shipHour": "noon"}),
        ("34", "codValue", {f"{SKYBILL}.codValue": "1.5"}),
        ("34", "numberOfParcel", {"numberOfParcel": "one"}),
        # Values.
        ("33", "idEmit", {"headerValue.idEmit": "CHRXX"}),
        ("34", "subAccount", {"headerValue.subAccount": "A1"}),
        ("34", "subAccount", {f"{SKYBILL}.subAccount": "A1"}),
        ("33", "shipperCivility", {f"{SHIPPER}.shipperCivility": "X"}),
        ("33", "shipperName", {f"{SHIPPER}.shipperName": "Dürand"}),
        ("33", "recipientName", {f"{RECIPIENT}.recipientName": "Curie & Fils"}),
        ("33", "recipientAdress1", {f"{RECIPIENT}.recipientAdress1": "12/14 rue"}),
        ("33", "recipientCity", {f"{RECIPIENT}.recipientCity": "L'Isle"}),
        ("33", "recipientCity", {f"{RECIPIENT}.recipientCity": "Saint--Denis"}),
        ("33", "recipientCity", {f"{RECIPIENT}.recipientCity": "Saint-Denis-"}),
        ("33", "recipientCity", {f"{RECIPIENT}.recipientCity": "Saint -Denis"}),
        ("33", "recipientAdress1", {f"{RECIPIENT}.recipientAdress1": "-12 rue"}),
        ("33", "recipientZipCode", {f"{RECIPIENT}.recipientZipCode": "75011-"}),
        ("33", "recipientCountry", {f"{RECIPIENT}.recipientCountry": "XX"}),
        ("33", "recipientCountry", {f"{RECIPIENT}.recipientCountry": "fr"}),
        ("33", "recipientEmail", {f"{RECIPIENT}.recipientEmail": "nobody"}),
        ("33", "recipientPhone", {f"{RECIPIENT}.recipientPhone": "06/01/02/03/04"}),
        *(
            ("33", "recipientPhone", {**product("49", "337"), **EUROPE_RELAY, f"{RECIPIENT}.recipientPhone": phone})
            for phone in ("+49301234567", "0301234567", "49 301234567", "+493 01234567", "+4 9301234567")
        ),
        (
            "33",
            "recipientMobilePhone",
            {**product("49", "337"), **EUROPE_RELAY, f"{RECIPIENT}.recipientMobilePhone": "+491701234567"},
        ),
        ("33", "recipientPreAlert", {f"{RECIPIENT}.recipientPreAlert": "1"}),
        ("33", "recipientType", {f"{RECIPIENT}.recipientType": "3"}),
        ("33", "printAsSender", {"customerValue.printAsSender": "X"}),
        ("33", "shipperRef", {f"{REF}.shipperRef": "LABEL#1"}),
        ("33", "evtCode", {f"{SKYBILL}.evtCode": "XX"}),
        ("33", "objectType", {f"{SKYBILL}.objectType": "DOC"}),
        ("33", "weightUnit", {f"{SKYBILL}.weightUnit": "GRM"}),
        ("33", "shipDate", {f"{SKYBILL}.shipDate": "2026-02-30T10:00:00"}),
        ("33", "shipDate", {f"{SKYBILL}.shipDate": "2026-02-03"}),
        ("33", "shipDate", {f"{SKYBILL}.shipDate": TWO_DAYS_AGO}),
        ("33", "shipHour", {f"{SKYBILL}.shipHour": "24"}),
        ("33", "customsCurrency", {f"{SKYBILL}.customsValue": "1", f"{SKYBILL}.customsCurrency": "USD"}),
        ("31", "toTheOrderOf", {f"{SKYBILL}.codValue": "500", f"{SKYBILL}.codCurrency": "EUR"}),
        ("31", "insuredCurrency", {f"{SKYBILL}.insuredValue": "500"}),
        ("34", "insuredValue", {f"{SKYBILL}.insuredValue": "5.00", f"{SKYBILL}.insuredCurrency": "EUR"}),
        ("33", "insuredValue", {f"{SKYBILL}.insuredValue": "2000001", f"{SKYBILL}.insuredCurrency": "EUR"}),
        ("33", "duplicata", {"skybillParamsValue.duplicata": "Y"}),
        ("33", "mode", {"skybillParamsValue.mode": "Z2D"}),
        ("33", "withReservation", {"skybillParamsValue.withReservation": "0"}),
        ("33", "modeRetour", {"modeRetour": "1"}),
        ("33", "version", {"version": "1.0"}),
        # Weight and relay.
        ("33", "weight", {f"{SKYBILL}.weight": "0"}),
        ("33", "weight", {f"{SKYBILL}.weight": "30.01"}),
        ("33", "weight", {**product("86", "0"), **RELAY, f"{SKYBILL}.weight": "20.5"}),
        ("33", "idRelais", {f"{REF}.idRelais": "1234A"}),
        ("33", "idRelais", {**product("86", "0"), **RELAY, f"{REF}.idRelais": "12345A"}),
        ("33", "idRelais", {**product("86", "0"), **RELAY, f"{REF}.idRelais": "1234-"}),
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
        ("35", "GeoPost", {**SHOP_TO_SHOP, f"{SKYBILL}.service": "0"}),
        ("35", "as", {**SHOP_TO_SHOP, f"{SKYBILL}.as": GONE}),
        ("35", "as", {**SHOP_TO_SHOP, f"{SKYBILL}.as": "A16"}),
        ("35", "as", {f"{SKYBILL}.as": "A15"}),
        ("32", "as", {f"{SKYBILL}.as": "A155"}),
        ("35", "GeoPost", {**product("01", "0"), **to("DE", "10115")}),
        ("35", "GeoPost", {**product("86", "0"), **RELAY, **to("RE", "97400")}),
        ("35", "GeoPost", {**product("5X", "6"), **RELAY, **to("MC", "98000")}),
        ("35", "GeoPost", {**SHOP_TO_SHOP, **to("MC", "98000")}),
        ("35", "GeoPost", {**product("49", "338"), **EUROPE_RELAY, f"{SKYBILL}.weight": "3"}),
        ("35", "GeoPost", {**product("49", "337"), **EUROPE_RELAY, f"{SKYBILL}.weight": "3.01"}),
        ("35", "GeoPost", {**product("4P", "368"), **EUROPE_RELAY}),
        ("35", "Saturday", {**product("4P", "369"), **RELAY, **to("RE", "97400"), **on(SATURDAY)}),
        ("35", "Saturday", {**product("4P", "369"), **RELAY, **to("RE", "97400"), **on(WEDNESDAY)}),
        ("35", "GeoPost", product("4I", "6")),
        *(("35", "GeoPost", {**product("44", service), **to("DE", "10115")}) for service in ("1", "6")),
        ("38", "recipient", {**product("44", "0"), **to("IE", "3")}),
        ("38", "recipient", {**product("44", "0"), **to("IE", "1234")}),
        ("38", "recipient", to("FR", "97400")),
        ("38", "recipient", to("FR", "1234")),
        ("38", "recipient", {**product("44", "0"), **to("DE", "1234")}),
        # The routing code is of the recipient's place alone: another one's postal code is a malformed value.
        ("33", "shipperZipCode", {f"{SHIPPER}.shipperZipCode": "98000"}),
        ("33", "customerZipCode", {"customerValue.customerZipCode": "98000"}),
        # Credentials.
        ("30", "contract", {"password": "000000"}),
        ("30", "contract", {"headerValue.accountNumber": "12000030"}),
        ("33", "contract", {"headerValue.accountNumber": "12000033"}),
        ("29", "password", {"headerValue.accountNumber": "12000029"}),
        ("33", "Invalid accesColis account number", {"headerValue.accountNumber": "12000133"}),
        ("33", "Invalid accesColis password", {"headerValue.accountNumber": "12000233"}),
        ("33", "Invalid identWebPro password", {"headerValue.accountNumber": "12000333"}),
    ],
)  # fmt: skip
def test_a_broken_rule_is_refused_by_code(sandbox: SandboxServer, code: str, field: str, changes: Changes) -> None:
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


GOOD = envelope(BUY, alpha_order())


@in_one_test("body, headers", [
        (b"", {}),
        (b"not xml", {}),
        (b"<a/>", {}),
        (b'<!DOCTYPE a [<!ENTITY b "c">]>' + GOOD.split(b"?>", 1)[1], {}),
        (GOOD.replace(b"schemas.xmlsoap.org/soap", b"www.w3.org/2003/05/soap"), {}),
        (GOOD, {"Content-Type": "application/xml"}),
        (GOOD, {"Content-Type": "text/xml; charset=iso-8859-1"}),
        (GOOD, {"SOAPAction": None}),
        (GOOD, {"SOAPAction": '"shippingMultiParcelV4"'}),
        (envelope(BUY, alpha_order(), "urn:other"), {}),
        (envelope("shippingV1", alpha_order()), {}),
        (envelope(BUY, reordered()), {}),
        (envelope(BUY, {**alpha_order(), "extra": "1"}), {}),
        (envelope(BUY, {f"{{{SHIPPING}}}headerValue": {}}), {}),
        (envelope(BUY, changed(alpha_order(), {"headerValue.extra": "1"})), {}),
        (envelope(BUY, changed(alpha_order(), {"headerValue.idEmit": {"a": "b"}})), {}),
        (envelope(BUY, changed(alpha_order(), {"headerValue.idEmit": ["a", "b"]})), {}),
        (envelope(BUY, changed(alpha_order(), {"customerValue": [{}, {}]})), {}),
    ])  # fmt: skip
def test_a_malformed_message_is_a_soap_fault(
    sandbox: SandboxServer, body: bytes, headers: dict[str, str | None]
) -> None:
    reply = Reply(post(sandbox.urls["ALPHA_URL"], data=body, headers={**SOAP_HEADERS, **headers}))

    assert reply.response.status_code == 500
    assert reply.texts("faultcode") == ["soap:Client"]
    assert reply.texts("faultstring")[0]
    assert ledger(sandbox) == []

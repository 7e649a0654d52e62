"""Valid requests to alpha, written by hand from its documents, and functions that send them."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from xml.etree import ElementTree as ET

import requests

from carriers.sandbox.data import PARIS
from carriers.sandbox.server import SandboxServer
from tests.carriers.sandbox.changes import Changes, changed
from tests.carriers.sandbox.control import post

SHIPPING = "http://cxf.shipping.soap.chronopost.fr/"
# Of the services, by the settings that take their URLs.
NAMESPACES = {
    "ALPHA_URL": SHIPPING,
    "ALPHA_TRACKING_URL": "http://cxf.tracking.soap.chronopost.fr/",
    "ALPHA_POINTS_URL": "http://cxf.rechercheBt.soap.chronopost.fr/",
    "ALPHA_QUICKCOST_URL": "http://cxf.quickcost.soap.chronopost.fr/",
}
SOAP_HEADERS = {"Content-Type": "text/xml; charset=utf-8", "SOAPAction": '""'}
ACCOUNT, PASSWORD = "19869502", "255562"
BUY, REPRINT = "shippingMultiParcelV4", "getReservedSkybillWithTypeAndModeAuth"
REFERENCE = "LABEL0000000001"
SKYBILL, REF, RECIPIENT, SHIPPER = "skybillValue.0", "refValue.0", "recipientValue.0", "shipperValue.0"


def _place(prefix: str) -> dict[str, str]:
    return {
        f"{prefix}Name": "Atelier Durand",
        f"{prefix}Adress1": "12 rue de la Paix",
        f"{prefix}ZipCode": "75011",
        f"{prefix}City": "Paris",
        f"{prefix}Country": "FR",
    }


def alpha_order(count: int = 1) -> dict[str, Any]:
    now = datetime.now(PARIS)
    skybill = {
        "productCode": "01", "service": "0", "evtCode": "DC", "objectType": "MAR",
        "shipDate": now.strftime("%Y-%m-%dT%H:%M:%S"), "shipHour": str(now.hour),
        "weight": "1.25", "weightUnit": "KGM", "height": "1", "length": "1", "width": "1",
    }  # fmt: skip
    return {
        "headerValue": {"accountNumber": ACCOUNT, "idEmit": "CHRFR", "identWebPro": "", "subAccount": ""},
        "shipperValue": [{"shipperCivility": "M", **_place("shipper"), "shipperPreAlert": "0"}],
        "customerValue": {"customerCivility": "M", **_place("customer"), "customerPreAlert": "0"},
        "recipientValue": [
            {
                **_place("recipient"),
                "recipientName2": "Marie Curie",
                "recipientPreAlert": "0",
                "recipientPhone": "+33601020304",
            }
        ],
        "refValue": [{"shipperRef": REFERENCE, "recipientRef": "ORDER 1001"} for _ in range(count)],
        "skybillValue": [{**skybill, "bulkNumber": str(count), "skybillRank": str(rank + 1)} for rank in range(count)],
        "skybillParamsValue": {"duplicata": "N", "mode": "THE", "withReservation": "2"},
        "password": PASSWORD,
        "modeRetour": "2",
        "numberOfParcel": str(count),
        "version": "2.0",
        "multiParcel": "Y" if count > 1 else "N",
    }


RELAY: Changes = {f"{REF}.recipientRef": "1234A", f"{REF}.idRelais": "1234A"}


def to(country: str, postal_code: str) -> Changes:
    return {f"{RECIPIENT}.recipientCountry": country, f"{RECIPIENT}.recipientZipCode": postal_code}


def product(code: str, service: str) -> Changes:
    return {f"{SKYBILL}.productCode": code, f"{SKYBILL}.service": service}


WEDNESDAY, THURSDAY, FRIDAY, SATURDAY = 2, 3, 4, 5


def on(weekday: int) -> Changes:
    """Ship on the next such day."""
    today = datetime.now(PARIS)
    day = today + timedelta(days=(weekday - today.weekday()) % 7)
    return {f"{SKYBILL}.shipDate": day.strftime("%Y-%m-%dT%H:%M:%S")}


EUROPE_RELAY = {**RELAY, **to("DE", "10115"), f"{RECIPIENT}.recipientPhone": "+49 301234567"}
SHOP_TO_SHOP = {**RELAY, **product("5E", "6"), f"{SKYBILL}.as": "A15"}


def envelope(operation: str, children: dict[str, Any], namespace: str = SHIPPING) -> bytes:
    root = ET.Element("{http://schemas.xmlsoap.org/soap/envelope/}Envelope")
    body = ET.SubElement(root, "{http://schemas.xmlsoap.org/soap/envelope/}Body")
    _fill(ET.SubElement(body, f"{{{namespace}}}{operation}"), children)
    return bytes(ET.tostring(root, encoding="UTF-8", xml_declaration=True))


def _fill(element: ET.Element, children: dict[str, Any]) -> None:
    for name, value in children.items():
        for item in value if isinstance(value, list) else [value]:
            child = ET.SubElement(element, name)
            if isinstance(item, dict):
                _fill(child, item)
            else:
                child.text = item


@dataclass
class Reply:
    """The parsed answer of a SOAP operation."""

    response: requests.Response

    def texts(self, name: str) -> list[str]:
        return [element.text or "" for element in ET.fromstring(self.response.content).iter(name)]

    @property
    def code(self) -> str:
        return self.texts("errorCode")[0]


def alpha_call(sandbox: SandboxServer, setting: str, operation: str, children: dict[str, Any]) -> Reply:
    content = envelope(operation, children, NAMESPACES[setting])
    return Reply(post(sandbox.urls[setting], data=content, headers=SOAP_HEADERS))


def alpha_buy(sandbox: SandboxServer, changes: Changes | None = None, count: int = 1) -> Reply:
    return alpha_call(sandbox, "ALPHA_URL", BUY, changed(alpha_order(count), changes or {}))


def reprint(sandbox: SandboxServer, number: str, account: str = ACCOUNT, mode: str = "THE") -> Reply:
    children = {"numberSearch": number, "mode": mode, "accountNumber": account, "password": PASSWORD}
    return alpha_call(sandbox, "ALPHA_URL", REPRINT, children)


def search(sandbox: SandboxServer, reference: str = REFERENCE, account: str = ACCOUNT) -> Reply:
    children = {"accountNumber": account, "password": PASSWORD, "language": "fr_FR", "sendersRef": reference}
    return alpha_call(sandbox, "ALPHA_TRACKING_URL", "trackWithSenderRef", children)


def cancel(sandbox: SandboxServer, number: str, account: str = ACCOUNT) -> Reply:
    children = {"accountNumber": account, "password": PASSWORD, "language": "fr_FR", "skybillNumber": number}
    return alpha_call(sandbox, "ALPHA_TRACKING_URL", "cancelSkybill", children)


def track(sandbox: SandboxServer, number: str, language: str = "fr_FR") -> Reply:
    children = {"language": language, "skybillNumber": number}
    return alpha_call(sandbox, "ALPHA_TRACKING_URL", "trackSkybillV2", children)

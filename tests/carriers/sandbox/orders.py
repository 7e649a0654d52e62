"""Valid requests for both carriers, written by hand from the protocol pages, and ways to change and send them."""

from __future__ import annotations

import copy
import json
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET
from zoneinfo import ZoneInfo

import requests

if TYPE_CHECKING:
    from carriers.sandbox.server import SandboxServer

PARIS = ZoneInfo("Europe/Paris")
SHIPPING = "http://cxf.shipping.soap.chronopost.fr/"
TRACKING = "http://cxf.tracking.soap.chronopost.fr/"
SOAP_HEADERS = {"Content-Type": "text/xml; charset=utf-8", "SOAPAction": '""'}
ACCOUNT, PASSWORD = "19869502", "255562"
TIMEOUT_S = 60
GONE = object()  # a change to this takes the field away

Changes = dict[str, Any]


def post(url: str, **kwargs: Any) -> requests.Response:
    return requests.post(url, timeout=TIMEOUT_S, **kwargs)


def ledger(sandbox: SandboxServer, **filters: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = requests.get(f"{sandbox.url}/ledger", params=filters, timeout=TIMEOUT_S).json()
    return rows


def arm(sandbox: SandboxServer, fault: str, **more: Any) -> None:
    response = post(f"{sandbox.control_url}/faults", json={"fault": fault, **more})
    assert response.status_code == 201, response.text


def changed(order: dict[str, Any], changes: Changes) -> dict[str, Any]:
    """Return the order with values at dotted paths replaced; a number in a path is an index."""
    order = copy.deepcopy(order)
    for path, value in changes.items():
        *way, last = (int(part) if part.isdigit() else part for part in path.split("."))
        block: Any = order
        for part in way:
            block = block[part]
        if value is GONE:
            block.pop(last, None)
        else:
            block[last] = copy.deepcopy(value)
    return order


# alpha


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
        "refValue": [{"shipperRef": "LABEL0000000001", "recipientRef": "ORDER 1001"} for _ in range(count)],
        "skybillValue": [{**skybill, "bulkNumber": str(count), "skybillRank": str(rank + 1)} for rank in range(count)],
        "skybillParamsValue": {"duplicata": "N", "mode": "THE", "withReservation": "2"},
        "password": PASSWORD,
        "modeRetour": "2",
        "numberOfParcel": str(count),
        "version": "2.0",
        "multiParcel": "Y" if count > 1 else "N",
    }


RELAY: Changes = {"refValue.0.recipientRef": "1234A", "refValue.0.idRelais": "1234A"}


def to(country: str, postal_code: str) -> Changes:
    return {"recipientValue.0.recipientCountry": country, "recipientValue.0.recipientZipCode": postal_code}


def product(code: str, service: str) -> Changes:
    return {"skybillValue.0.productCode": code, "skybillValue.0.service": service}


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


def alpha_call(sandbox: SandboxServer, operation: str, **children: str) -> Reply:
    is_tracking = operation != "getReservedSkybillWithTypeAndModeAuth"
    url, namespace = (sandbox.alpha_tracking_url, TRACKING) if is_tracking else (sandbox.alpha_url, SHIPPING)
    return Reply(post(url, data=envelope(operation, children, namespace), headers=SOAP_HEADERS))


def alpha_buy(sandbox: SandboxServer, changes: Changes | None = None, count: int = 1) -> Reply:
    order = changed(alpha_order(count), changes or {})
    return Reply(post(sandbox.alpha_url, data=envelope("shippingMultiParcelV4", order), headers=SOAP_HEADERS))


# beta


def beta_order() -> dict[str, Any]:
    in_an_hour = datetime.now(PARIS) + timedelta(hours=1)  # a day that is not over when the order comes
    return {
        "contractNumber": "123456",
        "password": "secret",
        "outputFormat": {"x": 0, "y": 0, "outputPrintingType": "PDF_10x15_300dpi"},
        "letter": {
            "service": {
                "productCode": "DOM",
                "depositDate": in_an_hour.date().isoformat(),
                "orderNumber": "LABEL0000000001",
                "commercialName": "Atelier Durand",
            },
            "parcel": {"weight": 1.25},
            "sender": {
                "senderParcelRef": "ORDER 1001",
                "address": {
                    "companyName": "Atelier Durand", "line2": "12 rue de l'Église", "countryCode": "FR",
                    "city": "Paris", "zipCode": "75011",
                },
            },
            "addressee": {
                "addresseeParcelRef": "ORDER 1001",
                "address": {
                    "lastName": "Świętochowska", "firstName": "Zoë", "line2": "5 rue du Bœuf", "countryCode": "FR",
                    "city": "Lyon", "zipCode": "69005", "mobileNumber": "+33601020304", "email": "zoe@example.com",
                },
            },
        },
    }  # fmt: skip


ADDRESSEE = "letter.addressee.address"
SENDER = "letter.sender.address"
SERVICE = "letter.service"
CUSTOMS: Changes = {
    "letter.service.totalAmount": 500,
    "letter.service.returnTypeChoice": 3,
    "letter.customsDeclarations": {
        "includeCustomsDeclarations": True,
        "contents": {
            "article": [
                {
                    "description": "Shirt", "quantity": 1, "weight": 0.5, "value": 20, "hsCode": "610910",
                    "originCountry": "FR", "currency": "EUR",
                }
            ],
            "category": {"value": 3},
        },
    },
}  # fmt: skip
PICKUP: Changes = {"letter.service.productCode": "HD", "letter.parcel.pickupLocationId": "123456"}


def beta_to(country: str, postal_code: str, code: str = "DOS") -> Changes:
    return {
        f"{ADDRESSEE}.countryCode": country,
        f"{ADDRESSEE}.zipCode": postal_code,
        f"{ADDRESSEE}.mobileNumber": "+491701234567",
        f"{SERVICE}.productCode": code,
        f"{SERVICE}.returnTypeChoice": 3,
    }


def linked(rank: int, count: int, followers: tuple[str, ...] = ()) -> Changes:
    fields = {
        "TYPE_MULTI_PARCEL": "MASTER" if rank == count else "FOLLOWER",
        "PARCEL_ITERATION_NUMBER": str(rank),
        "TOTAL_NUMBER_PARCEL": str(count),
    }
    if followers:
        fields["LIST_FOLLOWER_PARCEL"] = "/".join(followers)
    return {"fields": {"field": [{"key": key, "value": value} for key, value in fields.items()]}}


@dataclass
class BetaReply:
    """The parsed answer of beta: its JSON, and its documents by Content-ID."""

    response: requests.Response

    @property
    def parts(self) -> dict[str, bytes]:
        boundary = self.response.headers["Content-Type"].split('boundary="')[1].split('"')[0]
        pieces = self.response.content.split(f"\r\n--{boundary}".encode())[1:-1]
        split = (piece.split(b"\r\n\r\n", 1) for piece in pieces)
        return {head.split(b"Content-ID: <")[1].split(b">")[0].decode(): content for head, content in split}

    @property
    def infos(self) -> dict[str, Any]:
        is_json = self.response.headers["Content-Type"].startswith("application/json")
        infos: dict[str, Any] = json.loads(self.response.content if is_json else self.parts["jsonInfos"])
        return infos

    @property
    def codes(self) -> list[str]:
        return [message["id"] for message in self.infos["messages"] if message["type"] == "ERROR"]

    @property
    def number(self) -> str:
        number: str = self.infos["labelV2Response"]["parcelNumber"]
        return number


def beta_buy(
    sandbox: SandboxServer, changes: Changes | None = None, operation: str = "generateLabel", **headers: str
) -> BetaReply:
    order = changed(beta_order(), changes or {})
    return BetaReply(post(f"{sandbox.beta_url}/{operation}", json=order, headers=headers))

"""Valid requests to beta, written by hand from its documents, and functions that send them."""

import json
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import requests

from carriers.sandbox.data import PARIS
from carriers.sandbox.server import SandboxServer
from tests.carriers.sandbox.changes import Changes, changed
from tests.carriers.sandbox.control import post


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
ARTICLE = "letter.customsDeclarations.contents.article.0"
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
GERMAN_POINT, BELGIAN_POINT = "810101", "800101"


def beta_to(country: str, postal_code: str, code: str = "DOS") -> Changes:
    return {
        f"{ADDRESSEE}.countryCode": country,
        f"{ADDRESSEE}.zipCode": postal_code,
        f"{ADDRESSEE}.mobileNumber": "+491701122334",
        f"{SERVICE}.productCode": code,
        f"{SERVICE}.returnTypeChoice": 3,
    }


SWISS = {**CUSTOMS, **beta_to("CH", "3005")}


OVERSEAS = {**CUSTOMS, **beta_to("RE", "97400", "COM")}
AMERICAN = {
    **CUSTOMS,
    **beta_to("US", "10001"),
    f"{SERVICE}.returnTypeChoice": 2,
    f"{ADDRESSEE}.stateOrProvinceCode": "NY",
    "fields": {"field": [{"key": "EORI", "value": "FR12345678900012"}]},
}


def fields(**values: str) -> Changes:
    return {"fields": {"field": [{"key": key, "value": value} for key, value in values.items()]}}


def linked(rank: int, count: int, followers: tuple[str, ...] = ()) -> Changes:
    links = {
        "TYPE_MULTI_PARCEL": "MASTER" if rank == count else "FOLLOWER",
        "PARCEL_ITERATION_NUMBER": str(rank),
        "TOTAL_NUMBER_PARCEL": str(count),
    }
    if followers:
        links["LIST_FOLLOWER_PARCEL"] = "/".join(followers)
    return {**OVERSEAS, **fields(**links)}


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
    return BetaReply(post(f"{sandbox.urls['BETA_URL']}/{operation}", json=order, headers=headers))

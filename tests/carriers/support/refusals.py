"""Orders, the carriers' answers to them, and the labels or errors that the clients make of these."""

import json
from typing import Any

import pytest

from carriers.errors import CarrierError
from carriers.shipment import PurchasedLabel
from tests.carriers.support.servers import LoopbackServer, always, answer_file, http
from tests.carriers.support.shipments import CREDENTIALS, PRODUCT, client, shipment


def label_of(carrier: str, *answers: bytes, **changes: Any) -> PurchasedLabel:
    """Return the label of an order that is answered so."""
    with LoopbackServer(always(*answers)) as server:
        return client(carrier, server.url).create_label(shipment(PRODUCT[carrier], **changes), CREDENTIALS[carrier])


def refusal(carrier: str, answer: bytes, count: int = 1, **changes: Any) -> CarrierError:
    """Return the error of an order, whose one request is answered so."""
    with LoopbackServer(always(answer)) as server, pytest.raises(CarrierError) as caught:
        client(carrier, server.url).create_label(shipment(PRODUCT[carrier], count, **changes), CREDENTIALS[carrier])
    assert len(server.requests) == 1
    assert caught.value.carrier == carrier
    return caught.value


def alpha_refusal(code: int, text: str) -> bytes:
    body = answer_file("alpha_refusal.xml").replace(b"@CODE@", str(code).encode())
    return http(body.replace(b"@TEXT@", text.encode()))


def beta_refusal(document: dict[str, Any], status: int = 400) -> bytes:
    return http(json.dumps(document).encode(), status, "application/json")


def messages(*codes: str, kind: str = "ERROR") -> dict[str, Any]:
    return {"messages": [{"id": code, "type": kind, "messageContent": f"text {code}"} for code in codes]}

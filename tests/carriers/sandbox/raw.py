"""Purchases whose answers may be anything, with a client and over a bare socket."""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import requests

from tests.carriers.sandbox.orders import (
    SOAP_HEADERS,
    alpha_order,
    beta_order,
    envelope,
    post,
)

if TYPE_CHECKING:
    from carriers.sandbox.server import SandboxServer


def buy(sandbox: SandboxServer, carrier: str, **kwargs: Any) -> requests.Response:
    """Send a valid purchase whose answer may be anything."""
    if carrier == "alpha":
        body = envelope("shippingMultiParcelV4", alpha_order())
        return post(sandbox.alpha_url, data=body, headers=SOAP_HEADERS, **kwargs)
    return post(f"{sandbox.beta_url}/generateLabel", json=beta_order(), **kwargs)


def raw_answer(sandbox: SandboxServer, carrier: str, limit: int = 1_000_000, silence_s: float = 0.5) -> bytes:
    """Buy over a bare socket; return what came until the limit or the end, b"RESET", or a silence."""
    host, port = urlsplit(sandbox.url).netloc.split(":")
    request = requests.Request("POST", f"{sandbox.beta_url}/generateLabel", json=beta_order()).prepare()
    if carrier == "alpha":
        body = envelope("shippingMultiParcelV4", alpha_order())
        request = requests.Request("POST", sandbox.alpha_url, data=body, headers=SOAP_HEADERS).prepare()
    head = f"POST {request.path_url} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"
    head += "".join(f"{name}: {value}\r\n" for name, value in request.headers.items())
    assert isinstance(request.body, bytes)
    received = b""
    with socket.create_connection((host, int(port)), timeout=silence_s) as connection:
        connection.sendall(head.encode() + b"\r\n" + request.body)
        try:
            while len(received) < limit and (piece := connection.recv(65_536)):
                received += piece
        except ConnectionResetError:
            return b"RESET"
        except TimeoutError:
            received += b"SILENCE"
    return received

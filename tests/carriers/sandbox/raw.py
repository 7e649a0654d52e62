"""Valid purchases whose answers may be anything, sent by a client and over a bare socket."""

import socket
from typing import Any
from urllib.parse import urlsplit

import requests

from carriers.sandbox.server import SandboxServer
from tests.carriers.sandbox.alpha.orders import BUY, SOAP_HEADERS, alpha_order, envelope
from tests.carriers.sandbox.beta.orders import beta_order
from tests.carriers.sandbox.control import TIMEOUT_S, post

CARRIERS = ("alpha", "beta")


def connect(sandbox: SandboxServer, timeout_s: float = TIMEOUT_S) -> socket.socket:
    url = urlsplit(sandbox.url)
    assert url.hostname
    assert url.port
    return socket.create_connection((url.hostname, url.port), timeout=timeout_s)


def purchase(sandbox: SandboxServer, carrier: str) -> requests.PreparedRequest:
    if carrier == "beta":
        return requests.Request("POST", f"{sandbox.urls['BETA_URL']}/generateLabel", json=beta_order()).prepare()
    body = envelope(BUY, alpha_order())
    return requests.Request("POST", sandbox.urls["ALPHA_URL"], data=body, headers=SOAP_HEADERS).prepare()


def buy(sandbox: SandboxServer, carrier: str, **kwargs: Any) -> requests.Response:
    request = purchase(sandbox, carrier)
    assert request.url
    return post(request.url, data=request.body, headers=request.headers, **kwargs)


def raw_answer(sandbox: SandboxServer, carrier: str, limit: int = 1_000_000, silence_s: float = 0.5) -> bytes:
    """Buy over a bare socket; return the bytes up to the limit or the end, b"RESET", or b"...SILENCE"."""
    request = purchase(sandbox, carrier)
    head = f"POST {request.path_url} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"
    head += "".join(f"{name}: {value}\r\n" for name, value in request.headers.items())
    assert isinstance(request.body, bytes)
    received = b""
    with connect(sandbox, silence_s) as connection:
        connection.sendall(head.encode() + b"\r\n" + request.body)
        try:
            while len(received) < limit and (piece := connection.recv(65_536)):
                received += piece
        except ConnectionResetError:
            return b"RESET"
        except TimeoutError:
            received += b"SILENCE"
    return received

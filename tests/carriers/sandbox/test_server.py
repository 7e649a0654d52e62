"""The server: its page, limits, concurrency, logs and shutdown."""

import logging
import threading
import time
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import pytest
import requests

from carriers.sandbox.data import COUNTRIES, is_postal_code_of
from carriers.sandbox.faults import FAULTS
from carriers.sandbox.pickup_points import POINTS
from carriers.sandbox.server import SandboxServer
from tests.carriers.sandbox.alpha.orders import alpha_buy
from tests.carriers.sandbox.beta.orders import beta_buy
from tests.carriers.sandbox.control import TIMEOUT_S, URL_PATHS, arm, get, ledger, post
from tests.carriers.sandbox.raw import connect

BETA_PATH = "/beta/2.0/generateLabel"
# Settings, endpoints and magic values.
NAMED = (
    "ALPHA_POINTS_URL ALPHA_QUICKCOST_URL BETA_POINTS_URL BETA_ACCOUNT_URL BETA_DELIVERY_URL BETA_TRACKING_URL /points"
    " /control/journey /control/advance /control/parcel /control/collect /control/faults F0601 000030 000133 30008"
).split()


def test_the_first_page_explains_endpoints_credentials_and_faults(sandbox: SandboxServer) -> None:
    response = requests.get(f"{sandbox.url}/", timeout=TIMEOUT_S)

    assert response.headers["Content-Type"] == "text/plain; charset=utf-8"
    assert sandbox.url in response.text
    for words in (*URL_PATHS, *NAMED, "JOURNEY RELAY"):
        assert words in response.text
    assert all(f"| {fault.name} |" in response.text for fault in FAULTS)


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/nothing", 404),
        ("DELETE", "/ledger", 404),
        ("GET", "/ledger/parcel", 404),
        ("GET", "/beta/1.0/generateLabel", 404),
        ("GET", "/beta/2.0/generateLabel", 405),
        ("GET", "/alpha/shipping", 500),
        ("PUT", "/ledger", 501),
    ],
)
def test_other_paths_and_methods_are_refused(sandbox: SandboxServer, method: str, path: str, status: int) -> None:
    assert requests.request(method, sandbox.url + path, timeout=TIMEOUT_S).status_code == status


def test_a_request_too_large_or_of_no_length_is_not_read(sandbox: SandboxServer) -> None:
    for head, status in (
        (b"Content-Length: 1048577", b"413"),
        (b"Transfer-Encoding: chunked", b"411"),
        (b"Content-Length: -1", b"411"),
    ):
        with connect(sandbox) as connection:
            connection.sendall(b"POST /alpha/shipping HTTP/1.1\r\nHost: x\r\n" + head + b"\r\n\r\n")
            assert connection.recv(1024).split()[1] == status


def test_a_connection_carries_many_exchanges(sandbox: SandboxServer) -> None:
    with connect(sandbox) as connection:
        for _ in range(3):
            connection.sendall(b"GET /ledger/count HTTP/1.1\r\nHost: x\r\n\r\n")
            assert connection.recv(4096).endswith(b'{"count": 0}')


def test_hung_requests_delay_neither_others_nor_the_shutdown() -> None:
    with SandboxServer() as server, ThreadPoolExecutor(64) as pool:
        arm(server, "hang", carrier="alpha", delay_s=600)
        arm(server, "slow", carrier="beta", reference="SLOW", delay_s=600)
        hung: list[Future[Any]] = [pool.submit(alpha_buy, server) for _ in range(32)]
        hung += [pool.submit(beta_buy, server, {"letter.service.orderNumber": "SLOW"}) for _ in range(32)]
        while get(f"{server.control_url}/requests").get(BETA_PATH, 0) < 32:
            threading.Event().wait(0.01)
        assert beta_buy(server).number
        assert len(ledger(server)) == 1

        started_at_s = time.monotonic()
        server.close()
        assert time.monotonic() - started_at_s < 60  # a tenth of what they hang for
        assert all(isinstance(future.exception(TIMEOUT_S), requests.ConnectionError) for future in hung)


def test_two_hundred_connections_at_once_are_served(sandbox: SandboxServer) -> None:
    connections = [connect(sandbox) for _ in range(200)]
    for connection in connections:
        connection.sendall(b"GET /ledger/count HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
    assert all(connection.recv(1024).startswith(b"HTTP/1.1 200") for connection in connections)
    for connection in connections:
        connection.close()


def test_log_lines_hold_no_address_and_no_secret(sandbox: SandboxServer, caplog: pytest.LogCaptureFixture) -> None:
    canary = "Canary55512"
    with caplog.at_level(logging.DEBUG):
        alpha_buy(sandbox, {"recipientValue.0.recipientName": canary})
        beta_buy(sandbox, {"letter.addressee.address.line2": canary, "password": canary})
        beta_buy(sandbox, {"letter.addressee.address.line2": canary, f"letter.{canary}": 1}, apiKey=canary)
        post(f"{sandbox.urls['BETA_URL']}/generateLabel", data=canary)
        requests.get(f"{sandbox.url}/ledger", params={"reference": canary}, timeout=TIMEOUT_S)

    lines = [record.getMessage() for record in caplog.records if record.name == "carriers.sandbox"]
    assert "POST /alpha/shipping 200 whole" in lines
    assert not [line for line in lines if canary in line]


# The directory of pickup points


def test_some_two_thousand_points_of_every_kind_are_known() -> None:
    assert 2000 <= len(POINTS) <= 2300
    assert len({(point.carrier, point.code) for point in POINTS}) == len(POINTS)
    assert {point.kind for point in POINTS} == {"relay", "locker", "post_office", "carrier_site", ""}
    assert {point.status for point in POINTS} == {"open", "holiday", "holiday_later", "inactive", "full"}
    assert all(point.country in COUNTRIES for point in POINTS)
    assert all(is_postal_code_of(point.country, point.zip_code) for point in POINTS)
    assert [point.code for point in POINTS if not (point.name and point.kind)] == ["300559", "300560"]
    assert {"FR", "BE", "DE", "ES", "NL", "LU", "RE", "GP"} <= {point.country for point in POINTS}
    assert all(len(point.address1) <= 35 and len(point.name) <= 35 for point in POINTS)


def test_the_directory_is_listed_with_filters(sandbox: SandboxServer) -> None:
    assert len(get(f"{sandbox.url}/points")) == len(POINTS)
    closed = get(f"{sandbox.url}/points", carrier="alpha", country="DE", status="holiday")
    assert ("7002D", False) in [(point["code"], point["is_open"]) for point in closed]
    assert {point["status"] for point in closed} == {"holiday"}

"""`manage.py serve` behind proxies: the client's address, https, and probes."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from shops.api.errors.plain import HTTPS_REQUIRED, TOKEN_MISSING
from tests.support.http import ask
from tests.support.paths import PARCELS, SEARCH
from tests.support.processes import Server, served

pytestmark = pytest.mark.real_services
ONE = {"RATE_LIMIT": "1/31d"}  # a window that will hardly end while a test runs

FORWARDED = ("X-Forwarded-Proto", "https")
FORGERIES = [
    [("X-Forwarded-For", "203.0.113.1")],
    [("X-Forwarded-For", "203.0.113.2, 198.51.100.1, 192.0.2.1")],
    [("X-Forwarded-For", "203.0.113.3"), ("X-Forwarded-For", "203.0.113.4")],
    [("X-Forwarded-For", "2001:db8:1::1")],
    [("X-Forwarded-For", "[2001:db8:2::1]:4711")],
    [("X-Forwarded-For", "nonsense"), ("X-Forwarded-For", "")],
    [("X_Forwarded_For", "203.0.113.5")],
    [("Forwarded", "for=203.0.113.6"), ("X-Real-IP", "203.0.113.7"), ("X-Client-IP", "203.0.113.8")],
]


@pytest.fixture(scope="module")
def with_https(django_db_setup: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server that clients reach without a proxy."""
    with served(tmp_path_factory.mktemp("server") / "log", ONE | {"HTTPS": "1"}) as server:
        yield server


@pytest.fixture(scope="module")
def behind_one(django_db_setup: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server behind one proxy, which clients reach by https; each test has addresses of its own."""
    with served(tmp_path_factory.mktemp("server") / "log", ONE | {"HTTPS": "1", "TRUSTED_PROXIES": "1"}) as server:
        yield server


def statuses_of(server: Server, requests: list[list[tuple[str, str]]]) -> list[int]:
    return [ask(server.port, "GET", SEARCH, [FORWARDED, *headers])[0] for headers in requests]


def test_without_a_proxy_no_forged_header_gains_a_window(transactional_db: None, tmp_path: Path) -> None:
    with served(tmp_path / "log", ONE) as server:
        assert statuses_of(server, [[], *FORGERIES]) == [403] + [429] * len(FORGERIES)


def test_behind_a_proxy_entries_left_of_its_own_are_not_trusted(behind_one: Server) -> None:
    proxys = ("X-Forwarded-For", "192.0.2.50")  # added by the proxy, in a header of its own or in the client's
    appended = [[*forgery, proxys] for forgery in FORGERIES]
    merged = [[("X-Forwarded-For", ", ".join([*dict(forgery).values(), proxys[1]]))] for forgery in FORGERIES]
    assert statuses_of(behind_one, [[proxys], *appended, *merged]) == [403] + [429] * 2 * len(FORGERIES)
    # Others behind the same proxy have windows of their own; an IPv6 client's is its whole network's.
    assert statuses_of(behind_one, [[("X-Forwarded-For", "203.0.113.99, 192.0.2.51")]]) == [403]
    network = [[("X-Forwarded-For", f"2001:db8::{host}")] for host in ("1", "2", "ffff")]
    assert statuses_of(behind_one, network) == [403, 429, 429]


def test_a_malformed_forwarded_address_is_replaced_by_the_peers(behind_one: Server) -> None:
    values = ["127.0.0.1", "203.0.113.1\xe9, 192.0.2.60", "", "nonsense"]
    assert statuses_of(behind_one, [[("X-Forwarded-For", value)] for value in values]) == [403, 429, 429, 429]


def test_http_is_refused_to_the_api_unless_a_trusted_proxy_says_https(with_https: Server, behind_one: Server) -> None:
    for headers in ([], [FORWARDED]):
        status, found, body = ask(with_https.port, "GET", PARCELS + "1", headers)
        assert (status, json.loads(body)["message"]) == (403, HTTPS_REQUIRED.message)
        status, found, _ = ask(with_https.port, "GET", "/docs", headers)
        assert (status, found["location"]) == (301, f"https://127.0.0.1:{with_https.port}/docs")
    assert ask(behind_one.port, "GET", "/docs")[0] == 301
    status, found, body = ask(behind_one.port, "GET", PARCELS + "1", [FORWARDED, ("X-Forwarded-For", "192.0.2.70")])
    assert (status, json.loads(body)["message"]) == (403, TOKEN_MISSING.message)
    assert re.match(r"max-age=\d{8}; includeSubDomains; preload", found["strict-transport-security"])


def test_probes_need_no_https_no_known_host_and_no_token(with_https: Server) -> None:
    pod = [("Host", "10.1.2.3:8000"), ("User-Agent", "kube-probe/1.33")]
    for path in ("/livez", "/readyz"):
        assert [ask(with_https.port, "GET", path, pod)[0] for _ in range(3)] == [200] * 3
    assert ask(with_https.port, "GET", PARCELS + "1", pod)[0] == 400
    assert ask(with_https.port, "GET", "/livez/", [("Host", "localhost")])[0] == 301
    assert '"livez"' not in with_https.log.read_text()

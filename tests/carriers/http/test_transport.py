"""Connections: retried while nothing was sent, reused, verified, and independent of the environment."""

import io
import json
import socket
import threading
import time
from itertools import repeat
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from carriers.client import Limits
from carriers.errors import AddressRejected, CarrierUnavailable, OutcomeUnknown
from carriers.http import connections
from carriers.http.transport import RETRY_PAUSES_S, Transport
from tests.carriers.conftest import Serve
from tests.carriers.support.beta import JSON
from tests.carriers.support.refusals import label_of, refusal
from tests.carriers.support.servers import (
    LABEL,
    MULTIPART,
    START,
    Play,
    always,
    answer_file,
    dripping,
    http,
    once,
    silent,
)
from tests.carriers.support.shipments import BOTH, CREDENTIALS, PRODUCT, client, shipment
from tests.support.certificates import self_signed, server_context
from tests.support.waiting import until

HASTY_S = 0.3
HASTY = Limits(timeout_s=HASTY_S)
LENIENT = Limits(timeout_s=60.0)
SOON_S = 30.0  # less than a test without a deadline would take, on a busy machine too


def buy(carrier: str, url: str, limits: Limits = LENIENT, transport: Transport | None = None, times: int = 1) -> None:
    buyer = client(carrier, url, limits, transport)
    for _ in range(times):
        buyer.create_label(shipment(PRODUCT[carrier]), CREDENTIALS[carrier])


def refusal_s(carrier: str, url: str, limits: Limits = LENIENT) -> float:
    """Return the seconds until the error that nothing was made."""
    started_s = time.monotonic()
    with pytest.raises(CarrierUnavailable) as caught:
        buy(carrier, url, limits)
    assert caught.value.is_nothing_made
    assert caught.value.code == f"{carrier.upper()}_UNAVAILABLE"
    return time.monotonic() - started_s


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return self_signed(tmp_path_factory.mktemp("tls") / "carrier.pem")


@BOTH
def test_a_refused_connection_is_unavailable(carrier: str, closed_port: int) -> None:
    assert sum(RETRY_PAUSES_S) <= refusal_s(carrier, f"http://127.0.0.1:{closed_port}") < SOON_S


def test_a_refused_connection_is_retried(
    serve: Serve, closed: socket.socket, closed_port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def answer() -> None:
        stream, _ = closed.accept()
        with stream:
            stream.recv(65536)
            stream.sendall(LABEL["alpha"])

    answering = threading.Thread(target=answer, daemon=True)

    def open_meanwhile(pause_s: float) -> None:
        closed.listen()
        answering.start()

    monkeypatch.setattr("carriers.http.transport.time", SimpleNamespace(sleep=open_meanwhile))
    buy("alpha", f"http://127.0.0.1:{closed_port}")
    answering.join(SOON_S)


@BOTH
def test_a_name_that_does_not_resolve_is_unavailable(carrier: str) -> None:
    assert refusal_s(carrier, "http://carrier.invalid", HASTY) < SOON_S


@BOTH
@pytest.mark.parametrize("url", ["http://", "ftp://127.0.0.1", "http://127.0.0.1:99999", "http://a..b", "nothing"])
def test_a_malformed_url_is_unavailable(carrier: str, url: str) -> None:
    refusal_s(carrier, url, HASTY)


def test_a_resolver_that_hangs_is_abandoned_at_the_deadline(monkeypatch: pytest.MonkeyPatch) -> None:
    woken = threading.Event()
    monkeypatch.setattr(socket, "getaddrinfo", lambda *args, **kwargs: woken.wait(60))
    assert HASTY_S - 0.05 < refusal_s("alpha", "http://carrier.example", HASTY) < SOON_S
    woken.set()


def test_an_untrusted_certificate_is_unavailable(serve: Serve, certificate: Path) -> None:
    server = serve(always(LABEL["alpha"]), server_context(certificate))
    refusal_s("alpha", server.url)
    assert server.requests == []


def test_a_certificate_for_another_host_is_unavailable(serve: Serve, certificate: Path) -> None:
    server = serve(always(LABEL["alpha"]), server_context(certificate))
    transport = Transport(ca_file=str(certificate))
    with pytest.raises(CarrierUnavailable) as caught:
        buy("alpha", server.url.replace("127.0.0.1", "localhost"), LENIENT, transport)
    assert "certificate is not valid for 'localhost'" in str(caught.value.__cause__)
    assert server.requests == []


def test_a_server_that_speaks_no_tls_is_unavailable(serve: Serve) -> None:
    server = serve(silent)
    refusal_s("alpha", server.url.replace("http:", "https:"), HASTY)
    assert server.requests == []


def test_a_handshake_that_hangs_is_abandoned_at_the_deadline() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        assert HASTY_S - 0.05 < refusal_s("alpha", f"https://127.0.0.1:{port}", HASTY) < SOON_S


def test_a_label_is_bought_over_tls_on_one_connection(serve: Serve, certificate: Path) -> None:
    server = serve(always(LABEL["alpha"]), server_context(certificate))
    buy("alpha", server.url, transport=Transport(ca_file=str(certificate)), times=3)
    assert (server.connections, len(server.requests)) == (1, 3)


@pytest.mark.parametrize(
    "fault",
    [
        dripping(START, repeat(b"X-Drip: 1\r\n")),
        dripping(START + b"Content-Length: 900000\r\n\r\n", repeat(b" ")),
        silent,
    ],
    ids=["headers are dripped", "the body is dripped", "nothing is answered"],
)
def test_a_slow_carrier_is_abandoned_at_the_deadline_under_tls(serve: Serve, certificate: Path, fault: Play) -> None:
    server = serve(fault, server_context(certificate))
    timeout_s = 0.5  # long enough to send the request, on a busy machine too
    started_s = time.monotonic()
    with pytest.raises(OutcomeUnknown):
        buy("alpha", server.url, Limits(timeout_s=timeout_s), Transport(ca_file=str(certificate)))
    assert timeout_s - 0.05 < time.monotonic() - started_s < SOON_S


@BOTH
def test_a_connection_is_reused(serve: Serve, carrier: str) -> None:
    server = serve(always(LABEL[carrier]))
    buy(carrier, server.url, times=3)
    assert (server.connections, len(server.requests)) == (1, 3)


def test_a_connection_that_the_carrier_closed_is_not_reused(serve: Serve) -> None:
    server = serve(once(LABEL["alpha"]))
    alpha = client("alpha", server.url)
    for _ in range(3):
        alpha.create_label(shipment(), CREDENTIALS["alpha"])
        until(lambda: server.has_closed)
    assert (server.connections, len(server.requests)) == (3, 3)


@BOTH
def test_what_comes_behind_an_answer_is_no_answer_to_the_next_order(
    serve: Serve, certificate: Path, carrier: str
) -> None:
    several = LABEL[carrier] * 12
    assert len(several) < 16_384, "a record of TLS, of which the kernel shows nothing once its first byte is read"
    server = serve(always(several, LABEL[carrier]), server_context(certificate))
    buy(carrier, server.url, transport=Transport(ca_file=str(certificate)), times=3)
    assert (server.connections, len(server.requests)) == (2, 3)


def test_bytes_that_newer_pythons_read_ahead_are_not_counted_as_a_head(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(io, "DEFAULT_BUFFER_SIZE", 128 * 1024)  # Python 3.14's
    server = serve(always(http(answer_file("alpha_1_parcels.xml") + b" " * 200_000)))
    buy("alpha", server.url)


def test_an_idle_connection_is_not_reused(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "MAX_IDLE_S", 0.0)
    server = serve(always(LABEL["alpha"]))
    buy("alpha", server.url, times=2)
    assert (server.connections, len(server.requests)) == (2, 2)


def test_proxies_and_netrc_of_the_environment_are_not_used(
    serve: Serve, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, closed_port: int
) -> None:
    (tmp_path / "netrc").write_text("machine 127.0.0.1 login somebody password secret\n")
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    for name in ("http_proxy", "HTTP_PROXY", "ALL_PROXY", "https_proxy"):
        monkeypatch.setenv(name, f"http://127.0.0.1:{closed_port}")
    server = serve(always(LABEL["alpha"]))
    buy("alpha", server.url)
    assert b"Authorization" not in server.requests[0]


def test_a_cookie_of_one_shop_is_not_sent_for_the_next(serve: Serve) -> None:
    body = answer_file("alpha_1_parcels.xml")
    server = serve(always(http(body, headers="Set-Cookie: session=shop-one; Path=/\r\n")))
    buy("alpha", server.url, times=2)
    assert b"shop-one" not in server.requests[1]


def test_a_connection_whose_answer_was_not_read_to_its_end_is_closed_at_once(serve: Serve) -> None:
    is_left = threading.Event()

    def flood(stream: socket.socket, request: bytes) -> bool:
        try:
            stream.sendall(START + b"Content-Length: 104857600\r\n\r\n" + bytes(104_857_600))
        finally:
            is_left.set()
        return False

    server = serve(flood)
    with pytest.raises(OutcomeUnknown) as caught:
        buy("alpha", server.url)
    assert is_left.wait(SOON_S), caught.value  # referenced here, as its traceback keeps the response alive


@BOTH
def test_a_deadline_that_has_passed_sends_nothing(serve: Serve, carrier: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("carriers.http.transport.time", SimpleNamespace(sleep=lambda _: pytest.fail("it waits")))
    server = serve(always(LABEL[carrier]))
    with pytest.raises(CarrierUnavailable):
        buy(carrier, server.url, Limits(timeout_s=0.0))
    assert server.requests == []


# Odd forms that HTTP allows

TEXT = "numéro erroné"
ONE_BYTE = pytest.mark.parametrize("charset", ["ISO-8859-1", '"iso-8859-15"', "latin-1", "ISO8859_1", "cp1252"])


def text_of_refusal(carrier: str, answer: bytes) -> str:
    failure = refusal(carrier, answer)
    assert type(failure) is AddressRejected
    return failure.carrier_text


def refused_by_beta(**values: Any) -> bytes:
    message = {"id": "30204", "type": "ERROR", "messageContent": TEXT}
    return json.dumps({"messages": [message], **values}, ensure_ascii=False).encode("latin-1")


@BOTH
@pytest.mark.parametrize(
    "interim",
    [
        b"HTTP/1.1 102 Processing\r\n\r\n",
        b"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\nHTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 102 Processing\r\n\r\n",
    ],
)
def test_interim_answers_are_passed_over(carrier: str, interim: bytes) -> None:
    made = label_of(carrier, interim + LABEL[carrier])
    assert len(made.tracking_numbers) == 1


def refused_by_alpha(text: str, encoding: str, charset: str) -> bytes:
    document = answer_file("alpha_refusal.xml").decode().replace("@CODE@", "38").replace("@TEXT@", text)
    return http(document.encode(encoding), content_type=f"text/xml; charset={charset}")


@ONE_BYTE
def test_alphas_text_is_read_in_the_charset_of_the_header(charset: str) -> None:
    assert text_of_refusal("alpha", refused_by_alpha(TEXT, "latin-1", charset)) == TEXT


@pytest.mark.parametrize("charset", ["ISO-8859-1", "latin1", "windows-1252", "US-ASCII", "ascii"])
def test_what_is_called_latin_1_may_have_windows_apostrophes(charset: str) -> None:
    answer = refused_by_alpha("l\u2019entrée", "windows-1252", charset)
    assert text_of_refusal("alpha", answer) == "l\u2019entrée"
    stray = refused_by_alpha("entrée", "latin-1", charset).replace(b"\xe9e", b"\xe9\x81")
    assert text_of_refusal("alpha", stray) == "entré\ufffd"


@ONE_BYTE
def test_betas_text_is_read_in_the_charset_of_the_header(charset: str) -> None:
    answer = http(refused_by_beta(), 400, f"{JSON};charset={charset}")
    assert text_of_refusal("beta", answer) == TEXT


def test_a_part_is_read_in_its_own_charset() -> None:
    head = f"--uuid:0f4a\r\nContent-Type: {JSON};charset=ISO-8859-1\r\nContent-ID: <jsonInfos>\r\n\r\n"
    body = head.encode() + refused_by_beta() + b"\r\n--uuid:0f4a--"
    assert text_of_refusal("beta", http(body, 400, MULTIPART)) == TEXT


def test_a_charset_that_is_declared_falsely_spoils_no_text() -> None:
    assert text_of_refusal("alpha", refused_by_alpha(TEXT, "utf-8", "ISO-8859-1")) == TEXT

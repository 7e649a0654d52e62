"""A hostile or sick carrier: each fault ends in a named error, in time, in bounded memory, sent once."""

import socket
import struct
import time
import tracemalloc
import zlib
from itertools import repeat

import pytest

from carriers import CARRIERS
from carriers.base import Limits
from carriers.errors import CarrierUnavailable, OutcomeUnknown
from tests.carriers.conftest import Serve
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
    serving,
    silent,
)
from tests.carriers.support.shipments import BOTH, CREDENTIALS, PRODUCT, client, shipment
from tests.support.waiting import until

DEADLINE_S = 2.0  # by which a request is on its way, on a busy machine too
MARGIN_S = 20.0  # none of these ends by itself, and the machine may be busy
HASTY = Limits(timeout_s=DEADLINE_S)
WAIT_TIMEOUT_S = 60.0  # a deadline that none of what ends by itself comes near
MEMORY_BOUND_BYTES = 100 * 1024 * 1024
MEGABYTE = bytes(1024 * 1024)


def flooding(prefix: bytes, piece: bytes, count: int) -> Play:
    def play(stream: socket.socket, request: bytes) -> bool:
        stream.sendall(prefix)
        for _ in range(count):
            stream.sendall(piece)
        return False

    return play


def resetting(stream: socket.socket, request: bytes) -> bool:
    stream.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    return False


def tampered(carrier: str, old: bytes, new: bytes) -> bytes:
    assert old in LABEL[carrier]
    _head, _, body = LABEL[carrier].replace(old, new).partition(b"\r\n\r\n")
    kind = MULTIPART if carrier == "beta" else "text/xml"
    return http(body, content_type=kind)


_packer = zlib.compressobj(wbits=31)  # gzip
BOMB = b"".join(_packer.compress(MEGABYTE) for _ in range(300)) + _packer.flush()

SLOW = {
    "nothing is answered": silent,
    "headers are dripped": dripping(START, repeat(b"X-Drip: 1\r\n")),
    "one header is dripped": dripping(START + b"X-Drip: ", repeat(b"1")),
    "the status line is dripped": dripping(b"HTTP/1.1 200 ", repeat(b"O")),
    "the body is dripped": dripping(START + b"Content-Length: 900000\r\n\r\n", repeat(b" ")),
    "chunks are dripped": dripping(START + b"Transfer-Encoding: chunked\r\n\r\n", repeat(b"1\r\n \r\n")),
    "a chunk's size is dripped": dripping(START + b"Transfer-Encoding: chunked\r\n\r\n", repeat(b"0")),
    "it never stops saying wait": dripping(b"", repeat(b"HTTP/1.1 100 Continue\r\n\r\n")),
    "a promised body never comes": dripping(START + b"Content-Length: 10\r\n\r\n", repeat(b"")),
}
QUICK = {
    "the connection is reset": resetting,
    "the connection is closed": once(b""),
    "the answer is empty": once(http(b"")),
    "the answer is HTML": once(http(answer_file("outage.html"), content_type="text/html")),
    "the answer is a 502 in HTML": once(http(answer_file("outage.html"), 502, "text/html")),
    "the answer is a 503 in HTML": once(http(answer_file("outage.html"), 503, "text/html")),
    "the answer is cut short": once(START + b"Content-Length: 900\r\n\r\n<soap:Envelope"),
    "the answer is no HTTP": once(b"220 mail.example ESMTP\r\n"),
    "the answer is garbled": once(http(bytes(range(256)))),
    "the length is garbled": once(START + b"Content-Length: many\r\n\r\n"),
    "the compression is a lie": once(http(b"plain", headers="Content-Encoding: gzip\r\n")),
    "the answer is compressed many times": once(http(b"plain", headers=f"Content-Encoding: {'gzip,' * 99}\r\n")),
    "the answer is a redirect": once(http(b"", 307, headers="Location: /elsewhere\r\n")),
    "the redirect is a broken URL": once(http(b"", 302, headers="Location: http://[\r\n")),
    "the answer is not modified": once(http(b"", 304)),
    "there are a million headers": flooding(START, b"X-Many: 1\r\n" * 1000, 1000),
    "a header has no end": flooding(START + b"X-Long: ", MEGABYTE, 50),
    "the answer has 50 MB": flooding(START + b"Content-Length: 52428800\r\n\r\n", MEGABYTE, 50),
    "the chunks have 50 MB": flooding(
        START + b"Transfer-Encoding: chunked\r\n\r\n", b"100000\r\n" + MEGABYTE + b"\r\n", 50
    ),
    "a small answer unpacks to 300 MB": once(http(BOMB, headers="Content-Encoding: gzip\r\n")),
}
ALPHA = {
    "a DOCTYPE": once(http(b"<!DOCTYPE a>" + answer_file("alpha_1_parcels.xml"))),
    "an entity": once(http(b'<!DOCTYPE a [<!ENTITY x "y">]><a>&x;</a>')),
    "depth without end": once(http(b"<a>" * 30_000)),
    "many tags": once(http(b"<a>" + b"<a/>" * 2_000_000 + b"</a>")),
    "many attributes": once(http(b"<a " + b" ".join(b'a%d=">"' % number for number in range(1_000_000)) + b"/>")),
    "latin-1 in UTF-8": once(http(answer_file("alpha_1_parcels.xml").replace(b"0042", b"\xe9\xe8"))),
    "an encoding of its own": once(http(b'<?xml version="1.0" encoding="utf-7"?><a>+ADw-</a>\xff')),
    "yes without a parcel": once(http(answer_file("alpha_refusal.xml").replace(b"@CODE@", b"0"))),
    "yes with too few parcels": once(http(answer_file("alpha_1_parcels.xml").replace(b"skybillNumber", b"x"))),
    "yes without a label": once(tampered("alpha", b"pdfEtiquette", b"nothing")),
    "a label that is no base64": once(tampered("alpha", b"<pdfEtiquette>", b"<pdfEtiquette>?")),
    "a label that is no PDF": once(tampered("alpha", b"<pdfEtiquette>JVBERi", b"<pdfEtiquette>AAAAAA")),
    "no error code": once(tampered("alpha", b"<errorCode>0</errorCode>", b"")),
    "an error code and a label": once(tampered("alpha", b"<errorCode>0<", b"<errorCode>33<")),
    "an error code of letters": once(tampered("alpha", b"<errorCode>0<", b"<errorCode>no<")),
    "another operation's answer": once(http(answer_file("alpha_found.xml"))),
    "an empty SOAP body": once(http(b"<Envelope><Body/></Envelope>")),
    "a label with HTTP 500": once(http(answer_file("alpha_1_parcels.xml"), 500)),
}
BETA_LABEL = answer_file("beta_parcel_1.multipart")
BETA = {
    "no boundary": once(http(BETA_LABEL, content_type="multipart/related")),
    "another boundary": once(http(BETA_LABEL, content_type="multipart/related; boundary=other")),
    "no closing boundary": once(http(BETA_LABEL[:-3], content_type=MULTIPART)),
    "a part cut in its head": once(http(BETA_LABEL[:120] + b"\r\n--uuid:0f4a--", content_type=MULTIPART)),
    "a thousand parts": once(http(b"\r\n--uuid:0f4a" * 1000 + b"--", content_type=MULTIPART)),
    "yes without a label": once(tampered("beta", b"<label>", b"<other>")),
    "yes without a number": once(tampered("beta", b'"6A12345678901"', b"null")),
    "a number that is none": once(tampered("beta", b'"6A12345678901"', b'"../../etc"')),
    "a label that is no PDF": once(tampered("beta", b"%PDF-", b"%PNG-")),
    "an error and a label": once(tampered("beta", b'"INFOS"', b'"ERROR"')),
    "a label with HTTP 400": once(http(BETA_LABEL, 400, MULTIPART)),
    "JSON of the wrong shape": once(http(b'{"messages": {"id": 3}}', content_type="application/json")),
    "a JSON list": once(http(b"[]", content_type="application/json")),
    "JSON without end": once(http(b"[" * 200_000, content_type="application/json")),
    "a lot of JSON": once(http(b"[" + b"[]," * 500_000 + b"[]]", content_type="application/json")),
    "a number without end": once(http(b'{"errorCode": ' + b"1" * 9000 + b"}")),
    "JSON in UTF-16 cut short": once(http('{"messages"'.encode("utf-16"))),
}


def buy(carrier: str, play: Play, limits: Limits) -> tuple[OutcomeUnknown, float, int]:
    """The error of a purchase, the seconds it took and how many requests were sent."""
    with serving(play) as server:
        buyer = client(carrier, server.url, limits)
        order = shipment(PRODUCT[carrier])
        started_s = time.monotonic()
        with pytest.raises(OutcomeUnknown) as caught:
            buyer.create_label(order, CREDENTIALS[carrier])
        took_s = time.monotonic() - started_s
        return caught.value, took_s, len(until(lambda: server.requests))


@BOTH
@pytest.mark.parametrize("fault", SLOW)
def test_a_slow_carrier_is_left_at_the_deadline(carrier: str, fault: str) -> None:
    error, took_s, sent = buy(carrier, SLOW[fault], HASTY)
    assert DEADLINE_S - 0.05 < took_s < DEADLINE_S + MARGIN_S
    assert sent == 1
    assert not error.is_nothing_made
    assert error.code == f"{carrier.upper()}_OUTCOME_UNKNOWN"


@BOTH
@pytest.mark.parametrize("fault", QUICK)
def test_a_broken_answer_leaves_the_outcome_unknown(carrier: str, fault: str) -> None:
    error, took_s, sent = buy(carrier, QUICK[fault], Limits(timeout_s=WAIT_TIMEOUT_S))
    assert sent == 1
    assert took_s < WAIT_TIMEOUT_S / 2
    assert error.is_carrier_failing


@pytest.mark.parametrize("fault", ALPHA)
def test_an_unreadable_answer_of_alpha_leaves_the_outcome_unknown(fault: str) -> None:
    error, took_s, sent = buy("alpha", ALPHA[fault], Limits(timeout_s=WAIT_TIMEOUT_S))
    assert (sent, error.http_status in {200, 500}) == (1, True)
    assert took_s < WAIT_TIMEOUT_S / 2


@pytest.mark.parametrize("fault", BETA)
def test_an_unreadable_answer_of_beta_leaves_the_outcome_unknown(fault: str) -> None:
    error, took_s, sent = buy("beta", BETA[fault], Limits(timeout_s=WAIT_TIMEOUT_S))
    assert (sent, error.http_status in {200, 400}) == (1, True)
    assert took_s < WAIT_TIMEOUT_S / 2


@pytest.mark.parametrize(("carrier", "fault"), [("alpha", ALPHA), ("beta", BETA)])
def test_a_yes_without_a_pdf_tells_the_numbers_it_spoke_of(carrier: str, fault: dict[str, Play]) -> None:
    error, _, _ = buy(carrier, fault["yes without a label"], Limits(timeout_s=WAIT_TIMEOUT_S))
    assert error.made_numbers == {"alpha": ("XS000000001FR",), "beta": ("6A12345678901",)}[carrier]
    assert error.detail == "a yes without a label"


@BOTH
@pytest.mark.parametrize("fault", ["the answer has 50 MB", "a small answer unpacks to 300 MB"])
def test_a_huge_answer_takes_bounded_memory(carrier: str, fault: str) -> None:
    tracemalloc.start()
    try:
        buy(carrier, QUICK[fault], Limits(timeout_s=WAIT_TIMEOUT_S))
        _, peak_bytes = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak_bytes < MEMORY_BOUND_BYTES


@pytest.mark.parametrize(
    ("fault", "problem"),
    [
        ("many tags", "too many XML tags"),
        ("many attributes", "too many XML tags"),
        ("depth without end", "XML too deep"),
    ],
)
def test_swarming_xml_is_refused_before_a_tree_is_made_of_it(fault: str, problem: str) -> None:
    error, _, _ = buy("alpha", ALPHA[fault], Limits(timeout_s=WAIT_TIMEOUT_S))
    assert error.detail == problem


def test_a_redirect_is_not_followed(serve: Serve) -> None:
    target = serve(always(LABEL["alpha"]))
    error, _, _ = buy(
        "alpha", once(http(b"", 307, headers=f"Location: {target.url}/\r\n")), Limits(timeout_s=WAIT_TIMEOUT_S)
    )
    assert error.http_status == 307
    assert target.connections == 0


def test_a_question_that_gets_no_answer_has_made_nothing(serve: Serve) -> None:
    server = serve(once(b""))
    alpha = client("alpha", server.url, tracking_url=server.url)
    with pytest.raises(CarrierUnavailable):
        alpha.find_by_reference("01JQ5ZK3M9X7ABC", CREDENTIALS["alpha"])
    with pytest.raises(CarrierUnavailable):
        alpha.fetch_label(("XS000000001FR",), CREDENTIALS["alpha"])
    with pytest.raises(CarrierUnavailable):
        alpha.fetch_label((), CREDENTIALS["alpha"])
    assert len(server.requests) == 2


def test_a_client_without_a_tracking_service_cannot_be_asked() -> None:
    for carrier in CARRIERS:
        buyer = client(carrier, "http://127.0.0.1:9")
        assert not buyer.can_be_asked
        with pytest.raises(CarrierUnavailable):
            buyer.find_by_reference("01JQ5ZK3M9X7ABC", CREDENTIALS[carrier])

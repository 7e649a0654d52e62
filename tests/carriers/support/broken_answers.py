"""Broken answers of a hostile or failing carrier, scripted for a loopback server."""

import socket
import zlib
from itertools import repeat

from tests.carriers.support.servers import LABEL, MULTIPART, START, Play, answer_file, dripping, http, once

MEGABYTE = bytes(1024 * 1024)
ENDLESS = 10_000  # times, which nobody reads
WAIT = b"HTTP/1.1 100 Continue\r\n\r\n"
CHUNKED = b"Transfer-Encoding: chunked\r\n\r\n"


def flooding(prefix: bytes, piece: bytes, count: int) -> Play:
    def play(stream: socket.socket, request: bytes) -> bool:
        stream.sendall(prefix)
        for _ in range(count):
            stream.sendall(piece)
        return False

    return play


def many_attributes(stream: socket.socket, request: bytes) -> bool:
    """Send a million, made here: no other test waits for them."""
    attributes = b" ".join(b'a%d=">"' % number for number in range(1_000_000))
    stream.sendall(http(b"<a " + attributes + b"/>"))
    return False


def tampered(carrier: str, old: bytes, new: bytes) -> bytes:
    assert old in LABEL[carrier]
    _head, _, body = LABEL[carrier].replace(old, new).partition(b"\r\n\r\n")
    kind = MULTIPART if carrier == "beta" else "text/xml"
    return http(body, content_type=kind)


FLOODS = {
    "there are 98 headers of 65 kB": flooding(START, b"X-Large: " + b"a" * 65_000 + b"\r\n", 98),
    "it says wait without end": flooding(b"", WAIT * 1000, ENDLESS),
    "the chunks have extensions without end": flooding(START + CHUNKED, b"1;" + b"a" * 60_000 + b"\r\nx\r\n", ENDLESS),
    "the chunks have a byte each": flooding(START + CHUNKED, b"1\r\nx\r\n" * 1000, ENDLESS),
}
_packer = zlib.compressobj(wbits=31)  # gzip
_first, _next = (_packer.compress(MEGABYTE) + _packer.flush(zlib.Z_FULL_FLUSH) for _ in range(2))
BOMB = _first + _next * 299  # without its end, which nobody reads

SLOW = {
    "one header is dripped": dripping(START + b"X-Drip: ", repeat(b"1")),
    "the status line is dripped": dripping(b"HTTP/1.1 200 ", repeat(b"O")),
    "chunks are dripped": dripping(START + CHUNKED, repeat(b"1\r\n \r\n")),
    "a chunk's size is dripped": dripping(START + CHUNKED, repeat(b"0")),
    "it never stops saying wait": dripping(b"", repeat(WAIT)),
    "a promised body never comes": dripping(START + b"Content-Length: 10\r\n\r\n", repeat(b"")),
}
QUICK = FLOODS | {
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
    "the chunks have 50 MB": flooding(START + CHUNKED, b"100000\r\n" + MEGABYTE + b"\r\n", 50),
    "a small answer unpacks to 300 MB": once(http(BOMB, headers="Content-Encoding: gzip\r\n")),
}
ALPHA = {
    "a DOCTYPE": once(http(b"<!DOCTYPE a>" + answer_file("alpha_1_parcels.xml"))),
    "an entity": once(http(b'<!DOCTYPE a [<!ENTITY x "y">]><a>&x;</a>')),
    "depth without end": once(http(b"<a>" * 30_000)),
    "many tags": once(http(b"<a>" + b"<a/>" * 2_000_000 + b"</a>")),
    "many attributes": many_attributes,
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

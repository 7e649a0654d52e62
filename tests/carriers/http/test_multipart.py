"""Beta's multipart answers in every readable form, because the label in them was paid for."""

import base64
import re

import pytest

from carriers.errors import OutcomeUnknown
from carriers.shipment import PurchasedLabel
from tests.carriers.conftest import Serve
from tests.carriers.support.refusals import label_of
from tests.carriers.support.servers import MULTIPART, answer_file, http, once
from tests.carriers.support.shipments import CREDENTIALS, client, shipment

BODY = answer_file("beta_parcel_1.multipart")
NUMBER = "6A12345678901"
NAMELESS = re.sub(rb"Content-ID: .+\r\n", b"", BODY)
START, INFOS, LABEL, END = NAMELESS.split(b"--uuid:0f4a")
PDF = BODY[BODY.index(b"%PDF-") :].removesuffix(b"\r\n--uuid:0f4a--")


def bought(body: bytes, content_type: str = MULTIPART) -> PurchasedLabel:
    return label_of("beta", http(body, content_type=content_type))


@pytest.mark.parametrize(
    "content_type",
    [
        "multipart/related; boundary=uuid:0f4a",
        'multipart/related; boundary = "uuid:0f4a"',
        'Multipart/Related; BOUNDARY="uuid:0f4a"; type="application/json"',
        'multipart/related; start="<boundary=x>"; boundary="uuid:0f4a"',
        'multipart/related; x-boundary="no"; boundary="uuid:0f4a"',
        'multipart/related; type="a; boundary=no"; boundary="uuid:0f4a"',
        "multipart/mixed; boundary=uuid:0f4a",  # older answers
        '\r\n multipart/related; boundary="uuid:0f4a"',  # a header that begins on its second line
    ],
)
def test_the_boundary_is_the_parameter_of_that_name(content_type: str) -> None:
    assert bought(BODY, content_type) == PurchasedLabel((NUMBER,), {NUMBER: PDF})


def in_base64(body: bytes) -> bytes:
    """Return the answer with both parts encoded."""
    body = body.replace(b"Content-Transfer-Encoding: binary", b"content-transfer-encoding: BASE64")
    infos = body[body.index(b"{") : body.rindex(b"}}") + 2]
    return body.replace(infos, base64.encodebytes(infos)).replace(PDF, base64.encodebytes(PDF))


def plain_lines(body: bytes) -> bytes:
    return body.replace(b"\r\n", b"\n")


@pytest.mark.parametrize(
    "body",
    [
        BODY.removeprefix(b"\r\n"),
        BODY + b"\r\nand an epilogue",
        b"a preamble" + BODY,
        plain_lines(BODY),
        plain_lines(BODY).removeprefix(b"\n"),
        BODY.replace(b"--uuid:0f4a\r\n", b"--uuid:0f4a \t\r\n"),
        BODY.removesuffix(b"--") + b"\r\n",  # a boundary like the others ends the last part, too
        NAMELESS,
        BODY.replace(b"Content-ID: <label>\r\n", b""),
        BODY.replace(b"Content-ID: <jsonInfos>\r\n", b""),
        b"--uuid:0f4a".join((START, b"\r\n\r\nmore\r\n", LABEL, INFOS, END)),
        BODY.replace(b"<label>", b'"<label>"'),
        in_base64(BODY),
        BODY.replace(b"binary", b"base64"),  # wrongly declared, so taken unchanged
        BODY.removesuffix(b"--") + b"\r\nContent-ID: <label>\r\n\r\nanother\r\n--uuid:0f4a--",
    ],
)
def test_every_form_of_the_body_is_read(body: bytes) -> None:
    assert bought(body) == PurchasedLabel((NUMBER,), {NUMBER: PDF})


@pytest.mark.parametrize("line", [b"--uuid:0f4ab", b"see --uuid:0f4a", b"--uuid:0f4a b"])
def test_another_line_with_the_boundary_in_it_is_not_the_boundary(line: bytes) -> None:
    pdf = PDF + b"\r\n" + line + b"\r\n%%EOF\n"
    assert bought(BODY.replace(PDF, pdf)).pdfs == {NUMBER: pdf}


@pytest.mark.parametrize(
    "body",
    [
        BODY[:-20],
        BODY.replace(PDF, b"").replace(b"<label>\r\n\r\n", b"<label>"),
        in_base64(BODY).replace(b"JVBERi", b"JVBERi?"),
    ],
    ids=["cut off", "no end of its head", "broken base64"],
)
def test_a_label_that_cannot_be_read_leaves_the_number_known(body: bytes) -> None:
    with pytest.raises(OutcomeUnknown) as caught:
        bought(body)
    assert caught.value.made.tracking_numbers == (NUMBER,)


def test_too_long_a_header_is_refused() -> None:
    with pytest.raises(OutcomeUnknown, match="too long a header"):
        bought(BODY, MULTIPART + ";" * 5000)


@pytest.mark.parametrize("pdf", [b"%PDF-1.4 minimal", PDF.replace(b"%%EOF", b""), PDF + bytes(5000)])
def test_a_label_is_taken_unchanged(pdf: bytes) -> None:
    assert bought(BODY.replace(PDF, pdf)).pdfs == {NUMBER: pdf}


def test_a_request_is_declared_as_json_only(serve: Serve) -> None:
    server = serve(once(b""))
    with pytest.raises(OutcomeUnknown):
        client("beta", server.url).create_label(shipment("beta"), CREDENTIALS["beta"])
    assert b"\r\nContent-Type: application/json\r\n" in server.requests[0]

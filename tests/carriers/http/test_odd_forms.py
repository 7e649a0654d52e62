"""Answers in odd forms that HTTP allows: interim answers before them, and charsets other than UTF-8."""

import json
from typing import Any

import pytest

from carriers.errors import AddressRejected, CarrierError
from tests.carriers.conftest import Serve
from tests.carriers.support.beta import JSON
from tests.carriers.support.servers import LABEL, MULTIPART, always, answer_file, http
from tests.carriers.support.shipments import BOTH, CREDENTIALS, PRODUCT, client, shipment

TEXT = "numéro erroné"
ONE_BYTE = pytest.mark.parametrize("charset", ["ISO-8859-1", '"iso-8859-15"', "latin-1", "ISO8859_1", "cp1252"])


def refusal(serve: Serve, carrier: str, answer: bytes) -> CarrierError:
    server = serve(always(answer))
    with pytest.raises(AddressRejected) as caught:
        client(carrier, server.url).create_label(shipment(PRODUCT[carrier]), CREDENTIALS[carrier])
    return caught.value


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
def test_interim_answers_are_passed_over(serve: Serve, carrier: str, interim: bytes) -> None:
    server = serve(always(interim + LABEL[carrier]))
    made = client(carrier, server.url).create_label(shipment(PRODUCT[carrier]), CREDENTIALS[carrier])
    assert len(made.tracking_numbers) == 1


def refused_by_alpha(text: str, encoding: str, charset: str) -> bytes:
    document = answer_file("alpha_refusal.xml").decode().replace("@CODE@", "38").replace("@TEXT@", text)
    return http(document.encode(encoding), content_type=f"text/xml; charset={charset}")


@ONE_BYTE
def test_alphas_text_is_read_in_the_charset_of_the_header(serve: Serve, charset: str) -> None:
    assert refusal(serve, "alpha", refused_by_alpha(TEXT, "latin-1", charset)).carrier_text == TEXT


@pytest.mark.parametrize("charset", ["ISO-8859-1", "latin1", "windows-1252"])
def test_what_is_called_latin_1_may_have_windows_apostrophes(serve: Serve, charset: str) -> None:
    answer = refused_by_alpha("l\u2019entrée", "windows-1252", charset)
    assert refusal(serve, "alpha", answer).carrier_text == "l\u2019entrée"
    stray = refused_by_alpha("entrée", "latin-1", charset).replace(b"\xe9e", b"\xe9\x81")
    assert refusal(serve, "alpha", stray).carrier_text == "entré\ufffd"


@ONE_BYTE
def test_betas_text_is_read_in_the_charset_of_the_header(serve: Serve, charset: str) -> None:
    answer = http(refused_by_beta(), 400, f"{JSON};charset={charset}")
    assert refusal(serve, "beta", answer).carrier_text == TEXT


def test_a_part_is_read_in_its_own_charset(serve: Serve) -> None:
    head = f"--uuid:0f4a\r\nContent-Type: {JSON};charset=ISO-8859-1\r\nContent-ID: <jsonInfos>\r\n\r\n"
    body = head.encode() + refused_by_beta() + b"\r\n--uuid:0f4a--"
    assert refusal(serve, "beta", http(body, 400, MULTIPART)).carrier_text == TEXT


def test_a_charset_that_is_declared_falsely_spoils_no_text(serve: Serve) -> None:
    assert refusal(serve, "alpha", refused_by_alpha(TEXT, "utf-8", "ISO-8859-1")).carrier_text == TEXT

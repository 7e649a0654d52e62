"""alpha's proof of a delivery: a PDF once the parcel is delivered, nothing before."""

from base64 import b64encode
from io import BytesIO
from xml.etree import ElementTree as ET

import pytest
from pypdf import PdfReader

from carriers.errors import CarrierUnavailable
from carriers.sandbox.server import SandboxServer
from tests.carriers.conftest import Serve
from tests.carriers.sandbox.control import advance
from tests.carriers.support.sandbox import order, sandbox_clients
from tests.carriers.support.servers import always, answer_file, body_of, http
from tests.carriers.support.shipments import CREDENTIALS, client

NUMBER = "XS000000001FR"
ANSWER = (
    '<soap:Envelope xmlns:soap="http://schemas.xmlsoap.org/soap/envelope/"><soap:Body>'
    '<ns2:searchPODResponse xmlns:ns2="http://cxf.tracking.soap.chronopost.fr/"><return>'
    "{rest}</return></ns2:searchPODResponse></soap:Body></soap:Envelope>"
)


def answered(serve: Serve, code: int | None = 0, rest: str = "") -> bytes | None:
    server = serve(
        always(
            http(
                answer_file("alpha_proof.xml")
                if not rest and not code
                else ANSWER.format(rest=rest if code is None else f"<errorCode>{code}</errorCode>{rest}").encode()
            )
        )
    )
    found = client("alpha", server.url, tracking_url=server.url).proof_of_delivery(NUMBER, CREDENTIALS["alpha"])
    (request,) = server.requests
    asked = ET.fromstring(body_of(request))[0][0]
    assert asked.tag == "{http://cxf.tracking.soap.chronopost.fr/}searchPOD"
    assert [(child.tag, child.text) for child in asked] == [
        *(("accountNumber", "19869502"), ("password", "255562"), ("language", "fr_FR")),
        *(("skybillNumber", NUMBER), ("pdf", "true")),
    ]
    return found


def test_the_proof_is_the_pdf_of_the_answer(serve: Serve) -> None:
    assert answered(serve) == b"%PDF-1.4 signed"


def test_the_proof_is_the_pdf_of_the_answer_whichever_form_its_flag_has(serve: Serve) -> None:
    pod = b64encode(b"%PDF-1.4 signed").decode()
    assert answered(serve, rest=f"<podPresente>1</podPresente><pod>{pod}</pod>") == b"%PDF-1.4 signed"


def test_an_answer_without_an_error_code_is_read(serve: Serve) -> None:
    pod = b64encode(b"%PDF-1.4 signed").decode()
    rest = f"<formatPOD>PDF</formatPOD><pod>{pod}</pod><podPresente>true</podPresente><statusCode>0</statusCode>"
    assert answered(serve, None, rest) == b"%PDF-1.4 signed"
    assert answered(serve, None, "<podPresente>false</podPresente><statusCode>0</statusCode>") is None


@pytest.mark.parametrize("flag", ["false", "0", ""])
def test_without_a_proof_there_is_none(serve: Serve, flag: str) -> None:
    assert answered(serve, rest=f"<podPresente>{flag}</podPresente>") is None


@pytest.mark.parametrize(
    ("code", "rest"),
    [
        (1, "<podPresente>false</podPresente>"),
        (7, ""),
        (0, "<podPresente>true</podPresente><pod>eA==</pod>"),
        (None, "<statusCode>0</statusCode>"),
    ],
)
def test_an_answer_that_is_no_proof_is_an_outage(serve: Serve, code: int | None, rest: str) -> None:
    with pytest.raises(CarrierUnavailable):
        answered(serve, code, rest)


def test_the_sandbox_proves_what_it_delivered(sandbox: SandboxServer) -> None:
    alpha = sandbox_clients(sandbox)["alpha"]
    (number,) = alpha.create_label(order("alpha-13"), CREDENTIALS["alpha"]).tracking_numbers
    assert alpha.proof_of_delivery(number, CREDENTIALS["alpha"]) is None
    while "delivered" not in advance(sandbox, number):
        pass
    proof = alpha.proof_of_delivery(number, CREDENTIALS["alpha"])
    assert proof is not None
    assert number in PdfReader(BytesIO(proof)).pages[0].extract_text()

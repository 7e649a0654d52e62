"""alpha's proof of a delivery: a PDF once the parcel is delivered, nothing before."""

from base64 import b64encode

import pytest

from carriers.errors import CarrierUnavailable
from carriers.sandbox.server import SandboxServer
from tests.carriers.conftest import Serve
from tests.carriers.sandbox.control import advance
from tests.carriers.support.pdfs import texts
from tests.carriers.support.sandbox import order, sandbox_clients
from tests.carriers.support.servers import always, answer_file, asked, http
from tests.carriers.support.shipments import ALPHA_CONTRACT, CREDENTIALS, client

NUMBER = "XS000000001FR"
PDF = b"%PDF-1.4 signed"
POD = f"<pod>{b64encode(PDF).decode()}</pod>"
ANSWER = (
    '<soap:Envelope xmlns:soap="http://schemas.xmlsoap.org/soap/envelope/"><soap:Body>'
    '<ns2:searchPODResponse xmlns:ns2="http://cxf.tracking.soap.chronopost.fr/"><return>'
    "{rest}</return></ns2:searchPODResponse></soap:Body></soap:Envelope>"
)


def answered(serve: Serve, code: int | None = 0, rest: str = "") -> bytes | None:
    written = rest if code is None else f"<errorCode>{code}</errorCode>{rest}"
    answer = ANSWER.format(rest=written).encode() if rest or code else answer_file("alpha_proof.xml")
    server = serve(always(http(answer)))
    found = client("alpha", server.url, tracking_url=server.url).proof_of_delivery(NUMBER, CREDENTIALS["alpha"])
    children = [*ALPHA_CONTRACT, ("language", "fr_FR"), ("skybillNumber", NUMBER), ("pdf", "true")]
    assert asked(server) == ("{http://cxf.tracking.soap.chronopost.fr/}searchPOD", children)
    assert len(server.requests) == 1
    return found


@pytest.mark.parametrize(
    ("code", "rest", "proof"),
    [
        (0, "", PDF),  # as it was recorded
        (0, f"<podPresente>1</podPresente>{POD}", PDF),
        (None, f"<formatPOD>PDF</formatPOD>{POD}<podPresente>true</podPresente><statusCode>0</statusCode>", PDF),
        (None, "<podPresente>false</podPresente><statusCode>0</statusCode>", None),
        *((0, f"<podPresente>{flag}</podPresente>", None) for flag in ("false", "0", "")),
    ],
)
def test_the_proof_is_the_pdf_of_the_answer_if_its_flag_says_that_there_is_one(
    serve: Serve, code: int | None, rest: str, proof: bytes | None
) -> None:
    assert answered(serve, code, rest) == proof


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
    assert number in texts(proof)[0]

"""Answers in shapes that public recordings of the carriers have and those in `answers` lack, with invented values."""

import json
from contextlib import nullcontext
from typing import Any

import pytest

from carriers.errors import CredentialsRejected, Rejected, RequestRejected
from carriers.pickup_points import PointQuery
from tests.carriers.conftest import Serve
from tests.carriers.support.beta import JSON
from tests.carriers.support.points import alpha_point
from tests.carriers.support.refusals import label_of
from tests.carriers.support.servers import MULTIPART, always, answer_file, http, once
from tests.carriers.support.shipments import CREDENTIALS, MONDAY, client, shipment

BETA_LABEL = answer_file("beta_parcel_1.multipart")
# All that a parcel of alpha comes with, in this order around its PDF.
BEFORE = b"""<codeDepot>69200001</codeDepot><codeService>226</codeService><destinationDepot>0755</destinationDepot>
<geoPostCodeBarre>%0075011XS000000001248226250</geoPostCodeBarre><geoPostNumeroColis>XS0000000012480</geoPostNumeroColis>
<groupingPriorityLabel>PAR1</groupingPriorityLabel>"""
AFTER = b"<serviceMark/><serviceName>AM2-NO</serviceName><signaletiqueProduit>13H</signaletiqueProduit>"
RESERVATION = b"612345678901234567890"
NIL = b'xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:nil="true"'


def chunked(body: bytes, status: int, content_type: str) -> bytes:
    """Return an answer as beta's server sends it: without a reason phrase, in chunks, the last on its connection."""
    lines = f"HTTP/1.1 {status} ", "Server: Apache", f"Content-Type: {content_type}", "Connection: close"
    head = "".join(f"{line}\r\n" for line in (*lines, "Transfer-Encoding: chunked", "")).encode()
    half = len(body) // 2
    return head + b"".join(b"%x\r\n%s\r\n" % (len(piece), piece) for piece in (body[:half], body[half:], b""))


def refusal(code: str, text: str) -> bytes:
    """Return the JSON of a refusal by beta."""
    message = {"id": code, "type": "ERROR", "messageContent": text, "replacementValues": []}
    document = {"messages": [message], "labelXmlV2Reponse": None, "labelV2Response": None}
    return json.dumps(document, ensure_ascii=False).encode()


def multipart(document: bytes) -> bytes:
    """Return an answer of beta with JSON alone."""
    head = b"\r\n--uuid:0f4a\r\nContent-Type: application/json;charset=UTF-8\r\nContent-ID: <jsonInfos>\r\n\r\n"
    return head + document + b"\r\n--uuid:0f4a--"


@pytest.mark.parametrize(
    ("code", "text", "error"),
    [
        ("30000", "Identifiant ou mot de passe incorrect", CredentialsRejected),
        ("30220", "Le numéro de portable du destinataire n'a pas été transmis", RequestRejected),
        ("50005", "le champ letter.service.orderNumber ne peut pas être nul", RequestRejected),
    ],
)
@pytest.mark.parametrize("is_multipart", [False, True])
def test_beta_refuses_on_a_connection_that_it_closes(
    serve: Serve, code: str, text: str, error: type[Rejected], is_multipart: bool
) -> None:
    document = refusal(code, text)
    body, kind = (multipart(document), MULTIPART) if is_multipart else (document, f"{JSON};charset=UTF-8")
    server = serve(once(chunked(body, 400, kind)))
    with pytest.raises(error) as caught:
        client("beta", server.url).create_label(shipment("beta"), CREDENTIALS["beta"])
    assert (caught.value.carrier_code, caught.value.carrier_text) == (code, text)


@pytest.mark.parametrize("block", [b"labelV2Response", b"labelV31Response", b"labelResponse"])
def test_betas_number_is_found_in_the_block_of_each_version(block: bytes) -> None:
    body = BETA_LABEL.replace(b'"labelV2Response"', b'"labelXmlV2Reponse": null, "%s"' % block)
    label = label_of("beta", chunked(body, 200, MULTIPART))
    assert (label.tracking_numbers, list(label.pdfs)) == (("6A12345678901",), ["6A12345678901"])


def test_betas_papers_beside_the_customs_form_are_passed_over(serve: Serve) -> None:
    form = answer_file("beta_customs_1.multipart")
    last = form.rindex(b"--uuid:0f4a--")
    paper = b"--uuid:0f4a\r\nContent-Type: application/octet-stream\r\nContent-ID: <proforma>\r\n\r\n%PDF-1.3\r\n"
    mixed = MULTIPART.replace("multipart/related", "multipart/mixed")
    server = serve(always(http(form[:last] + paper + form[last:], content_type=mixed)))
    ordered = shipment("beta_domicile_signature_monde")
    label = client("beta", server.url).create_label(ordered, CREDENTIALS["beta"])
    (number,) = label.tracking_numbers
    assert list(label.pdfs) == [number, f"{number}-customs-form"]


def test_alphas_parcel_comes_with_more_than_its_number_and_pdf() -> None:
    answer = answer_file("alpha_1_parcels.xml").replace(b"<codeDepot>0000</codeDepot>", BEFORE)
    answer = answer.replace(b"</pdfEtiquette>", b"</pdfEtiquette>" + AFTER).replace(
        b">0042<", b">612345678901234567890<"
    )
    label = label_of("alpha", http(b'<?xml version="1.0"?>\n' + answer))
    assert (label.tracking_numbers, label.reservation_number) == (("XS000000001FR",), RESERVATION.decode())
    assert list(label.pdfs) == ["XS000000001FR"]


def test_alphas_lists_without_any_item_may_be_written_as_nil(serve: Serve) -> None:
    nil = b"<listeHoraireOuverture %s/>" % NIL
    day = b"<horairesAsString>08:00-12:30</horairesAsString><jour>2</jour>" + nil
    lists = b"<listeHoraireOuverture>%s</listeHoraireOuverture>%s<listePeriodeFermeture %s/>" % (day, nil, NIL)
    answer = alpha_point().replace(b"DetailPointChronopostResponse", b"PointChronopostResponse")
    answer = answer.replace(b">0</qualiteReponse>", b">2</qualiteReponse>").replace(
        b"<localite>", lists + b"<localite>"
    )
    server = serve(always(http(answer)))
    carrier = client("alpha", server.url, points_url=server.url)
    values: dict[str, Any] = {"country_code": "FR", "zip_code": "69100", "city": "Lyon", "day": MONDAY.date()}
    (point,) = carrier.find_points(PointQuery("86", **values), CREDENTIALS["alpha"], nullcontext()).points
    assert point.opening_hours is not None
    assert point.opening_hours[1] == (("08:00", "12:30"),)

"""The SOAP messages against a schema and a second implementation, both made from the protocol page."""

import base64
from decimal import Decimal
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
import xmlschema
import zeep
from lxml import etree

from carriers.alpha import messages as alpha_message
from carriers.products import PRODUCTS
from carriers.sandbox.server import SandboxServer
from carriers.shipment import Package, Shipment
from tests.carriers.conftest import Clients, Serve
from tests.carriers.sandbox.control import advance, foreign
from tests.carriers.support.sandbox import bought, order, sandbox_trackers
from tests.carriers.support.servers import alpha_labels, always, answer_file, body_of, http
from tests.carriers.support.shipments import CREDENTIALS, client, shipment
from tests.carriers.support.tracking import tracker
from tests.carriers.test_alpha_messages import POINT

WIRE = Path(__file__).with_name("wire")
ALPHA = [code for code, product in PRODUCTS.items() if product.carrier == "alpha"]
new_client: Any = zeep.Client  # it has no types
SHIPPING = new_client(str(WIRE / "alpha.wsdl"))
TRACKING = new_client(str(WIRE / "alpha_tracking.wsdl"))


@pytest.fixture(scope="module")
def schema() -> xmlschema.XMLSchema:
    return xmlschema.XMLSchema(WIRE / "alpha.xsd")


def operation(document: bytes) -> ET.Element:
    """Return the element in the envelope's body."""
    return ET.fromstring(document)[0][0]


def canonical(element: Any) -> str:
    """Return an XML element in a canonical form, without differences in prefixes and white space."""
    return ET.canonicalize(etree.tostring(element), rewrite_prefixes=True, strip_text=True)


def data(element: ET.Element) -> Any:
    """Return the data that zeep would build the element from."""
    if not len(element):
        return element.text or ""
    values: dict[str, Any] = {}
    for child in element:
        name = child.tag.rpartition("}")[2]
        values.setdefault(name, []).append(data(child))
    return {name: found if len(found) > 1 else found[0] for name, found in values.items()}


def purchase(ordered: Shipment) -> bytes:
    """Return the request for a label; a relay product's has the relay."""
    point = POINT if PRODUCTS[ordered.product_code].needs_pickup_point else None
    return alpha_message.purchase(ordered, CREDENTIALS["alpha"], point)


@pytest.mark.parametrize("count", [1, 3])
@pytest.mark.parametrize("code", ALPHA)
def test_a_purchase_is_valid_by_the_pages_table(schema: xmlschema.XMLSchema, code: str, count: int) -> None:
    message = purchase(shipment(code, count))
    schema.validate(operation(message))
    assert b"subAccount" not in message


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b"shipperAdress1", b"shipperAddress1"),
        (b"<weightUnit>KGM", b"<weightUnit>G"),
        (b"<shipperCivility>M</shipperCivility>", b""),
        (b"Soren", b"S\xc3\xb8ren"),
        (b"Soren", b"Soren-"),
        (b"Soren", b"Soren--x"),
        (b"<recipientName>", b"<recipientName>" + b"x" * 100),
        (b"<weight>1.25<", b"<weight>1250<"),
        (b"<recipientCountry>FR", b"<recipientCountry>FRA"),
        (b"<identWebPro />", b"<identWebPro /><subAccount />"),
        (b"<recipientCity>Paris</recipientCity>", b""),
        (b"<refValue>", b'<refValue xmlns="http://cxf.shipping.soap.chronopost.fr/">'),
    ],
)
def test_the_schema_refuses_what_the_page_does(schema: xmlschema.XMLSchema, old: bytes, new: bytes) -> None:
    message = alpha_message.purchase(shipment(), CREDENTIALS["alpha"])
    assert old in message
    assert not schema.is_valid(operation(message.replace(old, new)))


@pytest.mark.parametrize("count", [1, 3])
@pytest.mark.parametrize("code", ALPHA)
def test_a_second_implementation_writes_the_same_purchase(code: str, count: int) -> None:
    order = shipment(code, count, packages=(Package(Decimal("12.5")),) * count)
    ours = operation(purchase(order))
    theirs = SHIPPING.create_message(SHIPPING.service, "shippingMultiParcelV4", **data(ours))
    assert canonical(theirs[0][0]) == canonical(etree.fromstring(ET.tostring(ours)))


def test_a_second_implementation_writes_the_same_queries(serve: Serve) -> None:
    tracking = serve(always(http(answer_file("alpha_found.xml"))))
    shipping = serve(always(http(answer_file("alpha_fetched.xml"))))
    alpha = client("alpha", shipping.url, tracking_url=tracking.url)
    alpha.find_by_reference("01JQ5ZK3M9X7ABC", CREDENTIALS["alpha"])
    alpha.fetch_label("00000000000000042", CREDENTIALS["alpha"])
    for peer, name, request in (
        (TRACKING, "trackWithSenderRef", tracking.requests[0]),
        (SHIPPING, "getReservedSkybillWithTypeAndModeAuth", shipping.requests[0]),
    ):
        ours = operation(body_of(request))
        theirs = peer.create_message(peer.service, name, **data(ours))
        assert canonical(theirs[0][0]) == canonical(etree.fromstring(ET.tostring(ours)))


def test_a_second_implementation_reads_the_same_answer(serve: Serve) -> None:
    server = serve(always(http(alpha_labels(3))))
    ours = client("alpha", server.url).create_label(shipment("alpha-13", 3), CREDENTIALS["alpha"])
    request = data(operation(body_of(server.requests[0])))
    service = SHIPPING.create_service("{http://cxf.shipping.soap.chronopost.fr/}Binding", server.url)
    theirs = service.shippingMultiParcelV4(**request)
    assert theirs.errorCode == 0
    assert [parcel.skybillNumber for parcel in theirs.resultMultiParcelValue] == list(ours.tracking_numbers)
    assert all(parcel.pdfEtiquette.startswith(b"%PDF-") for parcel in theirs.resultMultiParcelValue)


@pytest.mark.parametrize("count", [1, 3])
@pytest.mark.parametrize("code", ALPHA)
def test_a_second_implementation_buys_from_the_sandbox(
    sandbox: SandboxServer, schema: xmlschema.XMLSchema, code: str, count: int
) -> None:
    ours = operation(purchase(order(code, count)))
    theirs = SHIPPING.create_service("{http://cxf.shipping.soap.chronopost.fr/}Binding", sandbox.urls["ALPHA_URL"])
    with SHIPPING.settings(raw_response=True):
        schema.validate(operation(theirs.shippingMultiParcelV4(**data(ours)).content))
    label = theirs.shippingMultiParcelV4(**data(ours))
    assert label.errorCode == 0
    numbers = tuple(parcel.skybillNumber for parcel in label.resultMultiParcelValue)
    assert numbers == bought(sandbox, "alpha")[count:]
    assert all(parcel.pdfEtiquette.startswith(b"%PDF-") for parcel in label.resultMultiParcelValue)


def test_a_second_implementation_finds_a_parcel_in_the_sandbox(
    sandbox: SandboxServer, clients: Clients, schema: xmlschema.XMLSchema
) -> None:
    shipment = order("alpha-13", 2)
    label = clients["alpha"].create_label(shipment, CREDENTIALS["alpha"])
    contract = {"accountNumber": CREDENTIALS["alpha"].account_number, "password": CREDENTIALS["alpha"].password}
    tracking = TRACKING.create_service(
        "{http://cxf.tracking.soap.chronopost.fr/}Binding", sandbox.urls["ALPHA_TRACKING_URL"]
    )
    found = tracking.trackWithSenderRef(**contract, language="fr_FR", sendersRef=shipment.id)
    assert tuple(parcel.skybillNumber for parcel in found.listParcel) == label.tracking_numbers
    assert [event.code for event in found.listParcel[0].events] == ["DC"]
    shipping = SHIPPING.create_service("{http://cxf.shipping.soap.chronopost.fr/}Binding", sandbox.urls["ALPHA_URL"])
    question = {"numberSearch": label.reservation_number, "mode": "THE", **contract}
    answer = shipping.getReservedSkybillWithTypeAndModeAuth(**question)
    assert base64.b64decode(answer.skybill).startswith(b"%PDF-")
    with SHIPPING.settings(raw_response=True):
        schema.validate(operation(shipping.getReservedSkybillWithTypeAndModeAuth(**question).content))


def test_a_second_implementation_asks_and_reads_the_same_history(sandbox: SandboxServer, serve: Serve) -> None:
    number = foreign(sandbox, "alpha")
    advance(sandbox, number, 20)
    ours = sandbox_trackers(sandbox)["alpha"].track(number)
    theirs = TRACKING.create_service(
        "{http://cxf.tracking.soap.chronopost.fr/}Binding", sandbox.urls["ALPHA_TRACKING_URL"]
    )
    found = theirs.trackSkybillV2(language="fr_FR", skybillNumber=number).listEventInfoComp
    assert found.skybillNumber == number
    read = [(event.code, event.eventDate, event.eventLabel) for event in found.events]
    assert read == [(event.code, event.happened_at, event.text) for event in ours.events]

    server = serve(always(http(answer_file("alpha_history.xml"))))
    sent = tracker("alpha", server.url).track("XU000000415FR")
    question = operation(body_of(server.requests[0]))
    message = TRACKING.create_message(TRACKING.service, "trackSkybillV2", **data(question))
    assert canonical(message[0][0]) == canonical(etree.fromstring(ET.tostring(question)))
    recorded = TRACKING.create_service("{http://cxf.tracking.soap.chronopost.fr/}Binding", server.url)
    events = recorded.trackSkybillV2(language="fr_FR", skybillNumber="XU000000415FR").listEventInfoComp.events
    assert [event.eventDate for event in events] == [event.happened_at for event in sent.events]


@pytest.mark.parametrize("answer", [alpha_labels(1), alpha_labels(3), answer_file("alpha_fetched.xml")])
def test_the_recorded_answers_are_valid_too(schema: xmlschema.XMLSchema, answer: bytes) -> None:
    schema.validate(operation(answer))

"""Recovery from an unknown outcome: alpha finds parcels by the shipment's id, labels by the reservation."""

import re
import time
from dataclasses import replace
from xml.etree import ElementTree as ET

import pytest

from carriers import CARRIERS
from carriers.base import Carrier
from carriers.client import Limits
from carriers.errors import (
    CancellationRefused,
    CarrierError,
    CarrierUnavailable,
    CredentialsRejected,
    OutcomeUnknown,
    RequestRejected,
)
from carriers.sandbox.server import SandboxServer
from tests.carriers.conftest import Clients, Serve
from tests.carriers.sandbox.control import arm, ledger
from tests.carriers.support.pdfs import texts
from tests.carriers.support.refusals import refusal
from tests.carriers.support.sandbox import bought, order, received, sandbox_clients
from tests.carriers.support.servers import alpha_labels, always, answer_file, asked, http
from tests.carriers.support.shipments import ALPHA_CONTRACT, CREDENTIALS, client
from tests.carriers.test_purchases import page_widths

ALPHA = CREDENTIALS["alpha"]
PURCHASE, SEARCH, REPRINT = "shippingMultiParcelV4", "trackWithSenderRef", "getReservedSkybillWithTypeAndModeAuth"
NOT_FOUND_FOR_S = 3600
RESERVATION = "10000000000000042"


def test_an_unknown_parcel_is_found_by_its_reference_and_its_label_fetched(serve: Serve) -> None:
    tracking = serve(always(http(answer_file("alpha_found.xml"))))
    shipping = serve(always(http(answer_file("alpha_fetched.xml"))))
    alpha = client("alpha", shipping.url, tracking_url=tracking.url)
    assert alpha.can_be_asked
    numbers = alpha.find_by_reference("01JQ5ZK3M9X7ABC", ALPHA)
    assert numbers == ("XS000000001FR", "XS000000002FR")
    assert page_widths(alpha.fetch_label(RESERVATION, ALPHA)) == [281]
    children = [*ALPHA_CONTRACT, ("language", "fr_FR"), ("sendersRef", "01JQ5ZK3M9X7ABC")]
    assert asked(tracking) == ("{http://cxf.tracking.soap.chronopost.fr/}trackWithSenderRef", children)
    children = [("numberSearch", RESERVATION), ("mode", "THE"), *ALPHA_CONTRACT]
    operation = "{http://cxf.shipping.soap.chronopost.fr/}getReservedSkybillWithTypeAndModeAuth"
    assert asked(shipping) == (operation, children)


def unknown(answer: bytes, said: str = "", count: int = 1) -> CarrierError:
    """Return the error of an order whose outcome its answer leaves open."""
    failure = refusal("alpha", answer, count)
    assert type(failure) is OutcomeUnknown
    assert said in str(failure)
    return failure


def bought_unseen(sandbox: SandboxServer, client: Carrier, fault: str, count: int, code: str = "alpha-13") -> str:
    """Buy parcels whose answer is lost; return the shipment's id."""
    shipment = order(code, count)
    arm(sandbox, fault, operation=PURCHASE, count=1, delay_s=NOT_FOUND_FOR_S)
    with pytest.raises(OutcomeUnknown):
        client.create_label(shipment, ALPHA)
    assert len(bought(sandbox, "alpha")) == count
    return shipment.id


@pytest.mark.parametrize("code", ["alpha-13", "relais"])
@pytest.mark.parametrize("count", [1, 3])
@pytest.mark.parametrize("fault", ["closemade", "garbled", "nolabel"])
def test_parcels_without_an_answer_are_found_and_cancelled_one_by_one(
    sandbox: SandboxServer, clients: Clients, fault: str, count: int, code: str
) -> None:
    shipment_id = bought_unseen(sandbox, clients["alpha"], fault, count, code)

    numbers = clients["alpha"].find_by_reference(shipment_id, ALPHA)
    assert numbers == bought(sandbox, "alpha")
    for number in numbers:
        with pytest.raises(RequestRejected):
            clients["alpha"].fetch_label(number, ALPHA)  # only a reservation's number finds the PDF
        clients["alpha"].cancel(number, ALPHA)

    assert clients["alpha"].find_by_reference(shipment_id, ALPHA) == ()
    assert all(row["cancelled"] for row in ledger(sandbox))


@pytest.mark.parametrize("count", [1, 3])
def test_a_reservations_number_fetches_all_its_labels_in_one_pdf(
    sandbox: SandboxServer, clients: Clients, count: int
) -> None:
    label = clients["alpha"].create_label(order("alpha-13", count), ALPHA)
    assert label.reservation_number == ledger(sandbox)[0]["reservation_number"]

    pages = texts(clients["alpha"].fetch_label(label.reservation_number, ALPHA))

    assert len(pages) == count
    numbers = label.tracking_numbers
    assert all(number in page.replace(" ", "") for number, page in zip(numbers, pages, strict=True))
    assert received(sandbox) == {"/alpha/shipping": 2}


@pytest.mark.parametrize("fault", ["nolabel", "notpdf", "base64"])
def test_a_yes_without_a_pdf_tells_the_reservations_number(
    sandbox: SandboxServer, clients: Clients, fault: str
) -> None:
    arm(sandbox, fault, carrier="alpha", count=1)
    with pytest.raises(OutcomeUnknown) as caught:
        clients["alpha"].create_label(order("alpha-13"), ALPHA)
    assert caught.value.made.tracking_numbers == bought(sandbox, "alpha")
    assert len(texts(clients["alpha"].fetch_label(caught.value.made.reservation_number, ALPHA))) == 1


def test_the_pdfs_that_can_be_read_are_kept_beside_one_that_can_not() -> None:
    answer = re.sub(rb"(?<=<pdfEtiquette>)[^<]+", b"!", alpha_labels(3), count=1)
    failure = unknown(http(answer), "is not base64", count=3)
    assert failure.made.reservation_number == ET.fromstring(answer).findtext(".//reservationNumber")
    assert list(failure.made.pdfs) == list(failure.made.tracking_numbers[1:])


@pytest.mark.parametrize(
    ("old", "new"),
    [(b"<errorCode>0</errorCode>", b""), (b"<errorCode>0<", b"<errorCode>33<"), (b"<errorCode>0<", b"<errorCode>no<")],
)
def test_the_label_of_an_answer_that_contradicts_itself_is_kept(old: bytes, new: bytes) -> None:
    failure = unknown(http(answer_file("alpha_1_parcels.xml").replace(old, new)), "error code")
    assert failure.made.tracking_numbers == tuple(failure.made.pdfs) == ("XS000000001FR",)
    assert failure.made.reservation_number == "0042"


@pytest.mark.parametrize("status", [201, 202, 302, 400, 500])
def test_the_label_of_an_answer_with_another_status_is_kept(status: int) -> None:
    failure = unknown(http(answer_file("alpha_1_parcels.xml"), status), "not one to this request")
    assert failure.made.tracking_numbers == tuple(failure.made.pdfs) == ("XS000000001FR",)
    assert failure.made.reservation_number == "0042"


def test_a_refusal_with_another_status_leaves_the_outcome_open() -> None:
    unknown(http(answer_file("alpha_refusal.xml").replace(b"@CODE@", b"33"), 500), "not one to this request")


def test_a_label_without_a_number_is_no_refusal() -> None:
    answer = answer_file("alpha_1_parcels.xml").replace(b"<errorCode>0<", b"<errorCode>33<")
    failure = unknown(http(answer.replace(b"XS000000001FR", b"")))
    assert (failure.made.tracking_numbers, list(failure.made.pdfs)) == ((), ["parcel-1"])


def test_a_parcel_may_be_found_only_after_a_while(
    sandbox: SandboxServer, clients: Clients, monkeypatch: pytest.MonkeyPatch
) -> None:
    shipment_id = bought_unseen(sandbox, clients["alpha"], "late", 2)
    assert clients["alpha"].find_by_reference(shipment_id, ALPHA) == ()
    later = time.time() + NOT_FOUND_FOR_S
    monkeypatch.setattr(time, "time", lambda: later)
    assert clients["alpha"].find_by_reference(shipment_id, ALPHA) == bought(sandbox, "alpha")


def test_of_many_parcels_ten_are_found(sandbox: SandboxServer, clients: Clients) -> None:
    shipment_id = bought_unseen(sandbox, clients["alpha"], "closemade", 12)
    assert clients["alpha"].find_by_reference(shipment_id, ALPHA) == bought(sandbox, "alpha")[:10]


@pytest.mark.parametrize("number", [b"", b"XS/1"])
def test_a_parcel_that_is_found_without_a_number_is_not_passed_over(serve: Serve, number: bytes) -> None:
    answer = http(answer_file("alpha_found.xml").replace(b"XS000000001FR", number))
    server = serve(always(answer))
    with pytest.raises(CarrierUnavailable, match="without a number"):
        client("alpha", server.url, tracking_url=server.url).find_by_reference("01JQ5ZK3M9X7ABC", ALPHA)


def test_an_empty_record_is_no_parcel(serve: Serve) -> None:
    found = answer_file("alpha_found.xml").replace(b"<listParcel>", b"<listParcel/><listParcel>", 1)
    nil = b'<listParcel xmlns:i="http://www.w3.org/2001/XMLSchema-instance" i:nil="true"/>'
    nothing = re.sub(rb"<listParcel>.*</listParcel>", nil, answer_file("alpha_found.xml"), flags=re.DOTALL)
    server = serve(always(http(found), http(nothing)))
    alpha = client("alpha", server.url, tracking_url=server.url)
    assert alpha.find_by_reference("01JQ5ZK3M9X7ABC", ALPHA) == ("XS000000001FR", "XS000000002FR")
    assert alpha.find_by_reference("01JQ5ZK3M9X7ABC", ALPHA) == ()
    label = answer_file("alpha_1_parcels.xml").replace(b"<resultMulti", b"<resultMultiParcelValue/><resultMulti", 1)
    made = client("alpha", serve(always(http(label))).url).create_label(order("alpha-13"), ALPHA)
    assert made.tracking_numbers == tuple(made.pdfs) == ("XS000000001FR",)


def test_another_contract_finds_and_fetches_nothing(sandbox: SandboxServer, clients: Clients) -> None:
    shipment_id = bought_unseen(sandbox, clients["alpha"], "closemade", 1)
    other = replace(ALPHA, account_number="19869503")
    assert clients["alpha"].find_by_reference(shipment_id, other) == ()
    with pytest.raises(RequestRejected):
        clients["alpha"].fetch_label(ledger(sandbox)[0]["reservation_number"], other)
    with pytest.raises(CancellationRefused):
        clients["alpha"].cancel(bought(sandbox, "alpha")[0], other)


@pytest.mark.parametrize(
    ("fault", "error"),
    [
        *(
            (fault, CarrierUnavailable)
            for fault in ("hang", "reset", "close", "html502", "empty", "garbled", "redirect")
        ),
        *((fault, CarrierUnavailable) for fault in ("truncated", "doctype", "deep", "huge", "gzipbomb", "soapfault")),
        ("29", CarrierUnavailable),
        ("30", CredentialsRejected),
    ],
)
def test_a_query_that_fails_has_made_nothing(
    sandbox: SandboxServer, clients: Clients, fault: str, error: type[CarrierError]
) -> None:
    alpha = sandbox_clients(sandbox, Limits(timeout_s=0.3 if fault == "hang" else 60, failure_threshold=9))["alpha"]
    label = clients["alpha"].create_label(order("alpha-13"), ALPHA)
    for operation in (SEARCH, REPRINT):
        arm(sandbox, fault, carrier="alpha", operation=operation)
    with pytest.raises(CarrierError) as search:
        alpha.find_by_reference(order("alpha-13").id, ALPHA)
    with pytest.raises(CarrierError) as reprint:
        alpha.fetch_label(label.reservation_number, ALPHA)
    assert type(search.value) is type(reprint.value) is error
    assert received(sandbox) == {"/alpha/shipping": 2, "/alpha/tracking": 1}


@pytest.mark.parametrize("fault", ["nolabel", "notpdf"])
def test_a_fetched_label_is_a_pdf_or_none(sandbox: SandboxServer, clients: Clients, fault: str) -> None:
    label = clients["alpha"].create_label(order("alpha-13"), ALPHA)
    arm(sandbox, fault, operation=REPRINT)
    with pytest.raises(CarrierUnavailable):
        clients["alpha"].fetch_label(label.reservation_number, ALPHA)


def test_a_carrier_without_a_tracking_service_cannot_be_asked(serve: Serve) -> None:
    server = serve(always(b""))
    for carrier in CARRIERS:
        buyer = client(carrier, server.url)
        assert not buyer.can_be_asked
        with pytest.raises(CarrierUnavailable):
            buyer.find_by_reference("01JQ5ZK3M9X7ABC", CREDENTIALS[carrier])
    with pytest.raises(CarrierUnavailable):
        client("beta", server.url).fetch_label("6A12345678901", CREDENTIALS["beta"])
    with pytest.raises(CarrierUnavailable):
        client("alpha", server.url).cancel("XS000000001FR", ALPHA)
    assert server.connections == 0

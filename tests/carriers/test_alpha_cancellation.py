"""Cancelling alpha's parcels: done, refused, or unknown."""

import pytest

from carriers.alpha.refusals import CANCELLATION_REFUSALS
from carriers.errors import CancellationRefused, CarrierError, CarrierUnavailable, CredentialsRejected, OutcomeUnknown
from tests.carriers.conftest import Serve
from tests.carriers.support.servers import Play, always, answer_file, asked, http, once
from tests.carriers.support.shipments import ALPHA_CONTRACT, CREDENTIALS, client

ALPHA = CREDENTIALS["alpha"]
NUMBER = "XS000000001FR"
DONE = answer_file("alpha_cancelled.xml")


def failure(serve: Serve, play: Play) -> CarrierError:
    server = serve(play)
    with pytest.raises(CarrierError) as caught:
        client("alpha", server.url, tracking_url=server.url).cancel(NUMBER, ALPHA)
    assert len(server.requests) == 1
    return caught.value


def test_a_parcel_is_cancelled_at_the_tracking_service(serve: Serve) -> None:
    shipping, tracking = serve(always(b"")), serve(always(http(DONE)))
    client("alpha", shipping.url, tracking_url=tracking.url).cancel(NUMBER, ALPHA)
    children = [*ALPHA_CONTRACT, ("language", "fr_FR"), ("skybillNumber", NUMBER)]
    assert asked(tracking) == ("{http://cxf.tracking.soap.chronopost.fr/}cancelSkybill", children)
    assert shipping.connections == 0


@pytest.mark.parametrize(
    ("code", "error", "is_failing"),
    [
        ("1", CarrierUnavailable, True),
        ("2", CancellationRefused, False),
        ("3", CancellationRefused, False),
        ("29", CarrierUnavailable, False),
        ("30", CredentialsRejected, False),
        ("4", OutcomeUnknown, False),
        ("33", OutcomeUnknown, False),
        ("-1", OutcomeUnknown, False),
    ],
)
def test_every_code_of_a_cancellation_has_its_class(
    serve: Serve, code: str, error: type[CarrierError], is_failing: bool
) -> None:
    caught = failure(serve, always(http(DONE.replace(b"<errorCode>0", f"<errorCode>{code}".encode()))))
    assert type(caught) is error
    assert (caught.carrier_code, caught.is_carrier_failing) == (code, is_failing)
    if isinstance(caught, CancellationRefused):
        assert caught.may_be_too_early == (code == "2")
        assert caught.code == "ALPHA_CANCELLATION_REFUSED"


def test_the_table_holds_the_codes_of_the_page() -> None:
    assert set(CANCELLATION_REFUSALS) == {"1", "2", "3", "29", "30"}


@pytest.mark.parametrize(
    "answer",
    [
        http(DONE, 500),
        http(b"<html>", 502),
        http(answer_file("alpha_fault.xml"), 500),
        http(answer_file("alpha_found.xml")),
        http(DONE.replace(b"<errorCode>0</errorCode>", b"")),
        http(DONE)[:-30],
    ],
)
def test_without_a_readable_answer_the_parcel_may_be_cancelled(serve: Serve, answer: bytes) -> None:
    assert type(failure(serve, once(answer))) is OutcomeUnknown

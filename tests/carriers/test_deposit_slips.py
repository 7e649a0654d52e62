"""beta's deposit slips: made, refused by number, and never lost to an unreadable answer."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import pytest

from carriers.client import Limits
from carriers.errors import CarrierError, CarrierUnavailable, CredentialsRejected, RequestRejected
from carriers.shipment import Credentials
from tests.carriers.conftest import Serve
from tests.carriers.support.servers import MULTIPART, always, body_of, http, silent
from tests.carriers.support.shipments import CREDENTIALS, client

NUMBERS = ["6A10000000012", "6A10000000029"]
HEADER = {
    "bordereauNumber": 53,
    "publishingDate": 1790000000123,
    "numberOfParcels": 2,
    "codeSitePCH": 690470,
    "nameSitePCH": "LYON MONTROCHET PFC",
    "clientNumber": "804735",
    "address": "3 RUE DE L'EGLISE",
    "company": "BOUGIES",
}
DONE = [{"id": "0", "type": "INFOS", "messageContent": "La requete a ete traitee", "replacementValues": []}]
REFUSED = {
    "id": "50031",
    "type": "ERROR",
    "messageContent": "Le numero de colis est invalide : 6A10000000029",
    "replacementValues": [],
}


def multipart(infos: Mapping[str, Any], paper: bytes = b"") -> bytes:
    """Write an answer as it was recorded: a line break before the first boundary, none at the end."""
    head = b"\r\n--uuid:0f4a\r\nContent-Type: %s\r\nContent-Transfer-Encoding: binary\r\nContent-ID: <%s>\r\n\r\n"
    body = head % (b"application/json;charset=UTF-8", b"jsonInfos") + json.dumps(infos).encode()
    if paper:
        body += head % (b"application/octet-stream", b"deliveryPaper") + paper
    return body + b"\r\n--uuid:0f4a--"


def slip(header: Any = HEADER, paper: bytes = b"%PDF-1.4 slip %%EOF", status: int = 200) -> bytes:
    body = multipart({"messages": DONE, "bordereauHeader": header}, paper)
    return http(body, status, content_type=MULTIPART)


def refusal(**changes: Any) -> bytes:
    body = multipart({"messages": [REFUSED | changes], "bordereauHeader": None})
    return http(body, 400, content_type=MULTIPART)


def failure(serve: Serve, answer: bytes) -> CarrierError:
    server = serve(always(answer))
    with pytest.raises(CarrierError) as caught:
        client("beta", server.url).deposit_slip(NUMBERS, CREDENTIALS["beta"])
    assert len(server.requests) == 1
    return caught.value


def test_a_slip_is_asked_for_by_numbers_and_read_from_its_parts(serve: Serve) -> None:
    server = serve(always(slip()))
    made = client("beta", f"{server.url}/2.0").deposit_slip(NUMBERS, CREDENTIALS["beta"])
    assert (made.number, made.pdf) == ("53", b"%PDF-1.4 slip %%EOF")
    assert made.published_at == datetime(2026, 9, 21, 14, 13, 20, 123000, UTC)
    assert server.requests[0].startswith(b"POST /2.0/generateBordereauByParcelsNumbers ")
    assert json.loads(body_of(server.requests[0])) == {
        "contractNumber": "804735",
        "password": "s3cret-Pass",
        "generateBordereauParcelNumberList": {"parcelsNumbers": NUMBERS},
    }
    assert "s3cret" not in repr(made)


def test_an_api_key_is_a_header_and_the_body_has_no_credentials(serve: Serve) -> None:
    server = serve(always(slip()))
    client("beta", server.url).deposit_slip(NUMBERS, Credentials("804735", api_key="key-1"))
    assert b"\r\napiKey: key-1\r\n" in server.requests[0]
    assert json.loads(body_of(server.requests[0])) == {
        "generateBordereauParcelNumberList": {"parcelsNumbers": NUMBERS},
        "fields": {"field": [{"key": "ACCOUNT_NUMBER", "value": "804735"}]},
    }


def test_a_refusal_names_the_first_number_in_words(serve: Serve) -> None:
    error = failure(serve, refusal())
    assert type(error) is RequestRejected
    assert (error.carrier_code, error.http_status, error.is_carrier_failing) == ("50031", 400, False)
    assert "does not know the parcel 6A10000000029 of this contract" in str(error)
    assert error.parcel_number == "6A10000000029"


@pytest.mark.parametrize("values", [["6A10000000029"], "6A10000000029", [{}, "1", " 6a10000000029 "]])
def test_the_number_may_be_one_of_the_values_that_the_text_takes(serve: Serve, values: Any) -> None:
    error = failure(serve, refusal(messageContent="Le numero de colis {0} est invalide", replacementValues=values))
    assert error.parcel_number == "6A10000000029"  # type: ignore[attr-defined]


@pytest.mark.parametrize("values", [None, 7, [], [None, 3, True], {"0": "6A10000000029"}])
def test_other_values_name_no_number(serve: Serve, values: Any) -> None:
    error = failure(serve, refusal(messageContent="Le numero de colis est invalide", replacementValues=values))
    assert (type(error), error.parcel_number) == (RequestRejected, "")  # type: ignore[attr-defined]


def test_a_refusal_of_a_number_that_was_not_sent_names_none(serve: Serve) -> None:
    error = failure(serve, refusal(messageContent="invalid: 6A99999999999 <b>"))
    assert "does not know one of the parcels" in str(error)
    assert "6A99999999999" not in str(error)


@pytest.mark.parametrize(
    ("code", "kind"), [("30000", CredentialsRejected), ("30008", CredentialsRejected), ("77777", CarrierUnavailable)]
)
def test_other_codes_are_those_of_labels(serve: Serve, code: str, kind: type[CarrierError]) -> None:
    assert type(failure(serve, refusal(id=code))) is kind


@pytest.mark.parametrize(
    "answer",
    [
        slip(header=None),
        slip(header={}),
        slip(header=HEADER | {"bordereauNumber": "1 or 2"}),
        slip(paper=b""),
        slip(paper=b"<html>"),
        slip(status=202),
        http(b"<html>", 502),
    ],
)
def test_an_unreadable_answer_made_nothing_that_costs(serve: Serve, answer: bytes) -> None:
    assert type(failure(serve, answer)) is CarrierUnavailable


@pytest.mark.parametrize(
    ("paper", "problem"), [(b"", "the answer has no deposit slip"), (b"<html>", "the deposit slip is not a PDF")]
)
def test_a_slip_that_does_not_come_is_called_a_slip(serve: Serve, paper: bytes, problem: str) -> None:
    assert str(failure(serve, slip(paper=paper))).endswith(problem)


@pytest.mark.parametrize("at", [None, "yesterday", -1, 10**15, True])
def test_a_slip_without_a_readable_date_is_a_slip(serve: Serve, at: Any) -> None:
    server = serve(always(slip(header=HEADER | {"publishingDate": at})))
    made = client("beta", server.url).deposit_slip(NUMBERS, CREDENTIALS["beta"])
    assert (made.number, made.published_at) == ("53", None)


def test_a_silent_carrier_is_left_at_the_deadline(serve: Serve) -> None:
    server = serve(silent)
    with pytest.raises(CarrierUnavailable):
        client("beta", server.url, Limits(timeout_s=0.3)).deposit_slip(NUMBERS, CREDENTIALS["beta"])


def test_alpha_makes_none(serve: Serve) -> None:
    server = serve(always(b""))
    assert client("alpha", server.url).max_slip_parcels == 0
    with pytest.raises(CarrierUnavailable):
        client("alpha", server.url).deposit_slip(NUMBERS, CREDENTIALS["alpha"])
    assert server.requests == []

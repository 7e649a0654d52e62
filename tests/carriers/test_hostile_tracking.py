"""Hostile answers of the tracking services: nothing leaves but an answer or one of two exceptions."""

import json
from collections.abc import Callable
from contextlib import suppress
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from carriers import TRACKERS
from carriers.client import Limits
from carriers.errors import CarrierUnavailable, CredentialsRejected
from carriers.http.connections import Deadline
from carriers.http.transport import Answer, Request, Transport, UnreadableError
from carriers.tracking import Tracker, TrackingAnswer
from tests.carriers.conftest import Serve
from tests.carriers.support.broken_answers import SLOW
from tests.carriers.support.servers import Play, always, answer_file, http, silent
from tests.carriers.support.shipments import BOTH, CREDENTIALS, LENIENT
from tests.carriers.support.tracking import NUMBERS, tracker
from tests.support.cases import in_one_test

XML, JSON = answer_file("alpha_history.xml"), answer_file("beta_timeline.json")
QUIETLY = settings(suppress_health_check=[HealthCheck.too_slow])


class Echo(Transport):
    """A transport that has the carrier's answer already."""

    answer = (200, "", b"")

    def post(self, carrier: str, request: Request, deadline: Deadline) -> Answer:
        return Answer(*self.answer, request)


ECHO = Echo()
TOLD: dict[str, Tracker] = {carrier: TRACKERS[carrier]("http://127.0.0.1:9", LENIENT, ECHO) for carrier in TRACKERS}


def is_foreseen(error: CarrierUnavailable) -> bool:
    """Return false for the error that stands for a bug in reading an answer."""
    return error.__cause__ is None or isinstance(error.__cause__, UnreadableError)


def ask(carrier: str, body: bytes, status: int = 200) -> TrackingAnswer | None:
    """Return the answer of a tracker, None for one of its two exceptions."""
    ECHO.answer = (status, "text/plain", body)
    outages: list[CarrierUnavailable] = []
    try:
        answer = TOLD[carrier].track(NUMBERS[carrier], CREDENTIALS[carrier])
    except CarrierUnavailable as error:
        outages.append(error)
    except CredentialsRejected:
        return None
    assert all(map(is_foreseen, outages))
    if outages:
        return None
    check(answer)
    return answer


def check(answer: TrackingAnswer) -> None:
    """Check all that a database and a reader rely on."""
    times = [event.happened_at for event in answer.events]
    assert times == sorted(times)
    assert len(times) <= 500
    for event in answer.events:
        assert event.happened_at.utcoffset() is not None
        assert 0 < len(event.code) <= 16
        assert len(event.text) <= 200
        assert len(event.place) <= 100
        (event.code + event.text + event.place).encode()  # no half of a surrogate pair
        assert "\x00" not in event.code + event.text + event.place
        assert event.tracking_number == answer.tracking_number
    if answer.expected_from or answer.expected_until:
        assert answer.expected_from
        assert answer.expected_until
        assert answer.expected_from <= answer.expected_until


scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=40)
anything = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner)
)
JSON_PLACES: list[Callable[[Any], dict[str, Any]]] = [
    lambda document: document,
    lambda document: document["status"][0],
    lambda document: document["parcel"],
    lambda document: document["parcel"]["event"][0],
    lambda document: document["parcel"]["step"][0],
    lambda document: document["parcel"]["consigneeInformation"],
]


@QUIETLY
@given(st.sampled_from(JSON_PLACES), st.data(), anything, st.sampled_from([200, 204, 400, 401, 403, 404, 429, 500]))
def test_any_value_anywhere_in_betas_answer(
    place: Callable[[Any], dict[str, Any]], data: st.DataObject, value: Any, status: int
) -> None:
    document = json.loads(JSON)
    target = place(document)
    target[data.draw(st.sampled_from(sorted(target)))] = value

    ask("beta", json.dumps(document).encode("utf-8", "surrogatepass"), status)


@QUIETLY
@given(st.data(), st.text(max_size=60), st.sampled_from([200, 401, 429, 500]))
def test_any_text_anywhere_in_alphas_answer(data: st.DataObject, text: str, status: int) -> None:
    root = ET.fromstring(XML)
    element = data.draw(st.sampled_from(list(root.iter())))
    element.text = text

    with suppress(UnicodeEncodeError):
        ask("alpha", ET.tostring(root, encoding="utf-8"), status)


@QUIETLY
@given(st.data())
def test_any_tag_anywhere_in_alphas_answer(data: st.DataObject) -> None:
    root = ET.fromstring(XML)
    elements = list(root.iter())
    changed, other = (data.draw(st.sampled_from(elements[1:])) for _ in range(2))
    match data.draw(st.sampled_from(["rename", "empty", "double", "nest"])):
        case "rename":
            changed.tag = other.tag
        case "empty":
            changed.clear()
        case "double":
            changed.append(ET.fromstring(ET.tostring(other)))
        case _:
            changed[:] = [ET.fromstring(ET.tostring(root))]

    ask("alpha", ET.tostring(root))


@QUIETLY
@given(st.sampled_from(["alpha", "beta"]), st.data())
def test_any_byte_anywhere(carrier: str, data: st.DataObject) -> None:
    body = bytearray(XML if carrier == "alpha" else JSON)
    for at in data.draw(st.lists(st.integers(0, len(body) - 1), min_size=1, max_size=20)):
        body[at] = data.draw(st.integers(0, 255))

    ask(carrier, bytes(body))
    ask(carrier, bytes(body[: data.draw(st.integers(0, len(body)))]))


@QUIETLY
@given(st.sampled_from(["alpha", "beta"]), st.text(max_size=60))
def test_any_text_for_a_number(carrier: str, number: str) -> None:
    ECHO.answer = (200, "", b"{}")
    with suppress(CarrierUnavailable, CredentialsRejected):
        assert not TOLD[carrier].track(number, CREDENTIALS[carrier]).is_known


def envelope(inner: bytes) -> bytes:
    return (
        b'<s:Envelope xmlns:s="http://schemas.xmlsoap.org/soap/envelope/"><s:Body>' + inner + b"</s:Body></s:Envelope>"
    )


UNREADABLE = {
    "alpha": [
        b"",
        b"<html><head><title>Just a moment...</title></head><body>cf-chl-</body></html>",
        XML[: len(XML) // 2],
        b"<!DOCTYPE a>" + XML.partition(b"?>")[2],
        b'<!DOCTYPE a [<!ENTITY x "y">]><a>&x;</a>',
        b"<a>" * 30_000,
        envelope(b"<a/>"),
        envelope(b""),
        XML.replace(b"trackSkybillV2Response", b"trackSkybillResponse"),
        XML.replace(b"<errorCode>0</errorCode>", b""),
        XML.replace(b"<errorCode>0<", b"<errorCode>no<"),
        XML.replace(b"XU000000415FR", b"XU000000407FR"),
        XML.replace(b"</events>", b"</events><a>" + b"<b/>" * 50_000 + b"</a>"),
        XML.replace(b"SYNTH", b"\xe9\xff"),
    ],
    "beta": [
        b"",
        b"[]",
        b"null",
        b'"0"',
        b"<html><head><title>Just a moment...</title></head></html>",
        JSON[: len(JSON) // 2],
        b"[" * 200_000,
        b'{"status": ' * 50_000,
        b'{"status": [{"code": ' + b"1" * 9000 + b"}]}",
        b"{}",
        b'{"status": []}',
        b'{"status": [[]], "parcel": {}}',
        b'{"status": [{"code": null}], "parcel": {}}',
        b'{"status": [{"code": true}], "parcel": {}}',
        b'{"status": [{"code": "0"}], "parcel": []}',
        JSON.replace(b'"6A12345678901"', b"null"),
        JSON.replace(b'"code": "0"', b'"code": "0", "code": "1000"'),
        JSON + b" " * 300_000,
    ],
}


@in_one_test("carrier, body", [(carrier, body) for carrier, bodies in UNREADABLE.items() for body in bodies])
def test_an_unreadable_answer_is_an_outage(carrier: str, body: bytes) -> None:
    ECHO.answer = (200, "text/html", body)
    with pytest.raises(CarrierUnavailable) as caught:
        TOLD[carrier].track(NUMBERS[carrier], CREDENTIALS[carrier])
    assert caught.value.is_carrier_failing
    assert is_foreseen(caught.value)


def test_the_last_of_a_repeated_key_counts() -> None:
    doubled = JSON.replace(b'"code": "PCHTRI"', b'"code": 7, "code": "LIVCFM"')

    answer = ask("beta", doubled)

    assert answer
    assert answer.events[-1].code == "LIVCFM"


@BOTH
@pytest.mark.parametrize("play", [*SLOW.values(), silent], ids=[*SLOW, "silence"])
def test_the_deadline_is_over_the_whole_call(serve: Serve, carrier: str, play: Play) -> None:
    client = tracker(carrier, serve(play).url, Limits(timeout_s=0.3))
    with pytest.raises(CarrierUnavailable, match="in time") as caught:
        client.track(NUMBERS[carrier], CREDENTIALS[carrier])
    assert caught.value.is_carrier_failing


@BOTH
def test_an_answer_above_a_megabyte_is_not_read_to_its_end(serve: Serve, carrier: str) -> None:
    body = b" " * 1_200_000 + (XML if carrier == "alpha" else JSON)
    with pytest.raises(CarrierUnavailable):
        tracker(carrier, serve(always(http(body))).url).track(NUMBERS[carrier], CREDENTIALS[carrier])

"""Observers learn of each call and each state of the circuit breaker, and cannot break a purchase."""

import logging

import pytest

from carriers import CARRIERS
from carriers.base import Carrier, Endpoint
from carriers.circuit_breaker import CircuitState
from carriers.client import Call, Limits, Observer, calls_for
from carriers.errors import CarrierError
from tests.carriers.conftest import Serve
from tests.carriers.support.servers import LABEL, always, http
from tests.carriers.support.shipments import BOTH, CREDENTIALS, PRODUCT, shipment


class Recorder(Observer):
    def __init__(self) -> None:
        self.calls: list[tuple[str, str]] = []
        self.states: list[tuple[str, str, str]] = []

    def call_ended(self, call: Call) -> None:
        assert 0 <= call.duration_s < 10
        self.calls.append((call.carrier, call.outcome))

    def circuit_changed(self, carrier: str, service: str, state: CircuitState) -> None:
        self.states.append((carrier, service, state))


class Broken(Recorder):
    def call_ended(self, call: Call) -> None:
        raise OSError("no space left")

    def circuit_changed(self, carrier: str, service: str, state: CircuitState) -> None:
        raise OSError("no space left")


def observed(carrier: str, url: str, observer: Observer, **limits: float) -> Carrier:
    return CARRIERS[carrier](Endpoint(url), Limits(**limits), observer=observer)  # type: ignore[arg-type]  # whole numbers


def buy(client: Carrier) -> None:
    client.create_label(shipment(PRODUCT[client.name]), CREDENTIALS[client.name])


@BOTH
def test_each_call_is_reported_with_its_outcome(serve: Serve, carrier: str) -> None:
    recorder = Recorder()
    buy(observed(carrier, serve(always(LABEL[carrier])).url, recorder))
    assert (recorder.calls, recorder.states) == ([(carrier, "ok")], [])


@BOTH
def test_each_state_of_the_circuit_breaker_is_reported_and_logged(
    serve: Serve, carrier: str, caplog: pytest.LogCaptureFixture
) -> None:
    recorder = Recorder()
    server = serve(always(http(b"<html>down", 503), LABEL[carrier]))
    client = observed(carrier, server.url, recorder, failure_threshold=1, reset_timeout_s=0.0)
    assert client.circuit_breaker.state == "closed"
    with pytest.raises(CarrierError):
        buy(client)
    assert client.circuit_breaker.state == "half-open"
    buy(client)
    assert client.circuit_breaker.state == "closed"
    assert recorder.calls == [(carrier, "outcome_unknown"), (carrier, "ok")]
    states = ["open", "half-open", "closed"]
    assert recorder.states == [(carrier, "shipping", state) for state in states]
    lines = [vars(record) for record in caplog.records if record.name == "carriers.circuit_breaker"]
    assert [(line["message"], line["carrier"], line["service"], line["state"]) for line in lines] == [
        ("circuit breaker", carrier, "shipping", state) for state in states
    ]


@BOTH
def test_an_observer_that_fails_loses_no_label(serve: Serve, carrier: str, caplog: pytest.LogCaptureFixture) -> None:
    buy(observed(carrier, serve(always(LABEL[carrier])).url, Broken()))
    assert [record.message for record in caplog.records if record.levelno == logging.ERROR] == [
        "carrier call not observed"
    ]


def test_a_calls_log_line_names_its_label(serve: Serve, caplog: pytest.LogCaptureFixture) -> None:
    client = observed("alpha", serve(always(LABEL["alpha"])).url, Recorder())
    with caplog.at_level(logging.INFO):
        with calls_for("0RCR53LVC41HNO2"):
            buy(client)
        buy(client)
    labels = [vars(record)["label"] for record in caplog.records if record.name == "carriers"]
    assert labels == ["0RCR53LVC41HNO2", None]


def test_a_calls_log_line_has_what_the_runbook_shows(serve: Serve, caplog: pytest.LogCaptureFixture) -> None:
    client = observed("alpha", serve(always(LABEL["alpha"])).url, Recorder())
    with caplog.at_level(logging.INFO):
        buy(client)
    (line,) = (vars(record) for record in caplog.records if record.name == "carriers")
    shown = {"carrier": "alpha", "operation": "shippingMultiParcelV4", "outcome": "ok", "http_status": 200}
    assert (line["message"], line["levelname"], line["carrier_code"]) == ("carrier call", "INFO", "")
    assert {name: line.get(name) for name in shown} == shown
    assert 0 <= line["duration_ms"] < 10_000

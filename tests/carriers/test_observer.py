"""Whoever watches a carrier's client is told of each call and each rest, and can do it no harm."""

import logging

import pytest

from carriers import CARRIERS
from carriers.base import Carrier, Endpoint
from carriers.circuit_breaker import Limits
from carriers.errors import CarrierError
from carriers.observer import Call, Observer, calls_for
from tests.carriers.conftest import Serve
from tests.carriers.servers import LABEL, always, http
from tests.carriers.shipments import BOTH, CREDENTIALS, PRODUCT, shipment


class Watcher:
    """Keeps what it is told."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, str]] = []
        self.rests: list[tuple[str, bool]] = []

    def call_ended(self, call: Call) -> None:
        assert 0 <= call.duration_s < 10
        self.calls.append((call.carrier, call.outcome))

    def rest_changed(self, carrier: str, *, is_resting: bool) -> None:
        self.rests.append((carrier, is_resting))


class Spoiler(Watcher):
    """Fails at everything."""

    def call_ended(self, call: Call) -> None:
        raise OSError("no space left")

    def rest_changed(self, carrier: str, *, is_resting: bool) -> None:
        raise OSError("no space left")


def watched(carrier: str, url: str, observer: Observer, **limits: float) -> Carrier:
    return CARRIERS[carrier](Endpoint(url), Limits(**limits), observer=observer)  # type: ignore[arg-type]  # whole ones


def buy(client: Carrier) -> None:
    client.create_label(shipment(PRODUCT[client.name]), CREDENTIALS[client.name])


@BOTH
def test_each_call_is_told_with_its_outcome(serve: Serve, carrier: str) -> None:
    watcher = Watcher()
    buy(watched(carrier, serve(always(LABEL[carrier])).url, watcher))
    assert (watcher.calls, watcher.rests) == ([(carrier, "ok")], [])


@BOTH
def test_a_rest_is_told_and_its_end_and_the_calls_refused_meanwhile(serve: Serve, carrier: str) -> None:
    watcher = Watcher()
    server = serve(always(http(b"<html>down", 503), LABEL[carrier]))
    client = watched(carrier, server.url, watcher, failures_before_rest=1, rest_s=0.0)
    assert not client.is_resting
    with pytest.raises(CarrierError):
        buy(client)
    assert client.is_resting
    buy(client)
    assert not client.is_resting
    assert watcher.calls == [(carrier, "outcome_unknown"), (carrier, "ok")]
    assert watcher.rests == [(carrier, True), (carrier, False)]


@BOTH
def test_an_observer_that_fails_costs_no_label(serve: Serve, carrier: str, caplog: pytest.LogCaptureFixture) -> None:
    buy(watched(carrier, serve(always(LABEL[carrier])).url, Spoiler()))
    assert [record.message for record in caplog.records if record.levelno == logging.ERROR] == [
        "carrier call not observed"
    ]


def test_a_calls_line_names_the_label_it_is_for(serve: Serve, caplog: pytest.LogCaptureFixture) -> None:
    client = watched("alpha", serve(always(LABEL["alpha"])).url, Watcher())
    with caplog.at_level(logging.INFO):
        with calls_for("0RCR53LVC41HNO2"):
            buy(client)
        buy(client)
    labels = [vars(record)["label"] for record in caplog.records if record.name == "carriers"]
    assert labels == ["0RCR53LVC41HNO2", None]

"""The Prometheus metrics of purchases, carriers and the rate limit; a call's log line names its request."""

import json
import logging
from collections import Counter
from datetime import timedelta
from itertools import product
from unittest.mock import Mock

import pytest
from django.db import OperationalError, connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from prometheus_client import REGISTRY
from pytest_django.fixtures import Settings

from carriers import CARRIERS
from carriers.circuit_breaker import CircuitState
from config.ops.logs import JsonFormatter
from config.ops.metrics import FromDatabase, begin_series, open_labels
from labels.models import LabelState
from shops.models import Shop
from tests.labels.conftest import Sandbox, assert_coded, nothing_finished, row
from tests.labels.factories import LabelFactory
from tests.labels.orders import PRODUCT, order, post
from tests.support.api import Caller, Nobody
from tests.support.paths import SEARCH


def value(name: str, **labels: str) -> float:
    return REGISTRY.get_sample_value(name, labels) or 0.0


def purchases() -> Counter[tuple[str, str]]:
    (found,) = (metric for metric in REGISTRY.collect() if metric.name == "label_purchases")
    return Counter(
        {
            (sample.labels["carrier"], sample.labels["state"]): int(sample.value)
            for sample in found.samples
            if sample.name.endswith("_total")
        }
    )


@pytest.mark.parametrize(
    ("carrier", "fault", "state", "outcome"),
    [
        ("alpha", None, LabelState.GENERATED, "ok"),
        ("beta", None, LabelState.GENERATED, "ok"),
        ("alpha", "html503", LabelState.UNKNOWN, "outcome_unknown"),
        ("beta", "error200", LabelState.FAILED, "address_rejected"),
    ],
)
def test_a_purchase_and_its_call_are_counted_by_how_they_ended(
    carrier: str, fault: str | None, state: str, outcome: str, buyer: Caller, sandbox: Sandbox
) -> None:
    operation = {"alpha": "shippingMultiParcelV4", "beta": "generateLabel"}[carrier]
    series = {"carrier": carrier, "operation": operation, "outcome": outcome}
    calls, before = value("carrier_call_duration_seconds_count", **series), purchases()
    if fault:
        sandbox.arm(fault, count=1)
    post(buyer, order(PRODUCT[carrier]), key="k")
    assert row().state == state
    assert value("carrier_call_duration_seconds_count", **series) == calls + 1
    assert purchases() - before == {(carrier, state): 1}


def test_the_state_of_a_circuit_breaker_is_shown(buyer: Caller, sandbox: Sandbox) -> None:
    post(buyer, order())  # the process's first call makes the client
    sandbox.arm("html503", count=5)
    for _ in range(5):
        post(buyer, order())
    states = {
        state: value("carrier_circuit_breaker", carrier="alpha", service="shipping", state=state)
        for state in CircuitState
    }
    assert states == {"closed": 0, "open": 1, "half-open": 0}


def test_refused_credentials_of_orders_are_counted_from_zero() -> None:
    begin_series()  # an alert sees no increase in a series that appears with its first event
    for carrier in CARRIERS.values():
        for operation in (carrier.purchase_operation, *carrier.points_operations):
            labels = {"carrier": carrier.name, "operation": operation, "outcome": "credentials_rejected"}
            assert REGISTRY.get_sample_value("carrier_call_duration_seconds_count", labels) is not None, labels


@pytest.mark.parametrize(
    ("method", "routes", "statuses"),
    [
        ("GET", ("parcel", "parcel-search", "label", "labels"), (500, 503)),
        ("POST", ("labels",), (500, 503)),
        ("GET", ("parcel", "parcel-search"), (200, 404)),  # slow ones
    ],
)
def test_what_the_objectives_of_requests_count_is_there_from_zero(
    method: str, routes: tuple[str, ...], statuses: tuple[int, ...]
) -> None:
    begin_series()
    for route, status in product(routes, statuses):
        labels = {"route": route, "method": method, "status": str(status)}
        assert REGISTRY.get_sample_value("http_request_duration_seconds_count", labels) is not None, labels


def test_a_label_that_is_stored_and_not_recorded_so_is_counted_as_its_row_says(buyer: Caller) -> None:
    before = purchases()
    with nothing_finished():
        assert_coded(post(buyer, order()), 500, "LABEL_STORAGE_UNAVAILABLE")
    assert row().state == LabelState.RECEIVED
    assert purchases() - before == {("alpha", LabelState.RECEIVED): 1}


def test_a_purchase_that_could_not_be_recorded_is_counted_as_unknown(
    buyer: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("labels.lifecycle.outcomes.move", Mock(side_effect=OperationalError("gone")))
    monkeypatch.setattr("labels.lifecycle.db_retry.DB_RETRY_TIMEOUT_S", 0)
    before, unrecorded = purchases(), value("labels_unrecorded_total", carrier="alpha")
    assert post(buyer, order(), key="k").json()["code"] == "ALPHA_OUTCOME_UNKNOWN"
    assert purchases() - before == {("alpha", LabelState.UNKNOWN): 1}  # the storage, of `received`, is well
    assert value("labels_unrecorded_total", carrier="alpha") == unrecorded + 1


def test_a_replay_is_no_purchase(buyer: Caller) -> None:
    post(buyer, order(), key="k")
    before = purchases()
    assert post(buyer, order(), key="k").status_code == 201
    assert purchases() - before == {}


def test_a_calls_line_has_the_label_and_the_request(buyer: Caller, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    response = post(buyer, order())
    (record,) = (record for record in caplog.records if record.name == "carriers")
    line = json.loads(JsonFormatter().format(record))
    assert (line["label"], line["request_id"]) == (response.json()["id"], response["X-Request-Id"])
    assert (line["carrier"], line["outcome"], line["http_status"]) == ("alpha", "ok", 200)
    assert line["duration_ms"] >= 0


def test_requests_are_counted_by_route_and_by_no_word_of_the_clients(own: Caller) -> None:
    series = {"route": "parcel-search", "method": "other", "status": "405"}
    before = value("http_request_duration_seconds_count", **series)
    assert own.request("BREW", SEARCH).status_code == 405
    assert value("http_request_duration_seconds_count", **series) == before + 1
    assert "BREW" not in str(list(REGISTRY.collect()))


def test_refusals_of_the_limit_are_counted(own: Caller, nobody: Nobody, settings: Settings) -> None:
    settings.RATE_LIMIT = (2, 86_400)
    before = [value("rate_limit_refusals_total", group=group) for group in ("shop", "address")]
    for _ in range(5):
        own.get(SEARCH)
        nobody.get(SEARCH)
    after = [value("rate_limit_refusals_total", group=group) for group in ("shop", "address")]
    assert [count - earlier for count, earlier in zip(after, before, strict=True)] == [3, 3]


def labels(shop: Shop, *states: tuple[str, float]) -> None:
    """Labels in a state, whose leases ended the given seconds ago."""
    for state, ago_s in states:
        leased_until = timezone.now() - timedelta(seconds=ago_s)
        LabelFactory(shop=shop, carrier_code="alpha", state=state, leased_until=leased_until)


def samples() -> dict[str, float]:
    return {
        f"{sample.name} {' '.join(sample.labels.values())}".strip(): sample.value
        for metric in open_labels()
        for sample in metric.samples
    }


def test_what_waits_is_counted_in_the_database(own: Caller) -> None:
    labels(
        own.shop, ("purchasing", 100), ("purchasing", -100), ("received", 2000), ("unknown", -300), ("unknown", 10),
        ("incomplete", 10), ("failed", 10), ("label_generated", 10), ("cancelled", 10),
    )  # fmt: skip
    found = samples()
    assert 2000 <= found.pop("labels_interrupted_oldest_seconds") < 2060
    assert abs(found.pop("host_clock_offset_seconds")) < 5
    assert found == {
        "labels_to_decide received": 0,
        "labels_to_decide purchasing": 1,
        "labels_to_decide unknown": 2,
        "labels_to_decide incomplete": 1,
        "labels_to_decide cancelling": 0,
        "labels_to_decide cancel_unknown": 0,
        "labels_interrupted received": 1,
        "labels_interrupted purchasing": 1,
        "labels_interrupted unknown": 1,
        "labels_interrupted incomplete": 1,
        "labels_interrupted cancelling": 0,
        "labels_interrupted cancel_unknown": 0,
    }


def test_counting_reads_two_small_indexes_to_a_bound(own: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("config.ops.metrics.MAX_COUNTED", 2)
    labels(own.shop, *[("unknown", 10.0)] * 5)
    with CaptureQueriesContext(connection) as captured:
        found = samples()
    assert len([query for query in captured if "labels_shippinglabel" in query["sql"]]) == 2
    assert (found["labels_to_decide unknown"], found["labels_interrupted unknown"]) == (2, 2)


def test_without_a_database_the_others_figures_are_served() -> None:
    assert list(FromDatabase(Mock(side_effect=RuntimeError)).collect()) == []

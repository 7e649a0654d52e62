"""Orders are traces: a span for each step, with identifiers, codes and times, and without tracing nothing."""

import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
from opentelemetry.proto.trace.v1.trace_pb2 import Span, Status

from config import __version__
from config.ops.tracing import OrderTracer
from labels.models import ShippingLabel
from labels.pdfs import storage
from shops import spans
from tests.labels.conftest import nothing_finished
from tests.labels.orders import LINKED, PRODUCT, order, post, weighing
from tests.support.api import Caller
from tests.support.processes import ROOT, environment
from tests.support.telemetry import Receiver

pytestmark = pytest.mark.any_database
ALLOWED = {"label", "carrier", "product", "state", "error_code", "request_id", "error.type"}
ALLOWED_OF_A_CALL = {"carrier", "operation", "outcome", "http_status"}
Trace = Callable[[], list[Span]]


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with Receiver() as made:
        yield made


@pytest.fixture
def trace(receiver: Receiver, monkeypatch: pytest.MonkeyPatch) -> Iterator[Trace]:
    """Trace the test's orders; the function ends the sending, and returns all spans."""
    tracer = OrderTracer(receiver.settings["OTEL_EXPORTER_OTLP_ENDPOINT"])
    monkeypatch.setattr(spans, "tracer", tracer)

    def sent() -> list[Span]:
        tracer._provider.shutdown()
        return receiver.spans()

    yield sent
    tracer._provider.shutdown()


def tree(found: list[Span]) -> list[tuple[str, str]]:
    """Each span below the one that it was made in, in the order in which they began."""
    names = {span.span_id: span.name for span in found}
    found = sorted(found, key=lambda span: span.start_time_unix_nano)
    return [(names.get(span.parent_span_id, ""), span.name) for span in found]


def facts(span: Span) -> dict[str, str | int]:
    return {each.key: each.value.string_value or each.value.int_value for each in span.attributes}


def named(name: str, found: list[Span]) -> Span:
    (span,) = [each for each in found if each.name == name]
    return span


def test_an_order_is_a_trace_of_its_steps(buyer: Caller, trace: Trace) -> None:
    response = post(buyer, order("relais"))
    found = trace()
    assert tree(found) == [
        ("", "order"),
        ("order", "reserve"),
        ("order", "carrier"),
        ("carrier", "point"),
        ("carrier", "call"),
        ("order", "finish"),
        ("finish", "store"),
    ]
    assert len({span.trace_id for span in found}) == 1
    assert facts(named("order", found)) == {
        "label": response.json()["id"],
        "carrier": "alpha",
        "product": "relais",
        "state": "label_generated",
        "request_id": response["X-Request-Id"],
    }
    called = facts(named("call", found))
    assert called == {"carrier": "alpha", "operation": "shippingMultiParcelV4", "outcome": "ok", "http_status": 200}


def test_each_call_to_the_carrier_is_a_span(buyer: Caller, trace: Trace) -> None:
    assert post(buyer, order(LINKED, parcels=weighing(1, 2, 3))).status_code == 201
    assert Counter(tree(trace()))["carrier", "call"] == 3


@pytest.mark.parametrize("carrier_code", PRODUCT)
def test_of_a_failure_a_span_has_the_code_and_the_exceptions_type(
    carrier_code: str, buyer: Caller, trace: Trace
) -> None:
    post(buyer, order(PRODUCT[carrier_code], reference="FAULT html503"))
    found = trace()
    assert tree(found) == [("", "order"), ("order", "reserve"), ("order", "carrier"), ("carrier", "call")]
    failed = named("order", found)
    assert failed.status.code == Status.StatusCode.STATUS_CODE_ERROR
    assert failed.status.message == ""
    assert facts(failed)["error.type"] == "PurchaseFailedError"
    assert facts(failed)["error_code"] == f"{carrier_code.upper()}_OUTCOME_UNKNOWN"
    assert facts(named("call", found))["outcome"] == "outcome_unknown"
    assert not any(span.events for span in found)


def test_spans_have_the_listed_facts_only(buyer: Caller, trace: Trace) -> None:
    for product_code in PRODUCT.values():
        post(buyer, order(product_code))
        post(buyer, order(product_code, reference="FAULT 38"))
    with nothing_finished():
        post(buyer, order())
    found = trace()
    assert {name for span in found for name in facts(span)} == ALLOWED | ALLOWED_OF_A_CALL
    assert {name for span in found if span.name == "call" for name in facts(span)} == ALLOWED_OF_A_CALL
    assert not any(span.events or span.links for span in found)


def test_an_exceptions_text_stays(trace: Trace, receiver: Receiver) -> None:
    with pytest.raises(storage.StorageError), stepping("store", ShippingLabel(id="AN-ID", product_code="a-product")):
        raise storage.StorageError("hunter2")
    (found,) = trace()
    assert facts(found)["error.type"] == "StorageError"
    assert b"hunter2" not in receiver.everything()
    assert b"a-product" in receiver.everything()


@contextmanager
def stepping(name: str, label: ShippingLabel) -> Iterator[None]:
    assert spans.tracer is not None
    with spans.tracer.step(name, label):
        yield


def test_an_order_does_not_wait_for_a_collector_that_is_away(buyer: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    tracer = OrderTracer("http://127.0.0.1:9")
    monkeypatch.setattr(spans, "tracer", tracer)
    assert post(buyer, order()).status_code == 201
    tracer._exporter.shutdown()  # type: ignore[no-untyped-call]  # typed in part; or it would try again
    tracer._provider.shutdown()


def test_without_tracing_a_step_is_the_call_of_its_function_alone() -> None:
    called: list[str] = []

    @spans.step("store")
    def store(label: str) -> str:
        return label

    sys.setprofile(lambda frame, event, _: called.append(frame.f_code.co_name) if event == "call" else None)
    try:
        store("a label")
    finally:
        sys.setprofile(None)
    assert called == ["stepped", "store"]


@pytest.mark.parametrize(("given", "name"), [(None, "parcel-service"), ("", "parcel-service"), ("staging", "staging")])
def test_the_service_has_a_name_for_the_collector(
    given: str | None, name: str, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    if given is not None:
        monkeypatch.setenv("OTEL_SERVICE_NAME", given)
    made = OrderTracer(receiver.settings["OTEL_EXPORTER_OTLP_ENDPOINT"])._provider.resource.attributes
    assert (made["service.name"], made["service.version"]) == (name, __version__)


def test_without_either_setting_the_service_needs_neither_package() -> None:
    program = (
        "import sys; sys.modules['opentelemetry'] = sys.modules['sentry_sdk'] = None\n"
        "import config.wsgi; from config.ops import serving, worker; from shops import spans; print(spans.tracer)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, env=environment(), capture_output=True, text=True, check=True
    )
    assert done.stdout == "None\n"

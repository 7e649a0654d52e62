"""Traces of orders for OpenTelemetry's collector: identifiers, codes and times; loaded only where tracing is on."""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.util import Finalize
from threading import Lock
from typing import Any

from django.conf import settings
from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

from carriers import CARRIERS
from carriers.client import Call
from shops import spans
from shops.api.request_ids import request_id

# All that a span tells of a label, under the names of the log's fields.
FACTS = {
    "label": "id",
    "carrier": "carrier_code",
    "product": "product_code",
    "state": "state",
    "error_code": "error_code",
}
MAX_WAITING, PAUSE_MS, BATCH = 2048, 5000, 512  # OpenTelemetry's defaults; a setting of theirs can stop no order
SERVICE_NAME = "parcel-service"
FLUSH_TIMEOUT_MS = 2000  # at the end of the process


class OrderTracer:
    """Sends the steps of orders in batches; an order never waits for the collector."""

    def __init__(self, endpoint: str) -> None:
        name = os.environ.get("OTEL_SERVICE_NAME") or SERVICE_NAME  # OpenTelemetry's own, whose default is no name
        resource = Resource.create({"service.name": name, "service.version": settings.VERSION})
        self._exporter = OTLPSpanExporter(f"{endpoint.rstrip('/')}/v1/traces")
        self._provider = TracerProvider(resource=resource, shutdown_on_exit=False)
        self._tracer = self._provider.get_tracer(SERVICE_NAME)
        self._sender: BatchSpanProcessor | None = None
        self._lock = Lock()

    @contextmanager
    def step(self, name: str, label: Any) -> Iterator[None]:
        """Make the block a span. Of an exception it has the type: the SDK would send its text and the traceback's."""
        self._begin()
        with self._tracer.start_as_current_span(name, record_exception=False, set_status_on_exception=False) as span:
            try:
                yield
            except BaseException as error:
                span.set_status(trace.StatusCode.ERROR)
                span.set_attribute("error.type", type(error).__qualname__)
                raise
            finally:
                found = {name: getattr(label, field) for name, field in FACTS.items()}
                found["request_id"] = request_id.get()
                span.set_attributes({name: str(value) for name, value in found.items() if value})

    def call_ended(self, call: Call) -> None:
        """Add a call within an order, once it is over: the carriers' clients know nothing of traces."""
        if not trace.get_current_span().is_recording():
            return
        ended_ns = time.time_ns()
        is_point = call.operation in CARRIERS[call.carrier].points_operations
        facts: dict[str, str | int] = {
            "carrier": call.carrier,
            "operation": call.operation,
            "outcome": call.outcome,
            "http_status": call.http_status or 0,
        }
        begun_ns = ended_ns - int(call.duration_s * 1e9)
        span = self._tracer.start_span("point" if is_point else "call", start_time=begun_ns, attributes=facts)
        span.end(ended_ns)

    def _begin(self) -> None:
        """Start the thread that sends, in the process of the first order: threads do not survive a fork."""
        with self._lock:
            if self._sender is None:
                self._sender = BatchSpanProcessor(self._exporter, MAX_WAITING, PAUSE_MS, BATCH)
                self._provider.add_span_processor(self._sender)
                shutdown = self._sender._batch_processor.shutdown  # noqa: SLF001 - its public one would wait for 30 s
                # Ends before the log's writer (config.ops.log_writer).
                Finalize(None, shutdown, (FLUSH_TIMEOUT_MS,), exitpriority=1)


def install() -> None:
    """Turn tracing on; nothing is sent, and no thread begins, before the first order."""
    spans.tracer = OrderTracer(settings.OTEL_EXPORTER_OTLP_ENDPOINT)

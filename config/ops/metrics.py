"""Prometheus metrics of requests and labels, and the port that serves those of all processes."""

import logging
import os
import socket
import sys
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from functools import cache
from http import HTTPStatus
from http.server import ThreadingHTTPServer
from itertools import product
from pathlib import Path
from threading import Thread
from typing import Any

from django.conf import settings
from prometheus_client import REGISTRY, CollectorRegistry, Counter, Histogram, Info, Metric
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.exposition import MetricsHandler
from prometheus_client.multiprocess import MultiProcessCollector, mark_process_dead
from prometheus_client.registry import Collector

from carriers import CARRIERS, TRACKERS
from carriers.circuit_breaker import CircuitState
from carriers.errors import CredentialsRejected
from config.ops.background_check import Check
from config.ops.log_writer import DROPPED, NO_ROOM, NOT_WRITTEN
from labels.metrics import PURCHASES, TURNED_AWAY, UNRECORDED, VANISHED_ROWS
from labels.models import UNFINISHED, LabelState, ShippingLabel
from parcels.tracking import metrics as tracking_metrics
from parcels.tracking.due import Outcome, oldest_due_s
from shops.api.throttling import FAILURES, REFUSALS, STAND_IN
from shops.contracts.metrics import CALLS, show_circuit_state
from shops.db import clock
from shops.webhooks import metrics as webhook_metrics

FOLDER = "PROMETHEUS_MULTIPROC_DIR"  # the library's own setting: each process writes its metrics there
# A look-up takes a few milliseconds and should stay below 50; a purchase may take more than CARRIER_TIMEOUT (20 s).
REQUEST_BUCKETS_S = (0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 40)
OF_OBJECTIVES = [  # what the alerts of look-ups and orders count as bad
    *product(["parcel", "parcel-search", "label", "labels"], ["GET"], [500, 503]),
    *product(["parcel", "parcel-search"], ["GET"], [200, 404]),  # slow ones
    *product(["labels"], ["POST"], [500, 503]),
]
DATABASE_FRESH_S = 15.0
DATABASE_DEADLINE_S = 2.0
MAX_COUNTED = 10_000
logger = logging.getLogger("service.metrics")

REQUESTS = Histogram(
    "http_request_duration_seconds",
    "Requests answered, by route, method and status.",
    ["route", "method", "status"],
    buckets=REQUEST_BUCKETS_S,
)

FAST_PATH_ANSWERS = Counter("fast_path_answers_total", "Look-ups and searches that the fast path answered.", ["route"])
FAST_PATH_FAILURES = Counter(
    "fast_path_failures_total", "Look-ups and searches that the fast path failed at and Django answered.", ["route"]
)
TASK_FAILURES = Counter("work_task_failures_total", "Runs of the tasks of `work` that failed.", ["task"])


@cache
def request_figures(route: str, method: str, status: int) -> Histogram:
    """Cached: the library's look-up of labels costs more than the counting."""
    return REQUESTS.labels(route, method, status)


class FromDatabase(Collector):
    """Collects from the database what no process counts."""

    def __init__(self, read: Callable[[], list[Metric]]) -> None:
        self.check = Check(read, fresh_s=DATABASE_FRESH_S)

    def describe(self) -> Iterable[Metric]:
        """Name nothing, or the library would collect when the process starts."""
        return []

    def collect(self) -> Iterable[Metric]:
        """Return nothing while the database does not answer: zero would look healthy."""
        try:
            return self.check.start().result(timeout=DATABASE_DEADLINE_S)
        except Exception:  # noqa: BLE001 - the other metrics are served all the same
            return []


def gauge(name: str, meaning: str, label: str, values: Mapping[str, float]) -> Metric:
    made = GaugeMetricFamily(name, meaning, labels=[label])
    for each, value in values.items():
        made.add_metric([each], value)
    return made


def due_checks() -> list[Metric]:
    """Read the first rows of a small index."""
    meaning = "Age of the oldest question to a carrier that is due."
    return [gauge("tracking_oldest_due_seconds", meaning, "carrier", {each: oldest_due_s(each) for each in TRACKERS})]


def open_labels() -> list[Metric]:
    """Count up to `MAX_COUNTED` rows along two small indexes."""
    undecided = list(ShippingLabel.objects.needing_decision().values_list("state", flat=True)[:MAX_COUNTED])
    rows = ShippingLabel.objects.interrupted().order_by("leased_until").values_list("state", "leased_until")
    interrupted = list(rows[:MAX_COUNTED])
    states = [state for state, _ in interrupted]
    oldest_s = (clock.now() - interrupted[0][1]).total_seconds() if interrupted else 0.0
    offset_s = clock.host_offset_s()
    taken_up = "Interrupted purchases that reconcile_labels will take up, by state."
    to_decide = "Labels that staff have to decide, by state."
    return [
        gauge("labels_to_decide", to_decide, "state", {each: undecided.count(each) for each in UNFINISHED}),
        gauge("labels_interrupted", taken_up, "state", {each: states.count(each) for each in UNFINISHED}),
        GaugeMetricFamily("labels_interrupted_oldest_seconds", "Age of the oldest of them.", value=oldest_s),
        GaugeMetricFamily("host_clock_offset_seconds", "This host's clock less the database's.", value=offset_s),
    ]


FROM_DATABASE = (open_labels, due_checks, webhook_metrics.queue_metrics)


class LivingProcesses(MultiProcessCollector):
    """Collects the metrics of all processes; of dead ones it keeps counters and removes live gauges."""

    def collect(self) -> Iterable[Metric]:
        for pid in {file.stem.rpartition("_")[2] for file in Path(self._path).glob("gauge_live*.db")}:
            if not Path("/proc", pid).exists():
                mark_process_dead(pid, self._path)  # type: ignore[no-untyped-call]  # the library is typed in part
        metrics: Iterable[Metric] = super().collect()  # type: ignore[no-untyped-call]  # as above
        return metrics


class Server(ThreadingHTTPServer):
    """Serves the metrics of all processes; each process runs one, all on the same port."""

    allow_reuse_port = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Log that a connection broke, without details."""
        logger.warning("metrics not sent")


def expose(host: str, port: int) -> None:
    """Serve all processes' metrics in a thread; to be called once in each process."""
    Path(os.environ[FOLDER]).mkdir(parents=True, exist_ok=True)
    registry = CollectorRegistry(auto_describe=False)
    LivingProcesses(registry)  # type: ignore[no-untyped-call]  # as above
    begin(registry, host, port)


def expose_own(host: str, port: int) -> None:
    """Serve the metrics of this process alone in a thread."""
    if FOLDER in os.environ:  # the library, which read it when it was imported, would write to the server's folder
        del os.environ[FOLDER]
        os.execv(sys.executable, sys.orig_argv)  # noqa: S606 - this program itself
    begin(REGISTRY, host, port)


def begin(registry: CollectorRegistry, host: str, port: int) -> None:
    begin_series()
    show_version(registry)
    for read in FROM_DATABASE:
        registry.register(FromDatabase(read))
    handler: Any = MetricsHandler.factory(registry)  # serves them at any path
    handler.timeout = 10
    Server.address_family = socket.AF_INET6 if ":" in host else socket.AF_INET
    server = Server((host, port), handler)
    Thread(target=server.serve_forever, name="metrics", daemon=True).start()


def show_version(registry: CollectorRegistry) -> None:
    Info("service", "The version of the service.", registry=registry).info({"version": settings.VERSION})


def begin_series() -> None:
    """Create the series that alerts need, and each kind of file, while a failure still stops the start."""
    request_figures("livez", "GET", HTTPStatus.OK)
    for series in OF_OBJECTIVES:
        request_figures(*series)
    for group in ("shop", "address", "network"):
        for counter in (REFUSALS, STAND_IN, FAILURES):
            counter.labels(group).inc(0)
    FAST_PATH_FAILURES.labels("parcel")
    FAST_PATH_FAILURES.labels("parcel-search")
    DROPPED.labels(NO_ROOM)
    DROPPED.labels(NOT_WRITTEN)
    webhook_metrics.ATTEMPTS.labels(webhook_metrics.DELIVERED)
    begin_series_of_carriers()


def begin_series_of_carriers() -> None:
    # Alerts need these series at zero: one that appears with its first event shows no increase.
    for client in (*CARRIERS.values(), *TRACKERS.values()):
        for service in client.services:
            show_circuit_state(client.name, service, CircuitState.CLOSED)
    for name, carrier in CARRIERS.items():
        for operation in (carrier.purchase_operation, *carrier.points_operations):  # of an order
            CALLS.labels(name, operation, CredentialsRejected.code_suffix.lower())
        TURNED_AWAY.labels(name)
        UNRECORDED.labels(name)
        VANISHED_ROWS.labels(name)
        for state in LabelState.values:
            PURCHASES.labels(name, state)
    for name in TRACKERS:
        for outcome in Outcome:
            tracking_metrics.ASKED.labels(name, outcome)
        tracking_metrics.REFUSED_CONTRACTS.labels(name)
        tracking_metrics.UNLISTED.labels(name)


def clear_folder() -> None:
    """Remove the files of an earlier start: new processes may get the same ids."""
    folder = Path(os.environ[FOLDER])
    folder.mkdir(parents=True, exist_ok=True)
    for file in folder.glob("*.db"):
        file.unlink()


def remove_folder() -> None:
    """Remove the files, and the folder if nothing else is in it."""
    clear_folder()
    with suppress(OSError):  # not empty
        Path(os.environ[FOLDER]).rmdir()

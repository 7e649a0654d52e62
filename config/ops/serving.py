"""How the service is served: one granian, its workers forked from a process in which everything is loaded."""

import copy
import ctypes
import importlib
import logging
import os
import signal
import socket
import sys
import tempfile
from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.conf import settings
from granian.constants import HTTPModes, Interfaces
from granian.http import HTTP1Settings
from granian.server.mp import MPServer

from config.api import bodies
from config.ops import metrics
from labels import storage
from labels.db_retry import DB_RETRY_TIMEOUT_S

if TYPE_CHECKING:
    from django.core.handlers.wsgi import WSGIHandler

APPLICATION = "config.wsgi"
MAX_COUNT = 1000  # workers, or threads in one
PR_SET_PDEATHSIG = 1  # Linux: the signal that a process gets when its parent ends
logger = logging.getLogger("service.start")


class ServingError(Exception):
    """It can't be served like this; `str()` says why, to the operator."""


@dataclass(frozen=True)
class Plan:
    """What may differ from one start to another."""

    host: str
    port: int
    workers: int
    threads: int


def serve(plan: Plan) -> None:
    """Serve until SIGTERM or SIGINT, and then until what is in flight has been answered. Raise ServingError."""
    check_timeouts()
    check_count("workers", plan.workers)
    check_count("threads", plan.threads)
    check_threads(plan.threads)
    check_folder()
    check_port(plan.host, plan.port)
    if settings.METRICS_PORT:
        check_metrics_port(plan.port)
        prepare_metrics()
    preload()
    wake_every_second()
    bodies.body_reads.limit(threads=plan.threads)  # each worker is forked with places of its own
    os.register_at_fork(after_in_child=end_at_sigterm)
    try:
        granian(plan).serve(target_loader=load, wrap_loader=False)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)  # Python, as it ends, takes the handler away: the alarm would kill it
        if settings.METRICS_PORT:
            metrics.remove_folder()


def check_timeouts() -> None:
    """Raise ServingError unless whoever ends a process waits longer than a purchase takes, so that none is cut off."""
    # The carrier, the storage, and a database that is away when what the carrier gave has to be recorded.
    purchase_s = settings.CARRIER_TIMEOUT + settings.STORAGE_TIMEOUT_S + DB_RETRY_TIMEOUT_S
    if not purchase_s < settings.GRACEFUL_TIMEOUT < settings.STOP_TIMEOUT:
        raise ServingError(
            f"GRACEFUL_TIMEOUT ({settings.GRACEFUL_TIMEOUT} s) has to be above {purchase_s:g} s, which a purchase may"
            f" take (CARRIER_TIMEOUT and {purchase_s - settings.CARRIER_TIMEOUT:g} s), and below STOP_TIMEOUT"
            f" ({settings.STOP_TIMEOUT} s)"
        )


def check_count(name: str, value: int) -> None:
    """Raise ServingError unless so many workers, or threads, can be served with."""
    if not 0 < value <= MAX_COUNT:
        raise ServingError(f"{value} {name} can't be served with: needs 1 to {MAX_COUNT}")


def check_threads(threads: int) -> None:
    may_hang = len(settings.CARRIER_ENDPOINTS) * settings.CARRIER_CONCURRENCY
    if threads <= may_hang:
        logger.warning("SERVE_THREADS is %s, and calls to sick carriers may hang in %s threads", threads, may_hang)


def check_folder() -> None:
    """Raise ServingError unless the PDFs' folder, where they have one, can be written to.

    No command looks first: a folder that is gone keeps nobody from asking a carrier what became of a purchase.
    """
    if not settings.LABELS_BUCKET:
        try:
            storage.check()
        except storage.StorageError:
            raise ServingError("LABELS_DIR needs a folder that the service may write to") from None


def check_port(host: str, port: int) -> None:
    """Raise ServingError unless the port is free: workers share it, so a second server would not notice the first."""
    if not 0 < port < 65_536:  # noqa: PLR2004 - TCP's; 0 would be any
        raise ServingError(f"port {port} can't be used: needs 1 to 65535")
    try:
        family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        with socket.socket(family) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(address)
    except (OSError, OverflowError) as error:
        raise ServingError(f"port {port} of {host} can't be used: {error}") from None


def check_metrics_port(public_port: int) -> None:
    """Raise ServingError unless the metrics' port is free and not the public one: either server might answer on it."""
    if public_port == settings.METRICS_PORT:
        raise ServingError(f"METRICS_PORT is the public port {public_port}: it needs one of its own")
    check_port(settings.METRICS_HOST, settings.METRICS_PORT)


def prepare_metrics() -> None:
    """Empty the folder for figures, or make one and start anew: the library reads its name when it is imported."""
    if metrics.FOLDER in os.environ:
        try:
            metrics.clear_folder()
        except OSError as error:
            raise ServingError(f"{metrics.FOLDER} can't be used: {error.strerror}") from None
        return
    os.environ[metrics.FOLDER] = tempfile.mkdtemp(prefix="parcel-service-metrics-")
    os.execv(sys.executable, sys.orig_argv)  # noqa: S606 - this program itself


def preload() -> None:
    """Load what a worker needs before it is forked: it shares the memory, and one that died is soon replaced."""
    importlib.import_module(settings.ROOT_URLCONF)
    importlib.import_module(APPLICATION)  # last: it takes what is there out of the garbage collector's way


def end_at_sigterm() -> None:
    """Let a SIGTERM, which comes when the parent dies too, end a worker that is not ready and has nothing in flight.

    It is born with its parent's handlers, which would swallow the signal, and the end would wait for GRACEFUL_TIMEOUT.
    """
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, signal.SIG_DFL)
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)


def wake_every_second() -> None:
    """Let the main thread, which waits without end, wake every second, and see a signal that it has missed.

    Python notes a signal and acts on it when the wait is interrupted. One that comes in the instant before the wait
    begins interrupts nothing.
    """
    signal.signal(signal.SIGALRM, lambda *_: None)
    signal.setitimer(signal.ITIMER_REAL, 1, 1)


def load() -> "WSGIHandler":
    """Make a worker ready; it runs in the worker."""
    wake_every_second()
    if settings.METRICS_PORT:
        metrics.expose(settings.METRICS_HOST, settings.METRICS_PORT)
    application: WSGIHandler = importlib.import_module(APPLICATION).application
    return application


def granian(plan: Plan) -> MPServer:
    return MPServer(
        f"{APPLICATION}:application",
        address=plan.host,
        port=plan.port,
        interface=Interfaces.WSGI,
        workers=plan.workers,
        blocking_threads=plan.threads,
        http=HTTPModes.http1,  # what proxies speak to a server
        websockets=False,
        # Each worker holds so many connections, idle ones included; more wait, as many again, in the kernel.
        backpressure=settings.SERVE_CONNECTIONS,
        backlog=settings.SERVE_CONNECTIONS,
        # The time to send a request's head, and also how long a connection may lie idle between two requests.
        http1_settings=HTTP1Settings(header_read_timeout=settings.KEEP_ALIVE * 1000),
        respawn_failed_workers=True,
        workers_kill_timeout=settings.GRACEFUL_TIMEOUT,
        log_dictconfig=copy.deepcopy(settings.LOGGING),
    )

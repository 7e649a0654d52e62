"""Serves the service with granian, whose workers are forked from a process that has loaded everything."""

import ctypes
import importlib
import logging
import multiprocessing
import os
import signal
import socket
import sys
import tempfile
import threading
from collections.abc import Callable
from functools import partial
from typing import Any

from django.conf import settings
from django.core.handlers.wsgi import WSGIHandler
from django.core.management.base import CommandError
from granian import Granian, _signals
from granian.constants import HTTPModes, Interfaces
from granian.http import HTTP1Settings

from config.api import bodies
from config.ops import look_up_pool, metrics
from config.ops.health import checks
from labels.lifecycle.db_retry import DB_RETRY_TIMEOUT_S
from labels.pdfs import storage

APPLICATION = "config.wsgi"
MAX_WORKERS = 1000
# Connections of each worker, idle ones included; further ones queue in the kernel, up to the same number. More than a
# proxy keeps open. Each whose client does not read holds an answer, of up to 512 KiB.
MAX_CONNECTIONS = 1024
MAX_HEAD_BYTES = 64 * 1024  # a head that is still unfinished at this length is refused: 431
END_SIGNALS = (signal.SIGTERM, signal.SIGINT)
PR_SET_PDEATHSIG = 1  # Linux: the signal that a process gets when its parent ends
logger = logging.getLogger("service.start")


def serve(*, host: str, port: int, workers: int) -> None:
    """Serve until SIGTERM or SIGINT, then finish the requests in flight. Raise CommandError."""
    check_timeouts()
    if not 0 < workers <= MAX_WORKERS:
        raise CommandError(f"{workers} workers can't be served with: needs 1 to {MAX_WORKERS}")
    check_folder()
    check_port(host, port)
    if settings.METRICS_PORT:
        if port == settings.METRICS_PORT:  # which the kernel would share
            raise CommandError(f"METRICS_PORT is the public port {port}: it needs one of its own")
        check_port(settings.METRICS_HOST, settings.METRICS_PORT)
        prepare_metrics()
    logger.info("service begins", extra={"version": settings.VERSION})
    preload()
    bodies.body_reads.limit(threads=settings.SERVE_THREADS)  # each worker has a copy of its own
    guard_forks()
    try:
        run_granian(host, port, workers)
    finally:
        if settings.METRICS_PORT:
            metrics.remove_folder()


def check_timeouts() -> None:
    """Raise CommandError unless ending a process allows for a whole purchase, so that none is cut off."""
    # The carrier, the storage, and retries while the database is away: before the carrier is asked, and after.
    purchase_s = settings.CARRIER_TIMEOUT + settings.STORAGE_TIMEOUT_S + 2 * DB_RETRY_TIMEOUT_S
    if purchase_s >= settings.GRACEFUL_TIMEOUT:
        needed_s = purchase_s + settings.STOP_TIMEOUT - settings.GRACEFUL_TIMEOUT
        raise CommandError(
            f"STOP_TIMEOUT ({settings.STOP_TIMEOUT} s) has to be above {needed_s:g} s: a purchase may take"
            f" {purchase_s:g} s (CARRIER_TIMEOUT and {purchase_s - settings.CARRIER_TIMEOUT:g} s)"
        )


def check_folder() -> None:
    """Raise CommandError if PDFs are kept in a folder that can't be written to.

    Commands don't check it: without the folder, `reconcile_labels` can still ask a carrier about a purchase.
    """
    if not settings.LABELS_BUCKET:
        try:
            storage.check()
        except storage.StorageError as error:
            if str(error) == "ENOSPC":  # look-ups go on, and PDFs wait in the database
                return
            raise CommandError(f"LABELS_DIR needs a folder that the service may write to ({error})") from None


def check_port(host: str, port: int) -> None:
    """Raise CommandError unless the port is free: workers share it, so granian would not notice another server."""
    if not 0 < port < 65_536:  # noqa: PLR2004 - TCP's; 0 would be any
        raise CommandError(f"port {port} can't be used: needs 1 to 65535")
    try:
        family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        with socket.socket(family) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(address)
    except (OSError, OverflowError, UnicodeError) as error:  # the last for a name that no DNS has
        raise CommandError(f"port {port} of {host} can't be used: {error}") from None


def prepare_metrics() -> None:
    """Empty the metrics' folder, or make one and restart: the library reads the name when it is imported."""
    try:
        if metrics.FOLDER in os.environ:
            metrics.clear_folder()
            tempfile.TemporaryFile(dir=os.environ[metrics.FOLDER]).close()  # it can be written to
            return
        os.environ[metrics.FOLDER] = tempfile.mkdtemp(prefix="parcel-service-metrics-")
    except OSError as error:
        raise CommandError(f"{metrics.FOLDER} can't be used: {error.strerror}") from None
    os.execv(sys.executable, sys.orig_argv)  # noqa: S606 - this program itself


def preload() -> None:
    """Load all code before the fork: workers share its memory and start at once."""
    multiprocessing.set_start_method("fork", force=True)  # since Python 3.14 the default is another
    importlib.import_module(settings.ROOT_URLCONF)
    storage.pdfs()  # with a bucket, boto3
    importlib.import_module(APPLICATION)  # last: it freezes all objects that exist for the garbage collector


def guard_forks() -> None:
    """Keep a signal that comes to a worker before its first step: Python drops it there, and the worker hung."""
    hold = partial(signal.pthread_sigmask, signal.SIG_BLOCK, END_SIGNALS)
    release = partial(signal.pthread_sigmask, signal.SIG_UNBLOCK, END_SIGNALS)
    os.register_at_fork(before=hold, after_in_parent=release, after_in_child=reset_signals)


def reset_signals() -> None:
    """Let SIGTERM, which comes when the parent dies too, end a worker that is still starting.

    A worker inherits its parent's handlers, which would swallow the signal: ending would take the whole timeout.
    """
    for number in END_SIGNALS:
        signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, END_SIGNALS)
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)


def end_once() -> None:
    """Let granian hear of the first signal to end only, in a worker that is about to install its handler.

    A second one while the first takes effect hangs the worker for ever: the handler waits for a lock, whose thread
    waits for the interpreter. Two come where a supervisor signals all processes and the parent its workers, or where
    a parent of several threads dies (4 of about 80 kills under load).
    """
    install: Callable[[Callable[..., None]], None] = _signals.set_main_signals
    is_first = threading.Lock()

    def install_once(handler: Callable[..., None]) -> None:
        def end(*signal_and_frame: Any) -> None:
            if is_first.acquire(blocking=False):
                handler(*signal_and_frame)

        install(end)

    _signals.set_main_signals = install_once  # type: ignore[assignment]


def load() -> WSGIHandler:
    """Make a worker ready, in the worker."""
    # A SIGTERM just before the main thread begins to wait does not interrupt the wait (3 of 100 stops right after a
    # start): wake every second to see it.
    signal.signal(signal.SIGALRM, lambda *_: None)
    signal.setitimer(signal.ITIMER_REAL, 1, 1)
    end_once()
    if settings.METRICS_PORT:
        metrics.expose(settings.METRICS_HOST, settings.METRICS_PORT)
    checks()["credentials"].start()  # it says in the log what it finds
    application: WSGIHandler = importlib.import_module(APPLICATION).application
    return application


def run_granian(host: str, port: int, workers: int) -> None:
    look_up_pool.install()
    server = Granian(
        f"{APPLICATION}:application",
        address=host,
        port=port,
        interface=Interfaces.WSGI,
        workers=workers,
        blocking_threads=settings.SERVE_THREADS,
        http=HTTPModes.http1,  # proxies speak it to a server
        websockets=False,
        backpressure=MAX_CONNECTIONS,
        backlog=MAX_CONNECTIONS,
        # Granian has one time for a request's head and for an idle connection between two requests, and none for a
        # body: the proxy has these (deploy/Caddyfile).
        http1_settings=HTTP1Settings(header_read_timeout=settings.KEEP_ALIVE * 1000, max_buffer_size=MAX_HEAD_BYTES),
        respawn_failed_workers=True,
        workers_kill_timeout=settings.GRACEFUL_TIMEOUT,
        log_dictconfig=settings.LOGGING,
    )
    server.serve(target_loader=load, wrap_loader=False)

"""Runs a check in a background thread, so that a caller can wait for it with a timeout."""

import time
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from queue import SimpleQueue
from threading import Lock, Thread
from typing import Generic, TypeVar

from django.db import connections

T = TypeVar("T")


class Check(Generic[T]):
    """Runs a function that may hang at most once at a time; all callers share the run and its result.

    A result is reused for `fresh_s`. The thread is a daemon, so it does not keep the process from ending. It is always
    the same thread, so objects kept per thread are reused: a bucket's client takes longer to make than to use. Only a
    database's connection ends with each run.
    """

    def __init__(self, run: Callable[[], T], *, fresh_s: float) -> None:
        self._run = run
        self._fresh_s = fresh_s
        self._lock = Lock()
        self._runs: SimpleQueue[Future[T]] = SimpleQueue()
        self._thread: Thread | None = None
        self._last: Future[T] | None = None
        self._ended_at = 0.0

    def start(self) -> "Future[T]":
        """Begin a run, unless one is under way or has just ended; `.result(timeout)` raises what it raised."""
        with self._lock:
            is_over = self._last is not None and self._last.done()
            if self._last is None or (is_over and time.monotonic() - self._ended_at >= self._fresh_s):
                self._last = Future()
                self._runs.put(self._last)
            if self._thread is None:  # not earlier: a thread does not survive the fork of workers
                thread = Thread(target=self._work, name="check", daemon=True)
                with suppress(RuntimeError):  # the system has no thread to give now: the next call asks again
                    thread.start()
                    self._thread = thread
            return self._last

    def _work(self) -> None:
        while True:
            future = self._runs.get()
            try:
                future.set_result(self._run_once())
            except Exception as error:  # noqa: BLE001 - raised again in the callers
                future.set_exception(error)

    def _run_once(self) -> T:
        try:
            return self._run()
        finally:
            connections.close_all()  # of this thread to databases
            self._ended_at = time.monotonic()

"""Runs one check at a time, in a thread of its own, so that whoever asks waits no longer than they want to."""

import time
from collections.abc import Callable
from concurrent.futures import Future
from queue import SimpleQueue
from threading import Lock, Thread
from typing import Generic, TypeVar

T = TypeVar("T")


class Check(Generic[T]):
    """A function whose result is asked for often, and which may hang: it runs once, for everybody who asks meanwhile.

    A result is believed for `fresh_s`. The thread is a daemon, so it keeps no process from ending. It is always the
    same one, so what the function keeps for each thread is kept (a bucket's client takes longer to make than to use).
    """

    def __init__(self, run: Callable[[], T], *, fresh_s: float) -> None:
        self._run = run
        self._fresh_s = fresh_s
        self._lock = Lock()
        self._questions: SimpleQueue[Future[T]] = SimpleQueue()
        self._thread: Thread | None = None
        self._last: Future[T] | None = None
        self._ended_at = 0.0

    def start(self) -> "Future[T]":
        """Begin a run, unless one is under way or has just ended; `.result(timeout)` raises what it raised."""
        with self._lock:
            is_over = self._last is not None and self._last.done()
            if self._last is None or (is_over and time.monotonic() - self._ended_at >= self._fresh_s):
                self._last = Future()
                self._questions.put(self._last)
            if self._thread is None:  # not before it is needed: workers are forked
                self._thread = Thread(target=self._work, name="check", daemon=True)
                self._thread.start()
            return self._last

    def _work(self) -> None:
        while True:
            future = self._questions.get()
            try:
                result = self._run()
            except Exception as error:  # noqa: BLE001 - it is raised again for whoever asked
                self._ended_at = time.monotonic()
                future.set_exception(error)
            else:
                self._ended_at = time.monotonic()
                future.set_result(result)

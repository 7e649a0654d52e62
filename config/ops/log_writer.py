"""Writes log lines in a thread of its own, so that a reader who does not read never holds up a request."""

import logging
import os
import queue
import sys
from contextlib import suppress
from multiprocessing.util import Finalize
from threading import Event, Lock, Thread
from time import sleep

from prometheus_client import Counter

MAX_LINES = 10_000  # that wait to be written: some megabytes
PAUSE_S = 0.01  # between two writes
FLUSH_TIMEOUT_S = 1.0  # at the end of the process
DROPPED = Counter(
    "log_lines_dropped_total", "Log lines that nobody will read: no room to wait, or not written.", ["reason"]
)
NO_ROOM, NOT_WRITTEN = "no room", "not written"


class LineWriter:
    """Writes lines to a file descriptor through a queue, in a thread of each process; counts those that it drops."""

    def __init__(self, descriptor: int, max_lines: int = MAX_LINES) -> None:
        self._descriptor = descriptor
        self._max_lines = max_lines
        self._reset()
        os.register_at_fork(after_in_child=self._reset)

    def _reset(self) -> None:
        self._lines: queue.SimpleQueue[bytes | Event] = queue.SimpleQueue()
        self._lock = Lock()
        self._thread: Thread | None = None
        self._is_within = False  # a line that a full disk has cut off

    def put(self, line: str) -> None:
        """Have a line written, if there is room; never wait."""
        if self._lines.qsize() < self._max_lines:
            self._lines.put(f"{line}\n".encode(errors="backslashreplace"))
        else:
            count_dropped(NO_ROOM)
        if self._thread is None:
            with suppress(RuntimeError):  # the system has no thread to give now: the next line asks again
                self._start()

    def flush(self, timeout_s: float = FLUSH_TIMEOUT_S) -> None:
        """Wait until all lines so far are written, or the time is over."""
        if self._thread is not None:
            written = Event()
            self._lines.put(written)
            written.wait(timeout_s)

    def _start(self) -> None:
        with self._lock:
            if self._thread is None:
                thread = Thread(target=self._work, name="log", daemon=True)
                thread.start()
                self._thread = thread
                Finalize(None, self.flush, exitpriority=0)  # in processes of multiprocessing, too, unlike atexit

    def _work(self) -> None:
        while True:
            first = self._lines.get()
            # Under load: a wake-up for each line would take the interpreter from the request that follows.
            rest = [self._lines.get() for _ in range(self._lines.qsize())]
            self._write([first, *rest])
            sleep(PAUSE_S)

    def _write(self, batch: list[bytes | Event]) -> None:
        lines = [line for line in batch if isinstance(line, bytes)]
        text = b"\n" * self._is_within + b"".join(lines)
        try:
            while text:
                count = os.write(self._descriptor, text)
                self._is_within = not text[:count].endswith(b"\n")
                text = text[count:]
        except OSError:
            count_dropped(NOT_WRITTEN, len(lines))
        for waiter in batch:
            if isinstance(waiter, Event):
                waiter.set()


def count_dropped(reason: str, lines: int = 1) -> None:
    with suppress(OSError):  # the metrics' folder is full or missing
        DROPPED.labels(reason).inc(lines)


# A program that is started with standard error closed has another file at its number.
stderr = LineWriter(sys.__stderr__.fileno()) if sys.__stderr__ else None


class Handler(logging.Handler):
    """Hands formatted lines to the writer of standard error."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Cut granian's records to their first line, as an exception's text may follow it.

        Drop its warning about many threads: they are for calls to carriers, which wait without using the CPU.
        """
        if not record.name.startswith("_granian"):
            return True
        record.msg, record.args, record.exc_info = record.getMessage().partition("\n")[0], None, None
        return not record.msg.startswith("Configuration allows spawning up to")

    def emit(self, record: logging.LogRecord) -> None:
        try:
            line = self.format(record)
        except Exception:  # noqa: BLE001 - a line that can't be formatted must not break what it tells of
            count_dropped(NOT_WRITTEN)
        else:
            if stderr:
                stderr.put(line)

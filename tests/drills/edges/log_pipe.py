"""A pipe for a process's log that nobody reads."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress


class LogPipe:
    """A pipe; `fill` leaves no room in it, so that a process that writes there waits for ever."""

    def __init__(self) -> None:
        self.reader, self.writer = os.pipe()

    def fill(self) -> None:
        # An open file of its own: the process's own end must go on to block.
        writer = os.open(f"/proc/self/fd/{self.writer}", os.O_WRONLY | os.O_NONBLOCK)
        for size in (4096, 1):
            with suppress(BlockingIOError):
                while True:
                    os.write(writer, b"\n" * size)
        os.close(writer)

    def close(self) -> None:
        os.close(self.reader)
        os.close(self.writer)


@contextmanager
def log_pipe() -> Iterator[LogPipe]:
    """Make a small pipe, and let it go at the end."""
    pipe = LogPipe()
    fcntl.fcntl(pipe.writer, fcntl.F_SETPIPE_SZ, 65_536)
    try:
        yield pipe
    finally:
        pipe.close()

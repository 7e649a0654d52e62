"""Programs that end with their block, and programs that may not be installed."""

import os
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import AnyStr, Self

import pytest

from tests.support.waiting import WAIT_TIMEOUT_S, until

ROOT = Path(__file__).parent.parent.parent
NOT_INSTALLED = " is not installed"


def program(name: str) -> str | None:
    """Return the path of a program: the one that make puts beside Python, or the machine's own."""
    beside = Path(sys.executable).with_name(name)
    return str(beside) if beside.exists() else shutil.which(name)


PHP = program("php")


class Process:
    """A program whose output is in a log, in a session of its own: its block ends it with all its children.

    Ctrl-C in the terminal does not reach it. One that has a port listens there once it is started.
    """

    def __init__(
        self,
        command: Sequence[str | Path],
        variables: Mapping[str, str],
        log: Path,
        *,
        port: int = 0,
        stderr: int | None = None,
        cwd: Path = ROOT,
    ) -> None:
        self.command, self.variables, self.log = command, dict(variables), log
        self.port, self.stderr, self.cwd = port, stderr, cwd

    def start(self) -> Self:
        """Start it, for the first time or again, and wait until it listens."""
        with self.log.open("ab") as output:
            self.log_begins_at = output.tell()
            stderr = output if self.stderr is None else self.stderr
            self.popen = subprocess.Popen(
                self.command, cwd=self.cwd, env=self.variables, start_new_session=True, stdout=output, stderr=stderr
            )
        if self.port:
            self.wait_until(lambda: is_listening(self.port))
        return self

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *exc_info: object) -> None:
        self.kill()

    @property
    def pid(self) -> int:
        return self.popen.pid

    def log_text(self) -> str:
        """Return what it has written to its log; earlier processes may share the file."""
        return self.log.read_bytes()[self.log_begins_at :].decode()

    def wait_until(self, is_ready: Callable[[], bool]) -> None:
        """Raise RuntimeError if it ends before that, as a server does whose port is taken."""
        with ExitStack() as stack:
            stack.callback(self.kill)
            until(lambda: is_ready() or self.popen.poll() is not None)
            if self.popen.poll() is not None:
                raise RuntimeError(f"the server did not start:\n{self.log_text()[-2000:]}")
            stack.pop_all()

    def stop(self, timeout_s: float = 90) -> int:
        """Send SIGTERM, as an orchestrator does; return the exit code."""
        self.popen.terminate()
        return self.popen.wait(timeout_s)

    def kill(self) -> None:
        with suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGKILL)
        self.popen.wait()


def is_listening(port: int) -> bool:
    with suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
        return True
    return False


@contextmanager
def ended(process: "subprocess.Popen[AnyStr]", signum: int = signal.SIGTERM) -> Iterator["subprocess.Popen[AnyStr]"]:
    """End a process after the block: with a signal, or with SIGKILL and TimeoutExpired if it does not end by that."""
    with process:
        try:
            yield process
        finally:
            process.send_signal(signum)
            try:
                process.wait(WAIT_TIMEOUT_S)
            finally:
                process.kill()


def needs(name: str, found: object) -> pytest.MarkDecorator:
    """Skip a test where a program was not found; the run's last lines name it."""
    return pytest.mark.skipif(not found, reason=f"{name}{NOT_INSTALLED}")

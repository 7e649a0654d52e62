"""Processes that a drill starts, watches and kills."""

import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Self

from tests.support.processes import ROOT, is_listening
from tests.support.waiting import until

CLOCK_TICKS_S = os.sysconf("SC_CLK_TCK")


class Process:
    """A process in a session of its own, which is killed with all its children."""

    def __init__(
        self, command: list[str], variables: dict[str, str], log: Path, stderr: int | None = None, cwd: Path = ROOT
    ) -> None:
        self.log = log
        with log.open("ab") as output:
            self.log_begins_at = output.tell()
            self.popen = subprocess.Popen(
                command,
                cwd=cwd,
                env=variables,
                start_new_session=True,
                stdout=subprocess.PIPE,
                stderr=output if stderr is None else stderr,
            )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.kill()

    def log_text(self) -> str:
        """Return what it has written to its log; earlier processes may share the file."""
        return self.log.read_bytes()[self.log_begins_at :].decode()

    def first_line(self) -> str:
        """Wait for its first line of output. Raise RuntimeError if it ends without one."""
        assert self.popen.stdout
        line = self.popen.stdout.readline().decode()
        if not line:
            raise self.start_error()
        return line

    def wait_until_listening(self, port: int) -> None:
        self.wait_until(lambda: is_listening(port))

    def wait_until(self, is_ready: Callable[[], bool]) -> None:
        """Raise RuntimeError if it ends first, as a server does whose port is taken."""
        until(lambda: is_ready() or self.popen.poll() is not None)
        if self.popen.poll() is not None:
            raise self.start_error()

    def start_error(self) -> RuntimeError:
        return RuntimeError(f"the server did not start:\n{self.log_text()[-2000:]}")

    def wait_until_frozen(self) -> None:
        """Wait until one of its processes is stopped."""
        until(lambda: any(state_of(pid) == "T" for pid in process_tree(self.popen.pid)))

    def thaw(self) -> None:
        for pid in process_tree(self.popen.pid):
            os.kill(pid, signal.SIGCONT)

    def stop(self, timeout_s: float = 90) -> int:
        """Send SIGTERM, as an orchestrator does; return the exit code."""
        self.popen.terminate()
        return self.popen.wait(timeout_s)

    def kill(self) -> None:
        with suppress(ProcessLookupError):
            os.killpg(self.popen.pid, signal.SIGKILL)
        self.popen.wait()
        assert self.popen.stdout
        self.popen.stdout.close()


def process_tree(pid: int) -> list[int]:
    """Return a process and all its descendants, also those that have left its group."""
    found: list[str] = []
    with suppress(FileNotFoundError, ProcessLookupError):  # it has ended
        found = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [pid, *(descendant for child in found for descendant in process_tree(int(child)))]


def state_of(pid: int) -> str:
    """Return the letter that the kernel gives a process's state, such as T for stopped."""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]


def cpu_s(pid: int) -> float:
    """Sum the CPU time, user and system, of a process and its descendants, also of those that have ended."""
    total = 0.0
    for process in reversed(process_tree(pid)):
        with suppress(FileNotFoundError, ProcessLookupError):  # it has ended: its parent, read later, counts it
            fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
            total += sum(map(int, fields[11:15])) / CLOCK_TICKS_S
    return total


@contextmanager
def metered(*pids: int) -> Iterator[list[float]]:
    """Measure the block: after it, the list has its seconds, and the CPU seconds of each process meanwhile."""

    def figures() -> list[float]:
        return [time.perf_counter(), *map(cpu_s, pids)]

    before, used = figures(), list[float]()
    yield used
    used += [after - then for after, then in zip(figures(), before, strict=True)]


def peak_mb(pid: int) -> float:
    """Return the peak of a process's resident memory."""
    return int(Path(f"/proc/{pid}/status").read_text().split("VmHWM:")[1].split()[0]) / 1024

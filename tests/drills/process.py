"""Processes as the kernel sees them: their children, state, CPU time and memory."""

import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from tests.support.waiting import until

CLOCK_TICKS_S = os.sysconf("SC_CLK_TCK")


def process_tree(pid: int) -> list[int]:
    """Return a process and all its descendants, also those that have left its group."""
    found: list[str] = []
    with suppress(FileNotFoundError, ProcessLookupError):  # it has ended
        found = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [pid, *(descendant for child in found for descendant in process_tree(int(child)))]


def stat_of(pid: int) -> list[str]:
    """Return the fields of the kernel's line about a process, from its state on."""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()


def wait_until_frozen(pid: int) -> None:
    """Wait until a process or one of its descendants is stopped."""
    until(lambda: any(stat_of(each)[0] == "T" for each in process_tree(pid)))


def signal_all(pid: int, signum: signal.Signals) -> None:
    """Send a signal to a process and all its descendants."""
    for each in process_tree(pid):
        with suppress(ProcessLookupError):
            os.kill(each, signum)


def cpu_s(pid: int) -> float:
    """Sum the CPU time, user and system, of a process and its descendants, also of those that have ended."""
    total = 0.0
    for process in reversed(process_tree(pid)):
        with suppress(FileNotFoundError, ProcessLookupError):  # it has ended: its parent, read later, counts it
            total += sum(map(int, stat_of(process)[11:15])) / CLOCK_TICKS_S
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

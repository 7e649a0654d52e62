"""The whole suite: ``python -m tests [pytest's options]``, on SQLite, beside it on PostgreSQL with Redis.

The second's output follows the first's. Whatever a test leaves behind, or an interrupted run, ends with this program:
processes and temporary files.
"""

import ctypes
import os
import signal
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from tests.support import migrated

COMMAND = [sys.executable, "-m", "pytest", "--dist", "worksteal"]
CORES = len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1
# Options and variables of each pass. Five workers, each with its own services: while some wait, others have the
# processors. One core has enough to do with three: with more, what waits for an answer waits too long.
SQLITE_WORKERS, POSTGRESQL_WORKERS = ("3", "2") if CORES > 1 else ("2", "1")
PASSES = {
    "sqlite": (["-n", SQLITE_WORKERS], {"FIRST_PORT": "10000"}),
    # No carrier has a database, and no page is about one.
    "postgresql": (
        ["-n", POSTGRESQL_WORKERS, "--ignore", "tests/carriers", "--ignore", "tests/docs"],
        {"FIRST_PORT": "20000"},
    ),
}
END_TIMEOUT_S = 60  # of an interrupted run
ORPHANS_TIMEOUT_S = 5
PR_SET_CHILD_SUBREAPER = 36
CHILDREN = Path(f"/proc/self/task/{os.getpid()}/children")


def main() -> int:
    if sys.platform == "linux":  # a process whose parent has ended becomes a child of this one
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1)
    run = Run()
    with tempfile.TemporaryDirectory(prefix="tests-", ignore_cleanup_errors=True) as folder:
        os.environ |= {"TMPDIR": folder, migrated.VARIABLE: tempfile.mkdtemp(dir=folder)}
        os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # or each worker compiles all tests: half its start
        run.test(Path(folder), sys.argv[1:])
    print("", *run.summary, sep="\n")
    return 128 + run.signals[0] if run.signals else int(run.has_failed)


class Run:
    """The passes. The first signal interrupts them as Ctrl-C does, a second or a minute kills them."""

    def __init__(self) -> None:
        self.passes: dict[int, str] = {}  # those that run, by their process
        self.has_failed = False
        self.signals: list[int] = []
        self.summary: list[str] = []
        for signum in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGALRM):
            is_nohup = signum == signal.SIGHUP and signal.getsignal(signum) == signal.SIG_IGN
            if not is_nohup:
                signal.signal(signum, self.interrupt)

    def interrupt(self, signum: int, frame: FrameType | None) -> None:
        self.signals.append(signum)
        signal.alarm(END_TIMEOUT_S)
        for pid in self.passes:
            os.killpg(pid, signal.SIGINT if len(self.signals) == 1 else signal.SIGKILL)

    def test(self, folder: Path, options: list[str]) -> None:
        """Run the passes and reap their orphans; add what there is to say to the summary."""
        started_s = time.monotonic()
        for services in PASSES:
            if not self.signals:
                self.passes[start(services, folder, options)] = services
        while self.passes:
            pid, status = os.waitpid(-1, 0)
            if services := self.passes.pop(pid, ""):
                code = os.waitstatus_to_exitcode(status)
                self.summary.append(f"{services}: exit code {code} after {time.monotonic() - started_s:.0f} s")
                self.summary += [file.read_text() for file in folder.glob(f"{services}.txt")]
                # Of what the options name nothing may be about the database.
                is_empty = (services, code) == ("postgresql", pytest.ExitCode.NO_TESTS_COLLECTED)
                self.has_failed |= not (code == pytest.ExitCode.OK or is_empty)
        signal.alarm(0)
        for output in folder.glob("*.out"):
            print(output.read_text(), flush=True)
        left = end_orphans()
        self.has_failed |= bool(left)
        self.summary += [f"left running: {command}" for command in left]


def start(services: str, folder: Path, options: list[str]) -> int:
    """Start a pass in a session of its own, where Ctrl-C in the terminal doesn't reach it; return its process's id."""
    own, variables = PASSES[services]
    command = [*COMMAND, "--services", services, "--summary", str(folder / f"{services}.txt"), *own, *options]
    actions: list[tuple[Any, ...]] = []
    if services != "sqlite":  # one is watched, the other is read
        flags = os.O_WRONLY | os.O_CREAT
        actions = [(os.POSIX_SPAWN_OPEN, 1, folder / f"{services}.out", flags, 0o600), (os.POSIX_SPAWN_DUP2, 1, 2)]
    return os.posix_spawn(
        command[0], command, os.environ | variables, file_actions=actions, setsid=True, setsigdef=[signal.SIGINT]
    )


def end_orphans() -> list[str]:
    """Kill the processes that have outlived pytest and do not end soon; return their commands."""
    deadline = time.monotonic() + ORPHANS_TIMEOUT_S
    commands = []
    while pids := children():
        if time.monotonic() > deadline:
            commands += [Path(f"/proc/{pid}/cmdline").read_text().replace("\0", " ").strip() for pid in pids]
            for pid in pids:
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.05)
    return [command for command in commands if command]  # one that was ending by itself has none


def children() -> list[int]:
    """Reap the children that have ended; return the others."""
    with suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    return [int(word) for word in CHILDREN.read_text().split()] if CHILDREN.exists() else []


if __name__ == "__main__":
    sys.exit(main())

"""The whole suite: ``python -m tests [pytest's options]``, on SQLite, then on PostgreSQL with Redis.

Whatever a test leaves behind, or an interrupted run, ends with this program: processes and temporary files.
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

import pytest

# Four workers on any machine, each with its own services: most of a test's time is waiting.
COMMAND = [sys.executable, "-m", "pytest", "-n", "4", "--dist", "worksteal"]
PASSES: dict[str, list[str]] = {
    "sqlite": [],
    "postgresql": ["--ignore", "tests/carriers"],  # they are not about the database
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
        os.environ["TMPDIR"] = folder
        for services, options in PASSES.items():
            if not run.signals:
                run.test(services, *options, *sys.argv[1:])
    print("", *run.summary, sep="\n")
    return 128 + run.signals[0] if run.signals else int(run.has_failed)


class Run:
    """The passes. The first signal interrupts one as Ctrl-C does, a second or a minute kills it."""

    def __init__(self) -> None:
        self.pid = 0
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
        if self.pid:
            os.killpg(self.pid, signal.SIGINT if len(self.signals) == 1 else signal.SIGKILL)

    def test(self, services: str, *options: str) -> None:
        summary = Path(os.environ["TMPDIR"], f"{services}.txt")
        started_s = time.monotonic()
        code = self.run([*COMMAND, "--services", services, "--summary", str(summary), *options])
        left = end_orphans()
        # Of what the options name nothing may be about the database.
        is_empty = (services, code) == ("postgresql", pytest.ExitCode.NO_TESTS_COLLECTED)
        self.has_failed |= bool(left) or not (code == pytest.ExitCode.OK or is_empty)
        self.summary.append(f"{services}: exit code {code} after {time.monotonic() - started_s:.0f} s")
        if summary.exists():
            self.summary.append(summary.read_text())
        self.summary += [f"{services}: left running: {command}" for command in left]

    def run(self, command: list[str]) -> int:
        """Run a program in a session of its own, where Ctrl-C in the terminal doesn't reach it; reap its orphans."""
        self.pid = os.posix_spawn(command[0], command, os.environ, setsid=True, setsigdef=[signal.SIGINT])
        ended, status = 0, 0
        while ended != self.pid:
            ended, status = os.waitpid(-1, 0)
        self.pid = 0
        signal.alarm(0)
        return os.waitstatus_to_exitcode(status)


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

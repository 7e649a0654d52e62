"""Programs that end with their block, and programs that may not be installed."""

import shutil
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, AnyStr

import pytest

from tests.support.waiting import WAIT_TIMEOUT_S

if TYPE_CHECKING:
    from subprocess import Popen

NOT_INSTALLED = " is not installed"


def program(name: str) -> str | None:
    """Return the path of a program: the one that make puts beside Python, or the machine's own."""
    beside = Path(sys.executable).with_name(name)
    return str(beside) if beside.exists() else shutil.which(name)


PHP = program("php")


@contextmanager
def ended(process: "Popen[AnyStr]", signum: int = signal.SIGTERM) -> Iterator["Popen[AnyStr]"]:
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

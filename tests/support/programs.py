"""Programs that end with their block, and programs that may not be installed."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, AnyStr

import pytest

from tests.support.waiting import WAIT_TIMEOUT_S

if TYPE_CHECKING:
    from subprocess import Popen

NOT_INSTALLED = " is not installed"


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

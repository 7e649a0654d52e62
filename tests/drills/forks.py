"""Processes forked from the drill itself, so that one that replaces a killed one is there at once."""

import multiprocessing
import os
import signal
from collections.abc import Callable
from typing import Any

from django.db import connections

FORKS = multiprocessing.get_context("fork")


class Child:
    """A process that runs a function and can be killed."""

    def __init__(self, run: Callable[..., object], *arguments: Any) -> None:
        self.run, self.arguments = run, arguments
        self.process = FORKS.Process(target=run, args=arguments, daemon=True)
        self.process.start()

    def kill(self) -> None:
        assert self.process.pid
        os.kill(self.process.pid, signal.SIGKILL)
        self.process.join()

    def replace(self) -> "Child":
        """Kill it; return one that does the same."""
        self.kill()
        return Child(self.run, *self.arguments)


def close_connections() -> None:
    """Close this process's connections to the database: it forks, which is seen to, or the server will be killed."""
    connections.close_all()

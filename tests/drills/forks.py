"""Processes forked from the drill itself, so that one that replaces a killed one is there at once."""

import multiprocessing
from collections.abc import Callable
from typing import Any, Self

from django.db import connections

FORKS = multiprocessing.get_context("fork")


class Child:
    """A process that runs a function; its block ends it."""

    def __init__(self, run: Callable[..., object], *arguments: Any) -> None:
        self.run, self.arguments = run, arguments

    def start(self) -> Self:
        self.process = FORKS.Process(target=self.run, args=self.arguments, daemon=True)
        self.process.start()
        return self

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *exc_info: object) -> None:
        self.kill()

    @property
    def pid(self) -> int:
        return self.process.pid or 0

    def kill(self) -> None:
        self.process.kill()
        self.process.join()

    def restart(self) -> None:
        self.kill()
        self.start()


def close_connections() -> None:
    """Close this process's connections to the database: it forks, which is seen to, or the server will be killed."""
    connections.close_all()

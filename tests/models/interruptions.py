"""Interruptions of a process: a kill, or something else at a commit, and a clock that is off."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import timedelta
from typing import Any
from unittest.mock import patch

from django.db import connection, connections
from django.db.backends.base.base import BaseDatabaseWrapper
from django.utils import timezone


class Killed(BaseException):
    """The process ends here, as by SIGKILL: nothing catches it."""


class Commits:
    """Something that happens at a transaction's commit, once: before it or after it."""

    def __init__(self, monkeypatch: Any) -> None:
        self.plan: tuple[int, str, Callable[[], None]] | None = None
        commit = BaseDatabaseWrapper.commit

        def committing(own: BaseDatabaseWrapper) -> None:
            plan = self.due()
            if plan is None:
                commit(own)
            elif plan[1] == "after":
                commit(own)
                plan[2]()
            else:
                if plan[1] == "instead":
                    own.rollback()
                plan[2]()
                commit(own)

        monkeypatch.setattr(BaseDatabaseWrapper, "commit", committing)

    def due(self) -> tuple[int, str, Callable[[], None]] | None:
        """Count a commit; return the plan if it is for this one."""
        if self.plan is None:
            return None
        left, when, act = self.plan
        self.plan = (left - 1, when, act) if left > 1 else None
        return None if left > 1 else (left, when, act)

    @contextmanager
    def planned(self, number: int, when: str, act: Callable[[], None]) -> Iterator[None]:
        """Do something at this commit of the block; number 0 is never."""
        self.plan = (number, when, act) if number else None
        try:
            with suppress(Killed):
                yield
        finally:
            self.plan = None
            if connection.in_atomic_block or connection.needs_rollback:
                connections.close_all()


def die() -> None:
    raise Killed


@contextmanager
def host_clock(seconds_ahead: float) -> Iterator[None]:
    """Set this host's clock ahead, or behind."""
    true_now = timezone.now
    with patch("django.utils.timezone.now", lambda: true_now() + timedelta(seconds=seconds_ahead)):
        yield

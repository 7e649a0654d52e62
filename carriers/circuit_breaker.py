"""Limits on one carrier's calls in one process: how many at a time, and a rest for one that keeps failing."""

import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, NoReturn

import pybreaker

from carriers.errors import CarrierError, CarrierUnavailable


@dataclass(frozen=True)
class Limits:
    """How much of this process a carrier may take."""

    timeout_s: float = 20.0  # a deadline over a whole label, all its linked calls included
    max_concurrent_calls: int = 4
    failures_before_rest: int = 5  # in a row
    rest_s: float = 30.0


class _RestListener(pybreaker.CircuitBreakerListener):
    def __init__(self, tell: Callable[[bool], None]) -> None:
        self._tell = tell

    def state_change(self, cb: Any, old_state: Any, new_state: Any) -> None:
        if new_state.name != pybreaker.STATE_HALF_OPEN:  # a probe's way to one of the others
            self._tell(new_state.name == pybreaker.STATE_OPEN)


class _Failure(Exception):  # noqa: N818 - a signal to the breaker, never seen outside
    pass


class CircuitBreaker:
    """Lets calls through, or refuses them at once with CarrierUnavailable.

    pybreaker's own `call` holds its lock while the function runs, which would put all calls in one line. So
    the breaker is only told how a call ended, and this class lets a single probe through at a time.
    """

    def __init__(self, carrier: str, limits: Limits, rest_changed: Callable[[bool], None] = lambda _: None) -> None:
        self._carrier = carrier
        self._slots = threading.BoundedSemaphore(limits.max_concurrent_calls)
        self._rest = timedelta(seconds=limits.rest_s)
        self._probe = threading.Lock()
        self._storage = pybreaker.CircuitMemoryStorage(pybreaker.STATE_CLOSED)
        self._breaker = pybreaker.CircuitBreaker(
            fail_max=limits.failures_before_rest,
            reset_timeout=limits.rest_s,
            state_storage=self._storage,
            throw_new_error_on_trip=False,
            listeners=[_RestListener(rest_changed)],
        )

    @property
    def is_resting(self) -> bool:
        """Whether the carrier has been given a rest, and no call has succeeded since."""
        return bool(self._storage.state != pybreaker.STATE_CLOSED)

    @contextmanager
    def call(self) -> Iterator[None]:
        """Hold a slot while the block runs, and learn from how it ends."""
        with self._holding_a_slot(), self._probing():
            try:
                yield
            except CarrierError as error:
                self._report(is_failure=error.is_carrier_failing)
                raise
            self._report(is_failure=False)

    @contextmanager
    def _holding_a_slot(self) -> Iterator[None]:
        if not self._slots.acquire(blocking=False):
            raise CarrierUnavailable(self._carrier, "too many calls at a time")
        try:
            yield
        finally:
            self._slots.release()

    def _probing(self) -> AbstractContextManager[object]:
        if self._storage.state == pybreaker.STATE_CLOSED:
            return nullcontext()
        return self._as_the_only_probe()

    @contextmanager
    def _as_the_only_probe(self) -> Iterator[None]:
        if not self._probe.acquire(blocking=False):
            raise self._refusal()
        try:
            # Looked at under the lock: the probe before this one may just have failed.
            if self._refuses_calls():
                raise self._refusal()
            yield
        finally:
            self._probe.release()

    def _refuses_calls(self) -> bool:
        """Whether the time of the rest runs; `is_resting` holds beyond it, until a probe has succeeded."""
        opened_at = self._storage.opened_at
        is_open = self._storage.state == pybreaker.STATE_OPEN
        return is_open and opened_at is not None and datetime.now(UTC) < opened_at + self._rest

    def refuse_at_rest(self) -> None:
        """Raise as a call would now that the carrier is given a rest, for whoever has to prepare a call."""
        if self._refuses_calls():
            raise self._refusal()

    def _refusal(self) -> CarrierUnavailable:
        return CarrierUnavailable(self._carrier, "given a rest after repeated failures")

    def _report(self, *, is_failure: bool) -> None:
        # A call from before the rest may end during it: the breaker then refuses even the report.
        with suppress(_Failure, pybreaker.CircuitBreakerError):
            self._breaker.call(_fail if is_failure else _succeed)


def _fail() -> NoReturn:
    raise _Failure


def _succeed() -> None:
    pass

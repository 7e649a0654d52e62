"""A circuit breaker for one carrier's calls in one process."""

import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Any, NoReturn

import pybreaker

from carriers.errors import CarrierError, CarrierUnavailable


class CircuitState(StrEnum):
    """The states of a circuit breaker."""

    CLOSED = pybreaker.STATE_CLOSED
    OPEN = pybreaker.STATE_OPEN
    HALF_OPEN = pybreaker.STATE_HALF_OPEN


class _Listener(pybreaker.CircuitBreakerListener):
    def __init__(self, notify: Callable[[CircuitState], None]) -> None:
        self._notify = notify

    def state_change(self, cb: Any, old_state: Any, new_state: Any) -> None:
        self._notify(CircuitState(new_state.name))


class _Failure(Exception):  # noqa: N818 - a signal to pybreaker that never leaves this module
    pass


class CircuitBreaker:
    """Lets calls through while closed, one probe at a time while half-open, and none while open.

    pybreaker's own `call` holds its lock while the function runs, which would serialize all calls. So it is only
    told how a call ended, and this class lets the probes through.
    """

    def __init__(
        self,
        carrier: str,
        failure_threshold: int,
        reset_timeout_s: float,
        state_changed: Callable[[CircuitState], None] = lambda _: None,
    ) -> None:
        self._carrier = carrier
        self._reset_timeout = timedelta(seconds=reset_timeout_s)
        self._probe_lock = threading.Lock()
        self._storage = pybreaker.CircuitMemoryStorage(pybreaker.STATE_CLOSED)
        self._breaker = pybreaker.CircuitBreaker(
            fail_max=failure_threshold,
            reset_timeout=reset_timeout_s,
            state_storage=self._storage,
            throw_new_error_on_trip=False,
            listeners=[_Listener(state_changed)],
        )

    @property
    def state(self) -> CircuitState:
        """The state now: half-open once the reset timeout has passed, until a probe succeeds or fails."""
        opened_at = self._storage.opened_at
        if self._storage.state == CircuitState.OPEN and opened_at:
            is_over = datetime.now(UTC) >= opened_at + self._reset_timeout
            return CircuitState.HALF_OPEN if is_over else CircuitState.OPEN
        return CircuitState(self._storage.state)

    def refuse_if_open(self) -> None:
        """Raise the CarrierUnavailable that a call would get, so that nothing is prepared for it."""
        if self.state is CircuitState.OPEN:
            raise self._refusal()

    @contextmanager
    def call(self) -> Iterator[None]:
        """Run the block if calls are let through, else raise CarrierUnavailable; count its failure or success."""
        with self._admitted():
            try:
                yield
            except CarrierError as error:
                self._report(is_failure=error.is_carrier_failing)
                raise
            self._report(is_failure=False)

    def _admitted(self) -> AbstractContextManager[None]:
        return nullcontext() if self.state is CircuitState.CLOSED else self._probing()

    @contextmanager
    def _probing(self) -> Iterator[None]:
        if not self._probe_lock.acquire(blocking=False):
            raise self._refusal()
        try:
            # Checked under the lock: the probe before this one may just have ended.
            self.refuse_if_open()
            if self._storage.state == CircuitState.OPEN:
                self._breaker.half_open()
            yield
        finally:
            self._probe_lock.release()

    def _refusal(self) -> CarrierUnavailable:
        return CarrierUnavailable(self._carrier, "the circuit breaker is open after repeated failures")

    def _report(self, *, is_failure: bool) -> None:
        # A call that began while it was closed may end while it is open: pybreaker then refuses the report, too.
        with suppress(_Failure, pybreaker.CircuitBreakerError):
            self._breaker.call(_fail if is_failure else _succeed)


def _fail() -> NoReturn:
    raise _Failure


def _succeed() -> None:
    pass

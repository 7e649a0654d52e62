"""A circuit breaker for one service of a carrier, in one process."""

import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from enum import StrEnum
from typing import Final

from carriers.errors import CarrierError, CarrierUnavailable

# The HTTP status of a call that the carrier did not answer: none came, or a gateway's, which reached nobody.
UNANSWERED: Final = frozenset({None, 502, 503, 504})


class CircuitState(StrEnum):
    CLOSED = "closed"
    OPEN = "open"
    HALF_OPEN = "half-open"


class CircuitBreaker:
    """Lets calls through while closed, one probe at a time while half-open, and none while open.

    Failures in a row open it: those of several shops, or of calls that are no shop's, for everybody. Those of one shop
    may be due to its orders, so they open it for that shop alone, and only if the carrier answered none of them: an
    installation with a single shop must not wait for a carrier that hangs, either. Then another shop's answer closes
    it, and another's failure opens it for everybody. Where it is open for everybody, failed probes of one shop alone
    leave it open for that shop.
    """

    def __init__(
        self,
        carrier: str,
        failure_threshold: int,
        reset_timeout_s: float,
        state_changed: Callable[[CircuitState, str], None] = lambda *_: None,
    ) -> None:
        self._carrier = carrier
        self._reset_timeout_s = reset_timeout_s
        self._state_changed = state_changed
        self._lock = threading.Lock()
        self._probe_lock = threading.Lock()
        # Those in a row: the shop, and true if the carrier did not answer.
        self._failures: deque[tuple[str, bool]] = deque(maxlen=failure_threshold)
        self._state = CircuitState.CLOSED
        self._shop_id = ""  # the only shop that it is not closed for, if it is not everybody
        self._opened_at_s = 0.0

    @property
    def state(self) -> CircuitState:
        """The state now: half-open once the reset timeout has passed, until a probe succeeds or fails."""
        is_over = time.monotonic() >= self._opened_at_s + self._reset_timeout_s
        return CircuitState.HALF_OPEN if self._state is CircuitState.OPEN and is_over else self._state

    @property
    def refused_shop_id(self) -> str:
        """The only shop that it is open for, empty if that is nobody or everybody."""
        return self._shop_id if self.state is CircuitState.OPEN else ""

    def state_for(self, shop_id: str = "") -> CircuitState:
        """Return the state for a shop, or for all of them."""
        return self.state if self._is_for(shop_id) else CircuitState.CLOSED

    def refuse_if_open(self, shop_id: str = "") -> None:
        """Raise the CarrierUnavailable that a call would get, so that nothing is prepared for it."""
        if self.state_for(shop_id) is CircuitState.OPEN:
            raise self._refusal()

    @contextmanager
    def call(self, shop_id: str = "") -> Iterator[None]:
        """Run the block if calls are let through, else raise CarrierUnavailable; count its failure or success."""
        is_closed = self.state_for(shop_id) is CircuitState.CLOSED
        with nullcontext() if is_closed else self._probing(shop_id):
            try:
                yield
            except CarrierError as error:
                self._report(shop_id, error)
                raise
            self._report(shop_id, None)

    def _is_for(self, shop_id: str) -> bool:
        return self._shop_id in ("", shop_id)

    @contextmanager
    def _probing(self, shop_id: str) -> Iterator[None]:
        if not self._probe_lock.acquire(blocking=False):
            raise self._refusal()
        try:
            with self._lock:
                # Checked under the lock: the probe before this one may just have ended.
                self.refuse_if_open(shop_id)
                if self._state is CircuitState.OPEN:
                    self._become(CircuitState.HALF_OPEN, self._shop_id)
            yield
        finally:
            self._probe_lock.release()

    def _refusal(self) -> CarrierUnavailable:
        return CarrierUnavailable(self._carrier, "the circuit breaker is open after repeated failures")

    def _report(self, shop_id: str, error: CarrierError | None) -> None:
        with self._lock:
            if self._state is CircuitState.OPEN and self._is_for(shop_id):
                return  # the call began before it opened
            if error is None or not error.is_carrier_failing:
                self._failures.clear()
                self._become(CircuitState.CLOSED, "")
            else:
                self._fail(shop_id, is_unanswered=error.http_status in UNANSWERED)

    def _fail(self, shop_id: str, *, is_unanswered: bool) -> None:
        self._failures.append((shop_id, is_unanswered))
        shops = {shop for shop, _ in self._failures}
        if self._state is CircuitState.HALF_OPEN and self._is_for(shop_id):
            self._open(shop_id if shops == {shop_id} else self._shop_id)
        elif len(self._failures) < (self._failures.maxlen or 0):
            return
        elif "" in shops or len(shops) > 1:
            self._open("")
        elif all(is_silent for _, is_silent in self._failures):
            self._open(shop_id)

    def _open(self, shop_id: str) -> None:
        self._opened_at_s = time.monotonic()
        self._become(CircuitState.OPEN, shop_id)

    def _become(self, state: CircuitState, shop_id: str) -> None:
        if (state, shop_id) != (self._state, self._shop_id):
            self._state, self._shop_id = state, shop_id
            self._state_changed(state, shop_id)

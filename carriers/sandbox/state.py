"""The state that both carriers share: ledger, number ranges and faults; `perform` injects the faults."""

import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import replace

from carriers.sandbox.corruption import close
from carriers.sandbox.faults import BOTH, Fault, FaultRegistry, Kind, Operation
from carriers.sandbox.http import Response
from carriers.sandbox.ledger import Ledger

_S10_WEIGHTS = (8, 6, 4, 2, 3, 5, 9, 7)
Handler = Callable[[Fault], Response]
# A fault that buys nothing corrupts this; nothing of it is left.
_NOTHING = Response(200, "text/plain", b"")


def alpha_number(serial: int) -> str:
    """Return XU, eight digits, their check digit of the postal union's standard S10, FR."""
    digits = f"{serial % 10**8:08d}"
    remainder = 11 - sum(int(d) * w for d, w in zip(digits, _S10_WEIGHTS, strict=True)) % 11
    check = {10: 0, 11: 5}.get(remainder, remainder)
    return f"XU{digits}{check}FR"


def beta_number(serial: int) -> str:
    """Return 6A and eleven digits."""
    return f"6A{serial % 10**11:011d}"


NUMBERS = {"alpha": alpha_number, "beta": beta_number}


class State:
    """One sandbox's state, safe for threads."""

    def __init__(self, ledger: Ledger) -> None:
        self.ledger = ledger
        self.faults = FaultRegistry()
        self.closing = threading.Event()
        self._interrupted = threading.Event()
        self._requests: Counter[str] = Counter()
        self._reservations = 0
        self._lock = threading.Lock()
        # Those handed out last, in sequence from the clock's on: a restart rarely repeats one.
        self._serials = dict.fromkeys(BOTH, int(time.time()) % 10**8)

    def reset(self) -> None:
        """Forget purchases, faults and counts and interrupt what waits; tracking numbers go on."""
        with self._lock:
            self._requests.clear()
        # First: a slow purchase from before must not show up in the ledger that starts now.
        self.interrupt()
        self.faults.clear()
        self.ledger.clear()

    def interrupt(self) -> None:
        """Break off the operations that wait now."""
        with self._lock:
            interrupted, self._interrupted = self._interrupted, threading.Event()
        interrupted.set()

    def close(self) -> None:
        """Break off the operations that wait, now and later."""
        self.closing.set()
        self._interrupted.set()

    def wait(self, delay_s: float) -> bool:
        """Wait; return true at once when the sandbox is reset or closed meanwhile."""
        return self._interrupted.wait(delay_s)

    def count(self, path: str) -> None:
        with self._lock:
            self._requests[path] += 1

    def counts(self) -> dict[str, int]:
        """Return the number of requests that each path has received."""
        with self._lock:
            return dict(self._requests)

    def perform(self, operation: Operation, do: Handler, refuse: Callable[[str], Response]) -> Response:
        """Perform a valid operation, or fail it as an armed fault or its magic reference asks.

        `do` performs it and gets the fault, which may change what it writes; `refuse` returns the carrier's own
        refusal for a fault's name or an error code.
        """
        interrupted = self._interrupted  # before the pick: a reset after it must interrupt this wait
        fault = self.faults.pick(operation)
        if fault.kind is Kind.REFUSAL:
            return refuse(fault.name)
        if fault.kind is Kind.DELAY and interrupted.wait(fault.delay_s):
            return close(_NOTHING)
        response = do(fault) if fault.is_made else _NOTHING
        return replace(fault.corrupt(response), delay_s=fault.delay_s) if fault.corrupt else response

    def reservation(self) -> str:
        """Hand out alpha's reservation number: 18 digits, a new one each time."""
        with self._lock:
            self._reservations += 1
            return f"{time.time_ns() // 1_000_000:013d}{self._reservations % 100_000:05d}"

    def numbers(self, carrier: str, count: int, fault: Fault) -> list[str]:
        """Hand out tracking numbers, each a new one except under the fault `twin`, which repeats the last one."""
        with self._lock:
            last = self._serials[carrier]
            serials = [last] * count if fault.name == "twin" else range(last + 1, last + 1 + count)
            self._serials[carrier] = serials[-1]
        return list(map(NUMBERS[carrier], serials))

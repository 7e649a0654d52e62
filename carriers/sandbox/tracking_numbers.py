"""Tracking numbers in the carriers' formats, each handed out once."""

import threading
import time

_S10_WEIGHTS = (8, 6, 4, 2, 3, 5, 9, 7)
_SERIAL = {"alpha": slice(2, 10), "beta": slice(2, None)}


def alpha_number(serial: int) -> str:
    """Return XU, eight digits, their check digit of the postal union's standard S10, FR."""
    digits = f"{serial % 10**8:08d}"
    remainder = 11 - sum(int(d) * w for d, w in zip(digits, _S10_WEIGHTS, strict=True)) % 11
    check = {10: 0, 11: 5}.get(remainder, remainder)
    return f"XU{digits}{check}FR"


def beta_number(serial: int) -> str:
    """Return 6A and eleven digits."""
    return f"6A{serial % 10**11:011d}"


class NumberRange:
    """One carrier's numbers, handed out in sequence after the highest already used."""

    def __init__(self, carrier: str, highest: str | None) -> None:
        self._format = alpha_number if carrier == "alpha" else beta_number
        # Without a ledger the clock starts the sequence, so that a restart rarely repeats a number.
        self._last = int(time.time()) % 10**8 if highest is None else int(highest[_SERIAL[carrier]])
        self._lock = threading.Lock()

    def take(self) -> str:
        with self._lock:
            self._last += 1
            return self._format(self._last)

    def last(self) -> str:
        """Return the number handed out last (or the one before the first) again."""
        with self._lock:
            return self._format(self._last)

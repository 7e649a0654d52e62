"""Hashes passwords one at a time in a process, so that log-ins leave the processor to look-ups."""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import BoundedSemaphore, Lock
from typing import Any

from django.contrib.auth.hashers import PBKDF2PasswordHasher

from config.login.refusals import too_busy

AT_ONCE = 2  # one that is hashed, and one that waits for its turn

places = BoundedSemaphore(AT_ONCE)
turn = Lock()


class OneAtATimeHasher(PBKDF2PasswordHasher):
    """Django's own hasher, which raises LoginRefusedError at once where too many wait."""

    def encode(self, password: str, salt: str, iterations: int | None = None) -> str:
        with place():
            return super().encode(password, salt, iterations)


@contextmanager
def place() -> Iterator[Any]:
    """Wait for the one hash before this one; raise LoginRefusedError where another waits already."""
    if not places.acquire(blocking=False):
        raise too_busy()
    try:
        with turn:
            yield
    finally:
        places.release()

"""Hashes passwords one at a time in a process, behind look-ups: half a second of the processor each."""

import os
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

from django.contrib.auth.hashers import PBKDF2PasswordHasher

from config.login.devices import current_device
from config.login.refused import too_busy
from shops.api.concurrency import ConcurrencyLimit

NICENESS = 10  # a tenth of a busy processor, all of an idle one


def give_way() -> None:
    """Lower this thread's priority, which Linux has for each thread; the hash itself runs without Python's lock."""
    if sys.platform == "linux":
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), NICENESS)


hashes = ConcurrencyLimit(2, too_busy)  # one that is hashed, and one that waits for its turn
thread = ThreadPoolExecutor(1, "password-hash", initializer=give_way)


class OneAtATimeHasher(PBKDF2PasswordHasher):
    """Django's own hasher, which raises LoginRefusedError at once where another waits already.

    A known device waits behind strangers, and is not refused for them.
    """

    def encode(self, password: str, salt: str, iterations: int | None = None) -> str:
        with hashes.hold(bool(current_device.get())):
            started_s = time.monotonic()
            encoded = thread.submit(super().encode, password, salt, iterations).result()
            thread.submit(time.sleep, time.monotonic() - started_s)  # so that hashes take half of a processor at most
            return encoded

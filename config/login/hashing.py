"""Hashes passwords one at a time in a process, behind look-ups: half a second of the processor each."""

import os
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

from django.contrib.auth.hashers import PBKDF2PasswordHasher

NICENESS = 10  # a tenth of a busy processor, all of an idle one


def give_way() -> None:
    """Lower this thread's priority, which Linux has for each thread; the hash itself runs without Python's lock."""
    if sys.platform == "linux":
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), NICENESS)


thread = ThreadPoolExecutor(1, "password-hash", initializer=give_way)


class OneAtATimeHasher(PBKDF2PasswordHasher):
    """Django's own hasher, in that thread; how many wait for it the log-in limits (config.login.limits)."""

    def encode(self, password: str, salt: str, iterations: int | None = None) -> str:
        started_s = time.monotonic()
        encoded = thread.submit(super().encode, password, salt, iterations).result()
        thread.submit(time.sleep, time.monotonic() - started_s)  # so that hashes take half of a processor at most
        return encoded

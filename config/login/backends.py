"""Authenticates staff by password, which is hashed one at a time in a process: half a second of the processor each."""

import os
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from django.contrib.auth.backends import ModelBackend
from django.contrib.auth.hashers import PBKDF2PasswordHasher
from django.contrib.auth.models import User
from django.http import HttpRequest

from config.login.limits import count_user_name

NICENESS = 10  # a tenth of a busy processor, all of an idle one


def give_way() -> None:
    """Lower this thread's priority, which Linux has for each thread; the hash itself runs without Python's lock."""
    if sys.platform == "linux":
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), NICENESS)


thread = ThreadPoolExecutor(1, "password-hash", initializer=give_way)


class OneAtATimeHasher(PBKDF2PasswordHasher):
    """Django's own hasher, in that thread; how many wait for it the log-in limits (config.login.limits)."""

    def encode(self, password: str, salt: str, iterations: int | None = None) -> str:
        encoded, took_s = thread.submit(self.timed, password, salt, iterations).result()
        thread.submit(time.sleep, took_s)  # so that hashes take half of a processor at most
        return encoded

    def timed(self, *arguments: Any) -> tuple[str, float]:
        """Hash, and measure what that takes: with the wait for others each wait would add to those after it."""
        started_s = time.thread_time()
        return super().encode(*arguments), time.thread_time() - started_s


class StaffBackend(ModelBackend):
    """Django's backend for staff only; each attempt counts first, and costs a hash, so that no name is told."""

    def authenticate(self, request: HttpRequest | None, **credentials: Any) -> User | None:  # type: ignore[override]  # by keyword
        if request is not None and "username" in credentials:
            count_user_name(request, credentials["username"])
        return super().authenticate(request, **credentials)

    def user_can_authenticate(self, user: Any) -> bool:
        return user.is_staff and super().user_can_authenticate(user)

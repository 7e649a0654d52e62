"""Limits of log-ins, counted with the rate limit's counter before a password is hashed or a code is compared."""

from collections.abc import Callable
from contextlib import nullcontext
from functools import wraps
from typing import Any

from allauth.core import context
from django.contrib.auth.models import User
from django.http import HttpRequest

from config.login.devices import device_of, own_device
from config.login.refused import too_busy, too_many
from shops.api import throttling
from shops.api.concurrency import ConcurrencyLimit

WINDOW_S = 300
OF_ADDRESS, OF_NETWORK, OF_USER_NAME, OF_DEVICE = 20, 60, 10, 10
OF_PAGES = 3  # times as often may the page be shown, which costs 10 ms
OF_CODES = 5  # of a user: three of a million TOTP codes are right at a time
logins = ConcurrencyLimit(2, too_busy)  # one whose password is hashed, and one that comes before or after it
sign_ons = ConcurrencyLimit(2, too_busy)  # that wait for the issuer: if it hangs, whoever has a password logs in


def two_at_a_time(view: Callable[..., Any], *methods: str, places: ConcurrencyLimit = logins) -> Callable[..., Any]:
    """Let two log-ins by these methods into a view at a time, their forms read; known devices have own places."""

    @wraps(view)
    def limited(request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        with places.hold(bool(device_of(request))) if request.method in methods else nullcontext():
            return view(request, *args, **kwargs)

    return limited


def count_sender(request: HttpRequest, *, is_attempt: bool) -> None:
    """Count an attempt, or a page, of a known device, else of an address and its network; raise LoginRefusedError."""
    kind, times = ("login", 1) if is_attempt else ("login_page", OF_PAGES)
    if device := device_of(request):
        return count(f"{kind}_device", device.id, OF_DEVICE * times)
    address = throttling.client_address(request)
    count(f"{kind}_address", address, OF_ADDRESS * times)
    count(f"{kind}_network", throttling.network_address(address), OF_NETWORK * times)
    return None


def count_user_name(request: HttpRequest, username: str) -> None:
    """Count an attempt against a name, known or not, or its owner's own device; raise LoginRefusedError."""
    if device_id := own_device(request, username):
        count("login_user_device", device_id, OF_DEVICE)
    else:
        count("login_user", username, OF_USER_NAME)


def count_code(user: User) -> None:
    """Count a TOTP or recovery code, those on the user's own device apart; raise LoginRefusedError beyond the limit."""
    count("login_code", f"{user.pk} {own_device(context.request, user.get_username())}", OF_CODES)


def count(group: str, key: str, limit: int) -> None:
    usage = throttling.count(group=group, key=key, limit=limit, window_s=WINDOW_S)
    if usage.is_exceeded:
        raise too_many(usage.reset_s)

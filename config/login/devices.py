"""Known devices: browsers that have logged in before, by a signed cookie; strangers can't use up their attempts."""

import secrets
from typing import Any, Final, NamedTuple

from django.conf import settings
from django.contrib.auth import user_logged_in
from django.contrib.auth.models import User
from django.core import signing
from django.dispatch import receiver
from django.http import HttpRequest, HttpResponse

SALT: Final = "config.login.devices"
MAX_AGE_S: Final = 180 * 24 * 3600


class Device(NamedTuple):
    """A browser in which a member of staff has logged in; its id is random."""

    id: str
    username: str


def device_of(request: HttpRequest) -> Device | None:
    """Return the browser that a request came from, if it is known."""
    cookie = request.COOKIES.get(settings.DEVICE_COOKIE_NAME, "")
    try:
        return Device(*signing.loads(cookie, salt=SALT, max_age=MAX_AGE_S))
    except signing.BadSignature:
        return None


def own_device(request: HttpRequest, username: str) -> str:
    """Return the id of the request's device if it is this user's, else nothing."""
    device = device_of(request)
    return device.id if device and device.username == username else ""


@receiver(user_logged_in)
def note_device(request: HttpRequest, user: User, **kwargs: Any) -> None:
    """Let the answer to a log-in bring the cookie; a device that is known keeps its id."""
    username = user.get_username()
    request.device = Device(own_device(request, username) or secrets.token_hex(16), username)  # type: ignore[attr-defined]  # for its answer


def remember(request: HttpRequest, response: HttpResponse) -> None:
    if device := getattr(request, "device", None):
        response.set_cookie(
            settings.DEVICE_COOKIE_NAME,
            signing.dumps(device, salt=SALT),
            max_age=MAX_AGE_S,
            secure=settings.HTTPS,
            httponly=True,
            samesite="Lax",
        )

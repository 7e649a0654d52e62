"""Middleware before all that a log-in costs: it counts senders, and lets two log-ins in at a time."""

from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

from django.http import HttpRequest, HttpResponse

from config.api.admin_hosts import is_admin
from config.login.devices import current_device, recognised, remember
from config.login.limits import count_sender
from config.login.refused import LoginRefusedError, refusal_page, too_busy
from config.login.urls import ROOT
from shops.api.concurrency import ConcurrencyLimit

LOGIN = f"/{ROOT}login/"
SIGN_ON = {f"/{ROOT}sign-on/", f"/{ROOT}sign-on/back/"}  # wait for the issuer
logins = ConcurrencyLimit(2, too_busy)  # one whose password is hashed, and one that comes before or after it


def is_attempt(request: HttpRequest) -> bool:
    return request.path_info == LOGIN and request.method == "POST"


class LoginRateLimit:
    """Refuses log-ins beyond a limit before anything else is done for them."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if not is_admin(request):
            return self.get_response(request)
        with recognised(request):
            if request.path_info in {LOGIN, *SIGN_ON}:
                try:
                    count_sender(request, is_attempt=is_attempt(request))
                except LoginRefusedError as refusal:
                    return refusal_page(refusal)
            response = self.get_response(request)
            remember(request, response)
            return response


class ConcurrentLogins:
    """Lets two log-ins in at a time, once their forms are read: a form that never ends would keep a place.

    Known devices have places of their own.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        with ExitStack() as request.login_place:  # type: ignore[attr-defined]  # for the view
            return self.get_response(request)

    def process_view(self, request: HttpRequest, *args: Any) -> HttpResponse | None:
        if not (is_attempt(request) or request.path_info in SIGN_ON) or not is_admin(request):
            return None
        try:
            request.login_place.enter_context(logins.hold(bool(current_device.get())))  # type: ignore[attr-defined]  # as above
        except LoginRefusedError as refusal:
            return refusal_page(refusal)
        return None

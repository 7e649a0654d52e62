"""Middleware before all that a log-in costs: it counts senders."""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse

from config.login.devices import recognised, remember
from config.login.limits import count_sender
from config.login.refused import LoginRefusedError
from config.login.urls import ROOT

LOGIN = f"/{ROOT}login/"
SIGN_ON = {f"/{ROOT}sign-on/", f"/{ROOT}sign-on/back/"}  # wait for the issuer


def is_attempt(request: HttpRequest) -> bool:
    return request.path_info == LOGIN and request.method == "POST"


class LoginRateLimit:
    """Refuses log-ins beyond a limit before anything else is done for them."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        with recognised(request):
            if request.path_info in {LOGIN, *SIGN_ON}:
                try:
                    count_sender(request, is_attempt=is_attempt(request))
                except LoginRefusedError as refusal:
                    return refusal.response
            response = self.get_response(request)
            remember(request, response)
            return response

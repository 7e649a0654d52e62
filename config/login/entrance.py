"""Middleware before all that a log-in costs: it counts senders, and lets two log-ins in at a time."""

from collections.abc import Callable
from threading import BoundedSemaphore

from django.http import HttpRequest, HttpResponse

from config.api.hosts import is_admin
from config.login.limits import count_attempt, count_page
from config.login.refusals import LoginRefusedError, refusal_page, too_busy
from config.login.urls import ROOT

LOGIN = f"/{ROOT}login/"
AT_ONCE = 2  # in a process: one whose password is hashed, and one that comes before or after it


class Entrance:
    """Refuses log-ins beyond a limit before their form is read, which costs a tenth of showing the form again."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response
        self.places = BoundedSemaphore(AT_ONCE)

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if request.path_info != LOGIN or not is_admin(request):
            return self.get_response(request)
        try:
            return self.attempt(request) if request.method == "POST" else self.page(request)
        except LoginRefusedError as refusal:
            return refusal_page(refusal)

    def page(self, request: HttpRequest) -> HttpResponse:
        count_page(request)
        return self.get_response(request)

    def attempt(self, request: HttpRequest) -> HttpResponse:
        count_attempt(request)
        if not self.places.acquire(blocking=False):
            raise too_busy()
        try:
            return self.get_response(request)
        finally:
            self.places.release()

"""Middleware of the admin: senders that are counted, sessions that end, and the second factor."""

from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.contrib.auth import logout
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect

from config.api.errors import route
from config.login import factors
from config.login.devices import remember
from config.login.limits import count_sender
from config.login.refused import LoginRefusedError
from config.login.sessions import keep_or_end
from config.login.urls import ROOT
from shops.api import throttling
from shops.db.prepared import planned_for_values
from shops.staff.audit.models import Channel
from shops.staff.audit.recording import Actor, acting, current_actor

GetResponse = Callable[[HttpRequest], HttpResponse]
LOGIN = f"/{ROOT}login/"
SIGN_ON = {f"/{ROOT}sign-on/", f"/{ROOT}sign-on/back/"}  # wait for the issuer
# What a member of staff without a second factor may reach.
SET_UP = frozenset(
    "mfa_index mfa_activate_totp mfa_add_webauthn account_reauthenticate account_logout admin:logout".split()
)


class LoginRateLimit:
    """Refuses log-ins beyond a limit before anything else is done for them."""

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if request.path_info in {LOGIN, *SIGN_ON}:
            is_attempt = request.path_info == LOGIN and request.method == "POST"
            try:
                count_sender(request, is_attempt=is_attempt)
            except LoginRefusedError as refusal:
                return refusal.response
        response = self.get_response(request)
        remember(request, response)
        return response


class StaffSession:
    """Names the one who acts to the audit log, ends sessions that are too old, and asks for the second factor."""

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        with acting(Actor("", Channel.ADMIN, throttling.client_address(request))), planned_for_values():
            return self.get_response(request)

    def process_view(self, request: HttpRequest, *args: Any) -> HttpResponse | None:
        """Do so once the form is read and its CSRF token accepted, which need no query."""
        if not request.user.is_authenticated:
            return None
        keep_or_end(request)
        name, user_id = request.user.get_username(), request.user.pk
        current_actor.set(current_actor.get()._replace(name=name, user_id=user_id))  # until the request ends
        return ask_for_factor(request) if settings.ADMIN_MFA_REQUIRED else None


def ask_for_factor(request: HttpRequest) -> HttpResponse | None:
    """Redirect a session that has not used a second factor; None where it may go on."""
    if not request.user.is_authenticated or factors.has_used_factor(request):
        return None
    if factors.has_factor(request.user):  # it was set up in another session: this one knows the password only
        logout(request)
        return redirect("account_login")
    return None if route(request) in SET_UP else redirect("mfa_index")

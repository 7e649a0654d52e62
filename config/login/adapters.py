"""Answers what allauth asks of the service: no sign-up, secrets encrypted."""

import time
from typing import Any

from allauth.account import app_settings
from allauth.account.adapter import DefaultAccountAdapter
from allauth.account.authentication import get_authentication_records
from allauth.core import context
from allauth.core.exceptions import ImmediateHttpResponse
from allauth.mfa.adapter import DefaultMFAAdapter
from django.contrib.auth.base_user import AbstractBaseUser
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect

from config.login.backends import StaffBackend
from shops.contracts.encryption import keys

BEGUN_WITH = "log_in_begun_with"  # in the session: the hash of the password's hash, as of one that is logged in


class AccountAdapter(DefaultAccountAdapter):
    """Accounts are made in the admin, by `createsuperuser` or at a first sign-on, never by a form of their owners."""

    def pre_login(self, request: HttpRequest, user: AbstractBaseUser, **kwargs: Any) -> HttpResponse | None:
        """Note the password that the log-in begins with: the code may come a quarter of an hour later."""
        request.session[BEGUN_WITH] = user.get_session_auth_hash()
        return super().pre_login(request, user, **kwargs)  # type: ignore[no-any-return]  # allauth has no types

    def login(self, request: HttpRequest, user: AbstractBaseUser) -> None:
        """Log in, unless the user was deactivated or got another password since the log-in began."""
        is_same = request.session.pop(BEGUN_WITH, None) == user.get_session_auth_hash()
        if not (is_same and StaffBackend().user_can_authenticate(user)):
            raise ImmediateHttpResponse(redirect("account_login"))
        super().login(request, user)

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        return False

    def is_reauthentication_required(self, *, app: str, **kwargs: Any) -> bool:
        """Ask again unless the log-in itself was a moment ago: a second factor is set up right after it."""
        records = get_authentication_records(context.request, context.request.user)
        return not records or time.time() - records[-1]["at"] >= app_settings.REAUTHENTICATION_TIMEOUT


class MFAAdapter(DefaultMFAAdapter):
    """Second factors, whose secrets are encrypted with CREDENTIALS_KEYS."""

    def encrypt(self, text: str) -> str:
        return keys().encrypt(text.encode()).decode()

    def decrypt(self, encrypted_text: str) -> str:
        return keys().decrypt(encrypted_text).decode()

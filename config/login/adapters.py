"""Answers what allauth asks of the service: no sign-up, secrets encrypted."""

import time
from typing import Any

from allauth.account import app_settings
from allauth.account.adapter import DefaultAccountAdapter
from allauth.account.authentication import get_authentication_records
from allauth.core import context
from allauth.mfa.adapter import DefaultMFAAdapter
from django.http import HttpRequest

from shops.contracts.encryption import keys


class AccountAdapter(DefaultAccountAdapter):
    """Accounts are made in the admin, by `createsuperuser` or at a first sign-on, never by a form of their owners."""

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

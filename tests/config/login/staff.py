"""A member of the staff at the log-in, and the app that makes his codes."""

import time
from typing import Any, Self

from allauth.mfa.models import Authenticator
from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes
from allauth.mfa.totp.internal.auth import TOTP, format_hotp_value, generate_totp_secret, hotp_value
from django.contrib.auth.models import User
from django.test import Client

from tests.support.api import Response, client

PASSWORD = "correct horse 9"
LOGIN, CODE, FACTORS = "/admin/account/login/", "/admin/account/code/", "/admin/account/factors/"


class Staff:
    """A member of the staff with a browser of his own."""

    def __init__(self, name: str = "ada", **options: Any) -> None:
        options = {"is_staff": True, "is_superuser": True} | options
        self.user = User.objects.create_user(name, password=PASSWORD, **options)
        self.browser: Client = client()
        self.secret = ""

    def with_app(self) -> Self:
        self.secret = generate_totp_secret()
        TOTP.activate(self.user, self.secret)
        RecoveryCodes.activate(self.user)
        return self

    def code(self, periods: int = 0) -> str:
        """Return the app's code, of so many periods later."""
        return str(format_hotp_value(hotp_value(self.secret, int(time.time()) // 30 + periods)))

    def recovery_codes(self) -> list[str]:
        row = Authenticator.objects.get(user=self.user, type=Authenticator.Type.RECOVERY_CODES)
        codes: list[str] = RecoveryCodes(row).get_unused_codes()
        return codes

    def give_password(self, password: str = PASSWORD, **options: Any) -> Response:
        return give_password(self.browser, self.user.username, password, **options)

    def give_code(self, code: str, **options: Any) -> Response:
        return self.browser.post(CODE, {"code": code}, **options)

    def log_in(self) -> Self:
        """Log in with password and code, in a new browser."""
        self.browser = client()
        assert self.give_password().headers["Location"] == CODE
        assert self.give_code(self.code()).status_code == 302
        assert self.is_in()
        return self

    def is_in(self) -> bool:
        return self.browser.get("/admin/jsi18n/").status_code == 200  # the quickest of the pages, all behind one door


def give_password(browser: Client, name: str, password: str = PASSWORD, **options: Any) -> Response:
    return browser.post(LOGIN, {"login": name, "password": password}, **options)

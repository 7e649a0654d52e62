"""The pages of allauth that are served, none for signing up or e-mail addresses, and the one that sets a password."""

from collections.abc import Callable
from typing import Any

from allauth.account import views as account
from allauth.mfa.base import views as mfa
from allauth.mfa.recovery_codes import views as recovery
from allauth.mfa.totp import views as totp
from allauth.mfa.webauthn import views as passkeys
from django.db import IntegrityError
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.shortcuts import redirect
from django.urls import URLPattern, path
from django.views.decorators.http import require_http_methods, require_POST

from config.login.limits import sign_ons, two_at_a_time
from config.login.oidc import views as sign_on
from config.login.passwords import SetPassword

ROOT = "admin/account/"


def page(route: str, view: Callable[..., Any], name: str) -> URLPattern:
    return path(f"{ROOT}{route}", require_http_methods(["GET", "HEAD", "POST"])(view), name=name)


def set_up_app(request: HttpRequest) -> HttpResponseBase:
    """Set up an authenticator app; of two requests at once, as by a double click, the second finds it set up."""
    try:
        answer: HttpResponseBase = totp.activate_totp(request)
    except IntegrityError:
        return redirect("mfa_index")
    return answer


urlpatterns = [
    page("login/", two_at_a_time(account.login, "POST"), "account_login"),
    path(f"{ROOT}sign-on/", require_POST(two_at_a_time(sign_on.log_in, "POST", places=sign_ons)), name="sign_on"),
    path(f"{ROOT}sign-on/link/", require_POST(sign_on.link), name="sign_on_link"),
    page("sign-on/back/", two_at_a_time(sign_on.back, "GET", "HEAD", "POST", places=sign_ons), "sign_on_back"),
    path(f"{ROOT}logout/", require_POST(account.logout), name="account_logout"),
    page("password/<uidb64>/<token>/", SetPassword.as_view(), "account_set_password"),
    page("code/", mfa.authenticate, "mfa_authenticate"),
    page("confirm/", account.reauthenticate, "account_reauthenticate"),
    page("confirm/code/", mfa.reauthenticate, "mfa_reauthenticate"),
    page("confirm/passkey/", passkeys.reauthenticate_webauthn, "mfa_reauthenticate_webauthn"),
    page("factors/", mfa.index, "mfa_index"),
    page("factors/app/add/", set_up_app, "mfa_activate_totp"),
    page("factors/app/remove/", totp.deactivate_totp, "mfa_deactivate_totp"),
    page("factors/codes/", recovery.view_recovery_codes, "mfa_view_recovery_codes"),
    page("factors/codes/new/", recovery.generate_recovery_codes, "mfa_generate_recovery_codes"),
    page("factors/codes/download/", recovery.download_recovery_codes, "mfa_download_recovery_codes"),
    page("factors/passkeys/", passkeys.list_webauthn, "mfa_list_webauthn"),
    page("factors/passkeys/add/", passkeys.add_webauthn, "mfa_add_webauthn"),
    page("factors/passkeys/<int:pk>/edit/", passkeys.edit_webauthn, "mfa_edit_webauthn"),
    page("factors/passkeys/<int:pk>/remove/", passkeys.remove_webauthn, "mfa_remove_webauthn"),
]

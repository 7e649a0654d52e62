"""The admin's own variables, for the pages of the log-in."""

from typing import Any

from django.conf import settings
from django.contrib import admin
from django.http import HttpRequest

from config.login.urls import ROOT


def admin_site(request: HttpRequest) -> dict[str, Any]:
    if not request.path_info.startswith(f"/{ROOT}"):
        return {}
    may_link = bool(settings.OIDC_ISSUER) and request.user.is_authenticated and request.user.has_usable_password()
    sign_on = {"has_sign_on": bool(settings.OIDC_ISSUER), "may_link_sign_on": may_link}
    return admin.site.each_context(request) | sign_on

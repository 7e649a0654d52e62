"""The admin's own variables, for the pages of the log-in."""

from typing import Any

from django.contrib import admin
from django.http import HttpRequest

from config.login.urls import ROOT


def admin_site(request: HttpRequest) -> dict[str, Any]:
    return admin.site.each_context(request) if request.path_info.startswith(f"/{ROOT}") else {}

"""The admin's pages for 403 and 404, for staff; others get Django's own bare ones."""

from http import HTTPStatus

from django.contrib import admin
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.views import defaults

FORBIDDEN = ("You may not do that", "Your account lacks the permission. Whoever looks after accounts can give it.")
NOT_FOUND = ("There is nothing here", "The address is wrong, or what it led to is gone.")


def forbidden(request: HttpRequest, exception: Exception) -> HttpResponse:
    if not is_for_staff(request):
        return defaults.permission_denied(request, exception)
    return refusal(request, HTTPStatus.FORBIDDEN, *FORBIDDEN)


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    if not is_for_staff(request):
        return defaults.page_not_found(request, exception)
    return refusal(request, HTTPStatus.NOT_FOUND, *NOT_FOUND)


def is_for_staff(request: HttpRequest) -> bool:
    """Tell whether it is a page of the admin, and one that a member of staff asked for."""
    return request.path_info.startswith("/admin/") and admin.site.has_permission(request)


def refusal(request: HttpRequest, status: int, title: str, text: str) -> HttpResponse:
    context = {**admin.site.each_context(request), "title": title, "text": text}
    return TemplateResponse(request, "staff/refusal.html", context, status=status).render()

"""The admin's 400, 403, 404 and 500 pages for staff, and that of an outdated form; others get Django's plain ones."""

from http import HTTPStatus

from django.contrib import admin
from django.contrib.admin.exceptions import DisallowedModelAdminLookup
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.utils.translation import gettext
from django.views import defaults

from config.api.errors import error_response
from config.api.policies import ADMIN, is_served
from config.login.refused import page_of, rendered
from shops.api.errors.plain import UNEXPECTED
from shops.api.paths import PREFIXES
from shops.api.request_ids import current_request_id


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Say which filter a list does not have; of all else that is wrong with a request there is nothing to say."""
    if not (isinstance(exception, DisallowedModelAdminLookup) and is_for_staff(request)):
        return defaults.bad_request(request, exception)
    return error_page(request, HTTPStatus.BAD_REQUEST, gettext("Bad request"), str(exception))


def forbidden(request: HttpRequest, exception: Exception) -> HttpResponse:
    if not is_for_staff(request):
        return defaults.permission_denied(request, exception)
    text = gettext("Your account lacks the permission. Ask an administrator for it.")
    return error_page(request, HTTPStatus.FORBIDDEN, gettext("Permission denied"), text)


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    if not is_for_staff(request):
        return defaults.page_not_found(request, exception)
    text = gettext("There is nothing here: the address is wrong, or the object was deleted.")
    return error_page(request, HTTPStatus.NOT_FOUND, gettext("Page not found"), text)


def outdated_form(request: HttpRequest, reason: str = "") -> HttpResponse:
    """Answer a form whose token is not the session's, as of a page that stayed open over a log-in; ask no database."""
    text = gettext("Somebody logged in or out after it was opened. Nothing was changed: reload it and try again.")
    page = rendered(gettext("The page is out of date"), text)
    return HttpResponse(page, status=HTTPStatus.FORBIDDEN)


def failed(request: HttpRequest) -> HttpResponse:
    """Answer a failure outside every view: the API's in its shape, the admin's in the reader's language."""
    if request.path_info.startswith(PREFIXES):
        return error_response(UNEXPECTED)
    if not request.path_info.startswith(ADMIN):
        return defaults.server_error(request)
    text = gettext("It is our fault, and on record. Try again later; tell an administrator this id if it stays:")
    page = page_of(gettext("Something went wrong"), f"{text} {current_request_id()}", way_on="admin:index")
    return HttpResponse(page, status=HTTPStatus.INTERNAL_SERVER_ERROR)


def is_for_staff(request: HttpRequest) -> bool:
    """Return whether a member of staff asked for a page of the admin, under a name that serves it."""
    return request.path_info.startswith(ADMIN) and is_served(request) and admin.site.has_permission(request)


def error_page(request: HttpRequest, status: int, title: str, text: str) -> HttpResponse:
    context = {**admin.site.each_context(request), "title": title, "text": text}
    return TemplateResponse(request, "staff/error.html", context, status=status).render()

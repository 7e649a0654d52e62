"""Log-ins that are refused, and the page that says so."""

from functools import lru_cache
from http import HTTPStatus

from allauth.core.exceptions import ImmediateHttpResponse
from django.contrib import admin
from django.contrib.auth.models import AnonymousUser
from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.utils.translation import gettext, ngettext


class LoginRefusedError(ImmediateHttpResponse):
    """A log-in that is refused, with the page that allauth answers, and the seconds to wait if it was not looked at."""

    response: HttpResponse

    def __init__(self, status: HTTPStatus, title: str, text: str, *, wait_s: int = 0) -> None:
        headers = {"Retry-After": str(wait_s)} if wait_s else {}
        super().__init__(HttpResponse(rendered(title, text), status=status, headers=headers))


def too_many(wait_s: int) -> LoginRefusedError:
    minutes = -(-wait_s // 60)
    text = ngettext(
        "Wait {minutes} minute, then try again. Nothing was checked.",
        "Wait {minutes} minutes, then try again. Nothing was checked.",
        minutes,
    ).format(minutes=minutes)
    return LoginRefusedError(HTTPStatus.TOO_MANY_REQUESTS, gettext("Too many attempts"), text, wait_s=wait_s)


def too_busy() -> LoginRefusedError:
    text = gettext("Others are logging in at this moment. Try again in a few seconds. Nothing was checked.")
    return LoginRefusedError(HTTPStatus.SERVICE_UNAVAILABLE, gettext("Busy"), text, wait_s=2)


@lru_cache(maxsize=16)
def rendered(title: str, text: str) -> bytes:
    """Render a page once: rendering costs more than all else of a refusal."""
    return page_of(title, text, way_on="account_login")


def page_of(title: str, text: str, *, way_on: str) -> bytes:
    """Render a page as for a visitor, without the database, and with a link to another."""
    visitor = HttpRequest()
    visitor.META["SCRIPT_NAME"], visitor.user = "", AnonymousUser()
    context = {**admin.site.each_context(visitor), "title": title, "text": text, "way_on": way_on}
    return render_to_string("staff/refused.html", context).encode()

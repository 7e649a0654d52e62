"""Log-ins that are refused before a password is hashed, and the page that says so."""

from http import HTTPStatus

from django.contrib import admin
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse


class LoginRefusedError(Exception):
    """An attempt that is not looked at; the next one may be made `wait_s` seconds later."""

    def __init__(self, status: HTTPStatus, title: str, text: str, *, wait_s: int) -> None:
        super().__init__(title)
        self.status, self.title, self.text, self.wait_s = status, title, text, wait_s


def too_many(wait_s: int) -> LoginRefusedError:
    minutes = -(-wait_s // 60)
    text = f"Wait {minutes} minute{'' if minutes == 1 else 's'}, then try again. Nothing was checked."
    return LoginRefusedError(HTTPStatus.TOO_MANY_REQUESTS, "Too many attempts", text, wait_s=wait_s)


def too_busy() -> LoginRefusedError:
    text = "Others are logging in at this moment. Try again in a few seconds. Nothing was checked."
    return LoginRefusedError(HTTPStatus.SERVICE_UNAVAILABLE, "Busy", text, wait_s=2)


def refusal_page(request: HttpRequest, refusal: LoginRefusedError) -> HttpResponse:
    context = {**admin.site.each_context(request), "title": refusal.title, "text": refusal.text}
    page = TemplateResponse(request, "staff/refused.html", context, status=refusal.status).render()
    page["Retry-After"] = str(refusal.wait_s)
    return page

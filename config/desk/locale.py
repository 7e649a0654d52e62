"""The language and the time zone of the staff's pages; the API's answers know neither."""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse
from django.utils import timezone, translation

from config.api.admin_hosts import is_admin
from shops.staff import days


class StaffLocale:
    """Answers the admin in the language chosen on a page, else the browser's, and in STAFF_TIME_ZONE.

    Django's LocaleMiddleware leaves the thread in the language of its last request: the API's answers would follow.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if not is_admin(request):
            return self.get_response(request)
        language = translation.get_language_from_request(request)
        with translation.override(language), timezone.override(days.zone()):
            response = self.get_response(request)
        response.headers.setdefault("Content-Language", language)
        return response

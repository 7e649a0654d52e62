"""The language and the time zone of the staff's pages; the API's answers know neither."""

from collections.abc import Callable

from django.apps import apps
from django.http import HttpRequest, HttpResponse
from django.utils import timezone, translation
from django.utils.translation import gettext_lazy

from shops.staff import days


class StaffLocale:
    """Answers the admin in the language chosen on a page, else the browser's, and in STAFF_TIME_ZONE.

    Django's LocaleMiddleware leaves the thread in the language of its last request: the API's answers would follow.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        language = translation.get_language_from_request(request)
        with translation.override(language), timezone.override(days.STAFF_TIME_ZONE):
            response = self.get_response(request)
        response.headers.setdefault("Content-Language", language)
        return response


def translate_models() -> None:
    """Have the names, help texts and choices of our models translated wherever Django shows them."""
    for label in ("shops", "parcels", "labels"):
        app = apps.get_app_config(label)
        app.verbose_name = gettext_lazy(str(app.verbose_name))
        for model in app.get_models():
            names = model._meta
            names.verbose_name = gettext_lazy(str(names.verbose_name))
            names.verbose_name_plural = gettext_lazy(str(names.verbose_name_plural))
            for field in names.local_fields:
                field.verbose_name = gettext_lazy(str(field.verbose_name))
                if field.help_text:
                    field.help_text = gettext_lazy(str(field.help_text))
                if field.choices:
                    field.choices = [(value, gettext_lazy(str(text))) for value, text in field.flatchoices]

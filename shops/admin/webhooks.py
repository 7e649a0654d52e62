"""The admin's pages of webhook endpoints: made, rotated, paused, tested, enabled, revoked and replayed."""

from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from operator import methodcaller
from typing import Any

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import ValidationError
from django.core.validators import MinValueValidator
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.template.defaultfilters import truncatechars
from django.utils.text import capfirst
from django.utils.translation import gettext, gettext_lazy, gettext_noop

from shops.admin.kept import IssuedAdmin, revoked_before
from shops.models import Shop
from shops.staff.acts import Choice, Question, asked
from shops.staff.display_texts import NOTHING, badge, column
from shops.staff.exports import read_columns
from shops.staff.filters import ModeFilter, OptionFilter, of
from shops.staff.unfold_classes import AutocompleteSelectFilter, SplitDateTime
from shops.staff.worded import forms_of, worded
from shops.webhooks import endpoints
from shops.webhooks.event_types import EVENT_TYPES
from shops.webhooks.models import WebhookDelivery, WebhookEndpoint
from shops.webhooks.public_addresses import UrlError, check_url

URL_SHOWN = 40
WHY_DISABLED = forms_of(gettext_noop("it answered %s"), gettext_noop("nothing but failures for %s days"))
COLOURS = {"active": "success", "failing": "warning", "disabled": "danger", "paused": "info", "revoked": "default"}
NEEDING_STAFF = {
    "failing": (gettext_lazy("Failing"), methodcaller("failing")),
    "disabled": (gettext_lazy("Disabled"), methodcaller("disabled")),
}


class EndpointForm(forms.ModelForm[WebhookEndpoint]):
    event_types = forms.MultipleChoiceField(
        label=gettext_lazy("Event types"),
        choices=[(name, name) for name in EVENT_TYPES],
        widget=forms.CheckboxSelectMultiple,
        required=False,
        help_text=gettext_lazy("None ticked: all."),
    )

    def clean_url(self) -> str:
        url: str = self.cleaned_data["url"]
        try:
            check_url(url)
        except UrlError as error:
            raise ValidationError(capfirst(f"{error}.")) from None
        return url

    def clean_shop(self) -> Shop:
        shop: Shop = self.cleaned_data["shop"]
        try:
            endpoints.lock_room(shop)
        except endpoints.LimitError as error:
            raise ValidationError(capfirst(f"{error}.")) from None
        return shop


class ReplayForm(forms.Form):
    """The moment from which events are delivered again."""

    since = forms.SplitDateTimeField(
        widget=SplitDateTime,
        label=gettext_lazy("Events since"),
        validators=[MinValueValidator(datetime(2000, 1, 1, tzinfo=UTC))],
    )


CHOOSE_ONE = gettext_lazy("Choose one endpoint that is not revoked.")
ROTATE = Question(
    title=gettext_lazy("Rotate the secret"),
    explanation=gettext_lazy(
        "A new secret is shown, once: the shop has to set it in its receiver. The one before signs as well "
        "for 24 hours."
    ),
    none=CHOOSE_ONE,
    why_not=revoked_before,
    limit=1,
)
REVOKE = Question(
    title=gettext_lazy("Revoke webhook endpoints"),
    explanation=gettext_lazy(
        "No delivery is begun after it, and what is queued is not delivered. This cannot be undone."
    ),
    none=gettext_lazy("None: the chosen endpoints were revoked before."),
    why_not=revoked_before,
)
REPLAY = Question(
    title=gettext_lazy("Deliver everything again"),
    explanation=gettext_lazy(
        "Events that were delivered, or given up, are delivered again with the same webhook-id, in their order."
    ),
    none=REVOKE.none,
    why_not=revoked_before,
    form=ReplayForm,
)


@admin.register(WebhookEndpoint)
class WebhookEndpointAdmin(IssuedAdmin[WebhookEndpoint]):
    """Endpoints; their secret can be rotated."""

    form = EndpointForm
    coloured_state = column(gettext_lazy("state"), lambda endpoint: badge(endpoint.state, COLOURS[endpoint.state]))
    why = column(gettext_lazy("disabled reason"), lambda each: worded(each.disabled_reason, WHY_DISABLED) or NOTHING)
    short_url = column("URL", lambda endpoint: truncatechars(endpoint.url, URL_SHOWN))
    events = column(
        gettext_lazy("event types"), lambda endpoint: ", ".join(endpoint.event_types) or gettext("All types")
    )
    list_display = ("shop", "coloured_state", "short_url", "failing_since", "why", "created_at")
    list_filter = (
        *(("shop", AutocompleteSelectFilter), ModeFilter),
        of(OptionFilter, gettext_lazy("state"), "state", options=NEEDING_STAFF),
    )
    search_fields = ("id", "url", "shop__name")
    search_help_text = gettext_lazy("Id, URL or shop")
    export_columns = read_columns(__file__, "webhookendpoint")
    too_many = CHOOSE_ONE
    actions = ("send_test", "rotate", "enable", "replay", "revoke")
    change_form_outer_after_template = "shops/webhook_buttons.html"

    def get_fields(self, request: HttpRequest, obj: WebhookEndpoint | None = None) -> tuple[Any, ...]:
        if obj is None:
            return ("shop", "url", "event_types")
        chosen = "event_types" if self.has_change_permission(request, obj) else "events"
        return (*self.get_readonly_fields(request, obj), chosen, "is_paused")

    def get_readonly_fields(self, request: HttpRequest, obj: WebhookEndpoint | None = None) -> tuple[Any, ...]:
        """Make all but event types and pause read-only: another URL is another endpoint, with its own secret."""
        if obj is None:
            return ()
        times = ("failing_since", "disabled_at", "why", "previous_until", "created_at", "revoked_at")
        return ("id", "shop", "url", "coloured_state", *times)

    def get_queryset(self, request: HttpRequest) -> QuerySet[WebhookEndpoint]:
        return super().get_queryset(request).defer("encrypted_secrets")

    def issue(self, request: HttpRequest, row: WebhookEndpoint) -> tuple[WebhookEndpoint, str]:
        return endpoints.create(shop=row.shop, url=row.url, event_types=row.event_types)

    def save_model(self, request: HttpRequest, obj: WebhookEndpoint, form: Any, change: bool) -> None:  # noqa: FBT001 - Django's signature
        super().save_model(request, obj, form, change)
        if change and "is_paused" in form.changed_data and not obj.is_paused:
            endpoints.make_due(obj.id)

    def show_secret(self, request: HttpRequest, row: Any) -> HttpResponse:
        text = gettext(
            "It is shown only now: the service keeps it encrypted, to sign with. The shop's receiver verifies with it."
        )
        context = {
            "title": gettext("Secret of a webhook endpoint"),
            "heading": gettext("Copy the secret of %(endpoint)s now") % {"endpoint": row},
            "text": text,
            "kind": gettext("Secret"),
            "issued": row.secret,
            "facts": {gettext("Shop"): row.shop, "URL": row.url},
        }
        return self.page(request, "shops/issued.html", context)

    @admin.action(description=gettext_lazy("Send a test"), permissions=["change"])
    def send_test(self, request: HttpRequest, queryset: Any) -> None:
        self.for_each(request, queryset.not_revoked(), endpoints.send_test, gettext_noop("A test is queued for"))

    @admin.action(description=gettext_lazy("Enable again"), permissions=["change"])
    def enable(self, request: HttpRequest, queryset: Any) -> None:
        disabled = queryset.not_revoked().exclude(disabled_at=None)
        none = gettext_noop("none, as none of them is disabled")
        self.for_each(request, disabled, endpoints.enable, gettext_noop("Enabled:"), none)

    @asked(ROTATE, ROTATE.title)
    def rotate(self, request: HttpRequest, choice: Choice) -> HttpResponse:
        """Show the new secret; the one before signs as well for a while."""
        (endpoint,) = choice.concerned
        self.log_change(request, endpoint, "Secret rotated.")
        endpoint.secret = endpoints.rotate(endpoint)
        return self.show_secret(request, endpoint)

    @asked(REVOKE, gettext_lazy("Revoke"))
    def revoke(self, request: HttpRequest, choice: Choice) -> None:
        self.for_each(request, choice.concerned, endpoints.revoke, gettext_noop("Revoked:"))

    @asked(REPLAY, gettext_lazy("Deliver everything again since …"))
    def replay(self, request: HttpRequest, choice: Choice) -> None:
        since = choice.form.cleaned_data["since"]
        done = gettext_noop("Queued again since {since:%F %T}:")
        rows = WebhookDelivery.objects.created_since(since)
        self.for_each(request, choice.concerned, lambda each: rows.filter(endpoint=each).replay(), done, since=since)

    def for_each(
        self,
        request: HttpRequest,
        chosen: Iterable[WebhookEndpoint],
        act: Callable[[WebhookEndpoint], Any],
        done: str,
        none: str = gettext_noop("none, as they were revoked before"),
        **facts: Any,
    ) -> None:
        """Act on each endpoint, log it in English and say so in the reader's language."""
        for endpoint in chosen:
            self.log_change(request, endpoint, done.format(**facts).rstrip(":") + ".")  # nothing is done without it
            act(endpoint)
        names = ", ".join(map(str, chosen)) or gettext(none)
        text = gettext(done).format(**facts)
        messages.add_message(request, messages.SUCCESS if chosen else messages.WARNING, f"{text} {names}")

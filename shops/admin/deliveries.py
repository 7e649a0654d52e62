"""The admin's pages of webhook deliveries, each of which can be made again."""

from typing import Any

from django.contrib import admin, messages
from django.db.models import Q, QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext, gettext_lazy

from shops.staff.base import LargeTableAdmin
from shops.staff.display_texts import NOTHING, badge, column, words
from shops.staff.exports import read_columns
from shops.staff.filters import ColumnFilter, ModeFilter, MultiChoiceFilter, PeriodFilter, of
from shops.staff.unfold_classes import AutocompleteSelectFilter
from shops.webhooks.event_types import EVENT_TYPES
from shops.webhooks.models import DeliveryState, WebhookDelivery

COLOURS = {DeliveryState.QUEUED: "info", DeliveryState.DELIVERED: "success", DeliveryState.DEAD: "danger"}
TYPES = {name: name for name in EVENT_TYPES}


@admin.register(WebhookDelivery)
class WebhookDeliveryAdmin(LargeTableAdmin[WebhookDelivery]):
    """Deliveries, read-only but for replays."""

    list_display = ("event", "endpoint", "shop", "type", "subject", "coloured_state", "last_attempt", "created_at")
    list_filter = (
        *(("endpoint", AutocompleteSelectFilter), ModeFilter),
        of(MultiChoiceFilter, gettext_lazy("state"), "state", values=DeliveryState),
        of(ColumnFilter, gettext_lazy("event"), "type", column="event__type", offered=TYPES),
        PeriodFilter,
    )
    list_select_related = ("event", "endpoint", "shop")  # type: ignore[assignment]  # more than other large tables
    search_help_text = gettext_lazy("webhook-id, or the id of a parcel, label or endpoint")
    actions = ("replay",)
    export_columns = read_columns(__file__, "webhookdelivery")
    are_views_recorded = True
    fields = readonly_fields = (
        *("event", "endpoint", "shop", "type", "subject", "data", "created_at", "coloured_state", "attempts"),
        *("last_attempt_at", "answer", "last_duration_ms", "due_at", "leased_until"),
    )

    def found_by(self, text: str, *, may_see: bool) -> QuerySet[Any, Any]:
        return WebhookDelivery.objects.filter(Q(event=text) | Q(subject=text) | Q(endpoint=text)).values("pk")

    def has_replay_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("shops.change_webhookdelivery")

    @admin.action(description=gettext_lazy("Deliver again"), permissions=["replay"])
    def replay(self, request: HttpRequest, queryset: QuerySet[WebhookDelivery]) -> None:
        chosen = list(queryset)
        again = [delivery for delivery in chosen if not delivery.endpoint.revoked_at]
        for delivery in again:
            self.log_change(request, delivery, "Delivered again.")
        count = WebhookDelivery.objects.filter(id__in=[each.id for each in again]).replay()
        text = gettext("{count} of {chosen} queued again, due at once; the endpoint of any other is revoked.")
        level = messages.SUCCESS if count else messages.WARNING
        messages.add_message(request, level, text.format(count=count, chosen=len(chosen)))

    type = column(gettext_lazy("type"), lambda delivery: delivery.event.type)
    data = column(gettext_lazy("data"), lambda delivery: words(delivery.event.data))
    coloured_state = column(
        gettext_lazy("state"), lambda each: badge(DeliveryState(each.state).label, COLOURS[each.state])
    )
    # The answer's status; without an answer, the reason of the failure.
    answer = column(gettext_lazy("last answer"), lambda each: str(each.last_status or each.last_reason or NOTHING))

    @admin.display(description=gettext_lazy("last attempt"))
    def last_attempt(self, delivery: WebhookDelivery) -> str:
        return f"{delivery.attempts}{gettext(': ')}{self.answer(delivery)}" if delivery.attempts else NOTHING

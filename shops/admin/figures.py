"""The part of webhooks and contracts of the staff's first page."""

from collections.abc import Iterator

from django.http import HttpRequest
from django.utils.translation import gettext as _

from shops.contracts.models import CarrierContract
from shops.staff.base import LISTED_AT_MOST
from shops.staff.panels import Figure, Panel, Row, Tile, capped, counted, list_url, may_view
from shops.webhooks.models import DeliveryState, WebhookDelivery, WebhookEndpoint


def panels(request: HttpRequest) -> Iterator[Panel]:
    if may_view(request, "shops", "webhookdelivery"):
        dead = WebhookDelivery.objects.live().filter(state=DeliveryState.DEAD).order_by()
        count = dead[: LISTED_AT_MOST + 1].count()
        link = list_url("shops", "webhookdelivery", state=DeliveryState.DEAD)
        figure = Figure(capped(count), link, is_bad=bool(count))
        yield Tile(_("Webhook deliveries given up"), figure, _("Dead letters that are kept."))


def rows(request: HttpRequest) -> Iterator[Row]:
    """Make the queue's rows of those who may see endpoints or contracts; their tables are small."""
    endpoints, contracts = WebhookEndpoint.objects.live(), CarrierContract.objects.live()
    states, keys = ("webhooks", "webhookendpoint", "state"), ("contracts", "carriercontract", "credentials")
    for (kind, model, parameter), name, found, since, title in (
        (states, "failing", endpoints.failing(), "failing_since", _("Webhook endpoints that fail")),
        (states, "disabled", endpoints.disabled(), "disabled_at", _("Webhook endpoints that are disabled")),
        (keys, "refused", contracts.refused(), "tracking_refused_at", _("Contracts whose credentials are refused")),
        (keys, "password", contracts.with_password(), "updated_at", _("Contracts with a password, not an API key")),
    ):
        if may_view(request, "shops", model):
            link = list_url("shops", model, **{parameter: name})
            yield Row(f"{kind}-{name}", title, link, **counted(found, since))

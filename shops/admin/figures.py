"""The part of webhooks and contracts of the staff's first page."""

from collections.abc import Iterator

from django.http import HttpRequest
from django.utils.translation import gettext

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
        yield Tile(gettext("Webhook deliveries given up"), figure, gettext("Dead letters that are kept."))


def rows(request: HttpRequest) -> Iterator[Row]:
    """Make the queue's rows of those who may see endpoints or contracts; their tables are small."""
    if may_view(request, "shops", "webhookendpoint"):
        endpoints = WebhookEndpoint.objects.live()
        for state, found, since, title in (
            ("failing", endpoints.failing(), "failing_since", gettext("Webhook endpoints that fail")),
            ("disabled", endpoints.disabled(), "disabled_at", gettext("Webhook endpoints that are disabled")),
        ):
            link = list_url("shops", "webhookendpoint", state=state)
            yield Row(f"webhooks-{state}", title, link, **counted(found, since))
    if may_view(request, "shops", "carriercontract"):
        contracts = CarrierContract.objects.live()
        for name, of_contracts, since, title in (
            ("refused", contracts.refused(), "tracking_refused_at", gettext("Contracts whose credentials are refused")),
            ("password", contracts.with_password(), "updated_at", gettext("Contracts with a password, not an API key")),
        ):
            link = list_url("shops", "carriercontract", credentials=name)
            yield Row(f"contracts-{name}", title, link, **counted(of_contracts, since))

"""Revokes a webhook endpoint."""

from typing import Any

from django.core.management.base import CommandError, CommandParser

from shops.management import base
from shops.staff.audit.models import Action
from shops.staff.audit.recording import record
from shops.webhooks import endpoints
from shops.webhooks.models import WebhookEndpoint


class Command(base.Command):
    """Revoke a webhook endpoint: no delivery is begun after it."""

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("endpoint_id", metavar="ID")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            endpoint = WebhookEndpoint.objects.get(id=options["endpoint_id"])
        except WebhookEndpoint.DoesNotExist:
            raise CommandError("ID: there is no such webhook endpoint") from None
        if endpoint.revoked_at is None:
            record(Action.CHANGED, endpoint, note="Revoked.")  # first: it takes two transactions
        is_revoked = endpoints.revoke(endpoint)
        self.report_done(f"Webhook endpoint {endpoint.id} {'is revoked' if is_revoked else 'was revoked before'}.")

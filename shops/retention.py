"""Removes ended access tokens, expired sessions, replaced accounts, old events and audit entries."""

from collections.abc import Callable
from datetime import datetime
from functools import partial
from typing import Any

from django.contrib.sessions.models import Session
from django.db.models import Q, QuerySet

from shops.contracts.accounts import CarrierAccount
from shops.db import clock
from shops.models import AccessToken
from shops.staff.audit.models import AuditEntry
from shops.webhooks.endpoints import end_deliveries
from shops.webhooks.feed import forget_transactions
from shops.webhooks.models import WebhookEvent


def remove(rows: Callable[[datetime], QuerySet[Any]], *, before: datetime, batch_size: int, is_dry_run: bool) -> int:
    """Remove the rows that are older than this time in batches, or nothing in a dry run; return how many."""
    old = rows(before)
    if is_dry_run:
        return old.count()
    removed = 0
    while ids := list(old.values_list("pk", flat=True)[:batch_size]):
        _, by_model = old.filter(pk__in=ids).delete()  # none that is in use again by now
        removed += by_model.get(old.model._meta.label, 0)
    return removed


remove_tokens = partial(
    remove, lambda before: AccessToken.objects.filter(Q(revoked_at__lt=before) | Q(expires_at__lt=before))
)
remove_sessions = partial(remove, lambda before: Session.objects.filter(expire_date__lt=before))
remove_accounts = partial(remove, lambda before: CarrierAccount.objects.filter(replaced_at__lt=before))
remove_entries = partial(remove, lambda before: AuditEntry.objects.filter(at__lt=before).order_by("at"))


def remove_events(*, is_dry_run: bool, **run: Any) -> int:
    """Remove events with their deliveries, and end those that an endpoint's revocation did not meet.

    After a dump was restored on another server, put the events' order right too.
    """
    if not is_dry_run:
        end_deliveries()
        forget_transactions(WebhookEvent.objects.all())
    idle = WebhookEvent.objects.exclude(deliveries__leased_until__gt=clock.Now()).order_by("created_at")
    return remove(lambda before: idle.filter(created_at__lt=before), is_dry_run=is_dry_run, **run)

"""Removes ended access tokens, expired sessions, replaced accounts, old events and audit entries."""

from datetime import datetime
from typing import Any

from django.contrib.sessions.models import Session
from django.db.models import Q, QuerySet

from shops.db import clock
from shops.models import AccessToken, AuditEntry, CarrierAccount, WebhookEvent
from shops.webhooks.feed import forget_transactions


def remove_tokens(*, before: datetime, batch_size: int, is_dry_run: bool) -> int:
    """Remove the tokens that expired or were revoked before this time, in one statement; return how many."""
    ended = AccessToken.objects.filter(Q(revoked_at__lt=before) | Q(expires_at__lt=before))
    return ended.count() if is_dry_run else ended.delete()[0]


def remove_sessions(*, before: datetime, batch_size: int, is_dry_run: bool) -> int:
    """Remove the sessions that expired before this time; return how many."""
    expired = Session.objects.filter(expire_date__lt=before)
    return expired.count() if is_dry_run else expired.delete()[0]


def remove_accounts(*, before: datetime, batch_size: int, is_dry_run: bool) -> int:
    """Remove the credentials of carriers' accounts that contracts replaced before this time; return how many."""
    replaced = CarrierAccount.objects.filter(replaced_at__lt=before)
    return replaced.count() if is_dry_run else replaced.delete()[0]


def remove_events(*, before: datetime, batch_size: int, is_dry_run: bool) -> int:
    """Remove the events before this time with their deliveries, in batches; return how many.

    After a dump was restored on another server, it also puts the events' order right.
    """
    if not is_dry_run:
        forget_transactions()
    old = WebhookEvent.objects.filter(created_at__lt=before).exclude(deliveries__leased_until__gt=clock.Now())
    return old.count() if is_dry_run else remove_in_batches(old.order_by("created_at"), batch_size)


def remove_entries(*, before: datetime, batch_size: int, is_dry_run: bool) -> int:
    """Remove the audit log's entries from before this time, in batches; return how many."""
    old = AuditEntry.objects.filter(at__lt=before)
    return old.count() if is_dry_run else remove_in_batches(old.order_by("at"), batch_size)


def remove_in_batches(rows: QuerySet[Any], batch_size: int) -> int:
    removed = 0
    while ids := list(rows.values_list("pk", flat=True)[:batch_size]):
        _, by_model = rows.model._default_manager.filter(pk__in=ids).delete()
        removed += by_model.get(rows.model._meta.label, 0)
    return removed

"""Removes ended access tokens, expired sessions, replaced accounts, old events and audit entries."""

from datetime import datetime
from typing import Any

from django.contrib.sessions.models import Session
from django.db.models import Q, QuerySet

from shops.db import clock
from shops.models import AccessToken, AuditEntry, CarrierAccount, WebhookEvent
from shops.webhooks.feed import forget_transactions


def remove_tokens(*, before: datetime, **run: Any) -> int:
    """Remove the tokens that expired or were revoked before this time; return how many."""
    return remove(AccessToken.objects.filter(Q(revoked_at__lt=before) | Q(expires_at__lt=before)), **run)


def remove_sessions(*, before: datetime, **run: Any) -> int:
    """Remove the sessions that expired before this time; return how many."""
    return remove(Session.objects.filter(expire_date__lt=before), **run)


def remove_accounts(*, before: datetime, **run: Any) -> int:
    """Remove the credentials of carriers' accounts that contracts replaced before this time; return how many."""
    return remove(CarrierAccount.objects.filter(replaced_at__lt=before), **run)


def remove_events(*, before: datetime, is_dry_run: bool, **run: Any) -> int:
    """Remove the events before this time with their deliveries; return how many.

    After a dump was restored on another server, it also puts the events' order right.
    """
    if not is_dry_run:
        forget_transactions()
    old = WebhookEvent.objects.filter(created_at__lt=before).exclude(deliveries__leased_until__gt=clock.Now())
    return remove(old.order_by("created_at"), is_dry_run=is_dry_run, **run)


def remove_entries(*, before: datetime, **run: Any) -> int:
    """Remove the audit log's entries from before this time; return how many."""
    return remove(AuditEntry.objects.filter(at__lt=before).order_by("at"), **run)


def remove(rows: QuerySet[Any], *, batch_size: int, is_dry_run: bool) -> int:
    """Remove rows in batches, or nothing in a dry run; return how many."""
    if is_dry_run:
        return rows.count()
    removed = 0
    while ids := list(rows.values_list("pk", flat=True)[:batch_size]):
        _, by_model = rows.model._default_manager.filter(pk__in=ids).delete()
        removed += by_model.get(rows.model._meta.label, 0)
    return removed

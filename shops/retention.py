"""Removes access tokens that have ended, the staff's expired sessions, and old webhook deliveries."""

from datetime import datetime

from django.contrib.sessions.models import Session
from django.db.models import Q

from shops.models import AccessToken, WebhookDelivery


def remove_tokens(*, before: datetime, batch_size: int, is_dry_run: bool) -> int:
    """Remove the tokens that expired or were revoked before this time, in one statement; return how many."""
    ended = AccessToken.objects.filter(Q(revoked_at__lt=before) | Q(expires_at__lt=before))
    return ended.count() if is_dry_run else ended.delete()[0]


def remove_sessions(*, before: datetime, batch_size: int, is_dry_run: bool) -> int:
    """Remove the sessions that expired before this time; return how many."""
    expired = Session.objects.filter(expire_date__lt=before)
    return expired.count() if is_dry_run else expired.delete()[0]


def remove_deliveries(*, before: datetime, batch_size: int, is_dry_run: bool) -> int:
    """Remove the webhook deliveries of events before this time, in batches; return how many."""
    old = WebhookDelivery.objects.filter(created_at__lt=before, leased_until=None)
    if is_dry_run:
        return old.count()
    removed = 0
    while ids := list(old.order_by("created_at").values_list("id", flat=True)[:batch_size]):
        removed += WebhookDelivery.objects.filter(id__in=ids).delete()[0]
    return removed

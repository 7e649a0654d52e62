"""Removes access tokens that are of no use any more, and the staff's expired sessions."""

from datetime import datetime

from django.contrib.sessions.models import Session
from django.db.models import Q

from shops.models import AccessToken


def remove_tokens(*, before: datetime, batch_size: int, is_dry_run: bool) -> int:
    """Remove the tokens that expired or were revoked before this; return how many. They are few: one statement."""
    useless = AccessToken.objects.filter(Q(revoked_at__lt=before) | Q(expires_at__lt=before))
    return useless.count() if is_dry_run else useless.delete()[0]


def remove_sessions(*, before: datetime, batch_size: int, is_dry_run: bool) -> int:
    """Remove the sessions that expired before this; return how many."""
    expired = Session.objects.filter(expire_date__lt=before)
    return expired.count() if is_dry_run else expired.delete()[0]

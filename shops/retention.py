"""Removes access tokens that have ended, and the staff's expired sessions."""

from datetime import datetime

from django.contrib.sessions.models import Session
from django.db.models import Q

from shops.models import AccessToken


def remove_tokens(*, before: datetime, batch_size: int, is_dry_run: bool) -> int:
    """Remove the tokens that expired or were revoked before this time, in one statement; return how many."""
    ended = AccessToken.objects.filter(Q(revoked_at__lt=before) | Q(expires_at__lt=before))
    return ended.count() if is_dry_run else ended.delete()[0]


def remove_sessions(*, before: datetime, batch_size: int, is_dry_run: bool) -> int:
    """Remove the sessions that expired before this time; return how many."""
    expired = Session.objects.filter(expire_date__lt=before)
    return expired.count() if is_dry_run else expired.delete()[0]

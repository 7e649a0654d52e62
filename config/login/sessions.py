"""Sessions of staff, which end an hour after the last request and twelve hours after the log-in."""

import time
from typing import Any

from django.conf import settings
from django.contrib.auth import SESSION_KEY, logout, user_logged_in
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session
from django.dispatch import receiver
from django.http import HttpRequest
from django.utils import timezone

TOUCHED_EVERY_S = 60  # an idle session's end is this exact; not every page writes


@receiver(user_logged_in)
def note_beginning(request: HttpRequest, **kwargs: Any) -> None:
    request.session["began_at"] = int(time.time())


def keep_or_end(request: HttpRequest) -> None:
    """End a session SESSION_MAX_AGE_S after the log-in; note from time to time that it is in use."""
    now_s, session = int(time.time()), request.session
    if now_s - session.get("began_at", 0) >= settings.SESSION_MAX_AGE_S:
        logout(request)
    elif now_s - session.get("seen_at", 0) >= TOUCHED_EVERY_S:
        session["seen_at"] = now_s  # saved, it lasts for another SESSION_COOKIE_AGE


def end_sessions(user: User) -> None:
    """End a user's sessions. A session names its user in its content only, and staff have few."""
    for session in Session.objects.filter(expire_date__gt=timezone.now()).iterator():
        if session.get_decoded().get(SESSION_KEY) == str(user.pk):
            session.delete()

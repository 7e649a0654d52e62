"""The morning's e-mail: the queue's rows, once a day, to those of the staff who want it."""

import logging
from collections.abc import Callable
from datetime import date
from smtplib import SMTPException, SMTPRecipientsRefused
from typing import Any, Final

from django.conf import settings
from django.contrib.auth.models import User
from django.core import mail
from django.http import HttpRequest
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils import formats, timezone, translation
from django.utils.translation import gettext as _

from config.desk import queue
from shops.db import clock
from shops.staff import days
from shops.staff.audit.models import Action
from shops.staff.audit.recording import record
from shops.staff.morning import MorningMail

HOUR: Final = 8  # in STAFF_TIME_ZONE
logger = logging.getLogger("service.work")


def send(is_stopping: Callable[[], bool]) -> int:
    """Send today's e-mails that are due; return their number. With the mail server away they wait for the next run."""
    now, sent = clock.now().astimezone(days.STAFF_TIME_ZONE), 0
    if not settings.EMAIL_HOST or now.hour < HOUR:
        return 0
    users = User.objects.filter(is_active=True, is_staff=True).exclude(email="")
    due = MorningMail.objects.filter(sent_on__lt=now.date(), user__in=users).select_related("user")
    try:
        for wanted in due:
            if is_stopping():
                break
            sent += deliver(wanted, now.date())
    except (OSError, SMTPException) as error:
        logger.warning("morning e-mails wait for the mail server", extra={"reason": type(error).__name__})
    return sent


def deliver(wanted: MorningMail, day: date) -> bool:
    """Send one e-mail, if there is anything to do and no other process does; raise what the mail server does."""
    if not wanted.claim(day):
        return False
    with translation.override(wanted.language), timezone.override(days.STAFF_TIME_ZONE):
        message = written(wanted.user, day)
    try:
        return bool(message and message.send())
    except SMTPRecipientsRefused:
        extra = {"user_id": wanted.pk, "reason": "SMTPRecipientsRefused"}
        logger.warning("morning e-mail refused until tomorrow", extra=extra)
        return False
    except (OSError, SMTPException):
        wanted.release()
        raise


def written(user: User, day: date) -> mail.EmailMessage | None:
    """Write the rows that a user may see and that have anything to do: counts and links, and nobody's data."""
    request = HttpRequest()
    request.user = user
    rows = [row for row in queue.rows(request) if row.count]
    if not rows:
        return None
    context = {"rows": rows, "site": settings.ADMIN_URL.rstrip("/"), "first_page": reverse("admin:index")}
    subject = _("To do on %(day)s") % {"day": formats.date_format(day, "DATE_FORMAT")}
    return mail.EmailMessage(subject, render_to_string("staff/morning.txt", context), to=[user.email])


def choice(request: HttpRequest) -> dict[str, Any]:
    """Return what the first page says of the e-mail; nothing where there is no mail server."""
    if not settings.EMAIL_HOST:
        return {}
    return {"morning": {"is_wanted": MorningMail.objects.filter(user=request.user.pk).exists(), "hour": HOUR}}


@queue.of_first_page
def choose(request: HttpRequest) -> None:
    """Begin with tomorrow's e-mail, or stop them."""
    user = request.user
    assert isinstance(user, User)  # a view of the staff's
    wants = request.POST.get("do") == "send"
    if wants:
        chosen = {"language": translation.get_language(), "sent_on": days.today()}
        is_changed = MorningMail.objects.get_or_create(user=user, defaults=chosen)[1]
    else:
        is_changed = bool(MorningMail.objects.filter(user=user).delete()[0])
    if is_changed:
        record(Action.CHANGED, user, changes={"morning_mail": [not wants, wants]})

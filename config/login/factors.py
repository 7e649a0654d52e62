"""Second factors: which sessions have used one, and the reset of a lost one."""

import logging
import time
from datetime import timedelta
from typing import Any

from allauth.account.authentication import get_authentication_records
from allauth.account.internal.flows.login import clear_authentication_records, record_authentication
from allauth.mfa import app_settings
from allauth.mfa.models import Authenticator
from allauth.mfa.signals import authenticator_added, authenticator_removed
from django.contrib.auth.models import AbstractBaseUser, User
from django.db import transaction
from django.dispatch import receiver
from django.http import HttpRequest

from config.login.sessions import end_sessions
from shops.db import clock
from shops.staff.acts import may_still
from shops.staff.audit.models import Action, AuditEntry
from shops.staff.audit.recording import record

FACTOR_METHODS = {"mfa", "socialaccount"}  # the latter: whoever issues the sign-on asks for factors
FACTORS = (Authenticator.Type.TOTP, Authenticator.Type.WEBAUTHN)
ASKED_FOR = timedelta(days=1)  # after it a reset has to be asked for anew
# What the audit log has of both steps, which two persons take.
ASKED, RESET = {"second_factor": [None, "reset asked for"]}, {"second_factor": ["reset asked for", "reset"]}
logger = logging.getLogger("service.login")


def has_used_factor(request: HttpRequest) -> bool:
    """Return whether this session's user gave a second factor or set one up in it, or came by the sign-on."""
    return any(record["method"] in FACTOR_METHODS for record in get_authentication_records(request, request.user))


def has_factor(user: Any) -> bool:
    return bool(Authenticator.objects.filter(user_id=user.pk, type__in=FACTORS).exists())


def reset_by_two(user: User, *, by: str) -> bool:
    """Reset a user's factors if a colleague asked for it within a day, else ask; return whether they are reset."""
    last = AuditEntry.about(user).filter(changes__in=[ASKED, RESET], at__gt=clock.now() - ASKED_FOR).first()
    own_name = user.get_username()
    asker = last.actor if last and last.changes == ASKED else ""
    if asker not in {"", by, own_name} and by != own_name and may_still(asker, "auth.change_user"):
        reset(user)
        return True
    record(Action.CHANGED, user, changes=ASKED, note="Reset of the second factor asked for.")
    return False


@transaction.atomic
def reset(user: User) -> int:
    """Remove a user's factors and recovery codes and end all his sessions; return the number of factors."""
    count = int(Authenticator.objects.filter(user=user, type__in=FACTORS).count())
    Authenticator.objects.filter(user=user).delete()
    end_sessions(user)
    record(Action.CHANGED, user, changes=RESET, note=f"Second factor reset ({count} removed), sessions ended.")
    logger.warning("second factors reset", extra={"user_id": user.pk, "count": count})
    return count


@receiver(authenticator_added)
def on_added(request: HttpRequest, user: AbstractBaseUser, authenticator: Authenticator, **kwargs: Any) -> None:
    """Note that the session has used the new factor, whose first code is taken with it."""
    if authenticator.type not in FACTORS:
        return
    if authenticator.type == Authenticator.Type.TOTP:
        authenticator.data["last_period"] = int(time.time()) // app_settings.TOTP_PERIOD
        authenticator.save(update_fields=["data"])
    record_authentication(request, user, "mfa", id=authenticator.pk, type=authenticator.type)


@receiver(authenticator_removed)
def on_removed(request: HttpRequest, user: AbstractBaseUser, **kwargs: Any) -> None:
    """Lead the owner of no factor to set one up again."""
    if not has_factor(user):
        clear_authentication_records(request)

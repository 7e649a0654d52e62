"""Records log-ins and changes of the own second factor in the audit log."""

from typing import Any

from allauth.account.authentication import get_authentication_records
from allauth.mfa.models import Authenticator
from allauth.mfa.signals import authentication_failed, authenticator_added, authenticator_removed, authenticator_reset
from django.contrib import messages
from django.contrib.auth import user_logged_in, user_login_failed
from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.dispatch import Signal, receiver
from django.http import HttpRequest
from django.utils.translation import gettext

from shops.staff.audit.models import Action, AuditEntry, Channel
from shops.staff.audit.recording import acting, current_actor, record
from shops.staff.panels import moment

UNKNOWN = "(unknown name)"
MAX_CHANGES = 5
CHANGES = {authenticator_added: "added", authenticator_removed: "removed", authenticator_reset: "made anew"}


def record_for(user: User | None, action: Action, **details: Any) -> None:
    """Record what happened at the log-in, where the request has no user yet."""
    name, user_id = (user.get_username(), user.pk) if user else (UNKNOWN, None)
    with acting(current_actor.get()._replace(name=name, channel=Channel.ADMIN, user_id=user_id)):
        record(action, user, **details)


@receiver(user_logged_in)
def on_log_in(request: HttpRequest, user: User, **kwargs: Any) -> None:
    for entry in changes_by_others(user):
        told = entry.details.get("note") or gettext("Changed: {value}.").format(value=", ".join(entry.changes))
        text = gettext("Your account, by {actor}, {at}: {told}")
        text = text.format(actor=entry.actor, at=moment(entry.at), told=told)
        messages.warning(request, text, fail_silently=True)
    ways = {record["method"] for record in get_authentication_records(request, user)}
    record_for(user, Action.SIGNED_IN, **({"reason": "sign-on"} if "socialaccount" in ways else {}))


def changes_by_others(user: User) -> QuerySet[AuditEntry]:
    """Find what others have changed of an account since its owner's last log-in, the oldest first."""
    own = AuditEntry.about(user)
    last = own.filter(action=Action.SIGNED_IN).values_list("pk", flat=True).first() or 0
    others = own.filter(action=Action.CHANGED, pk__gt=last).exclude(actor__in=[user.get_username(), UNKNOWN])
    return others.order_by("id")[:MAX_CHANGES]


@receiver(user_login_failed)
def on_wrong_password(credentials: dict[str, Any], **kwargs: Any) -> None:
    """Name the user, if the name is one: any other text may be a password that was typed into the wrong box."""
    user = User.objects.filter(username=credentials.get("username", "")).first()
    record_for(user, Action.SIGN_IN_FAILED, reason="password")


@receiver(authentication_failed)
def on_wrong_code(user: User, authenticator: Authenticator, **kwargs: Any) -> None:
    record_for(user, Action.SIGN_IN_FAILED, reason=str(authenticator.type))


@receiver([*CHANGES])
def on_change(signal: Signal, user: User, authenticator: Authenticator, **kwargs: Any) -> None:
    record(Action.CHANGED, user, note=f"Second factor {CHANGES[signal]}: {authenticator.type}.")

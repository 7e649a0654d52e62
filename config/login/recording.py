"""Records log-ins and changes of the own second factor in the audit log."""

from typing import Any

from allauth.mfa.models import Authenticator
from allauth.mfa.signals import authentication_failed, authenticator_added, authenticator_removed, authenticator_reset
from django.contrib.auth import user_logged_in, user_login_failed
from django.contrib.auth.models import User
from django.dispatch import receiver

from shops.audit.models import Action, AuditEntry, Channel
from shops.audit.recording import acting, current_actor, record

MAX_NAME = AuditEntry._meta.get_field("actor").max_length


def record_for(name: str, action: Action, user: User | None = None, **details: Any) -> None:
    """Record what happened with the name that was given at the log-in, where the request has no user yet."""
    with acting(current_actor.get()._replace(name=name[:MAX_NAME], channel=Channel.ADMIN)):
        record(action, user, **details)


@receiver(user_logged_in)
def on_log_in(user: User, **kwargs: Any) -> None:
    record_for(user.get_username(), Action.SIGNED_IN, user)


@receiver(user_login_failed)
def on_wrong_password(credentials: dict[str, Any], **kwargs: Any) -> None:
    record_for(str(credentials.get("username", "")), Action.SIGN_IN_FAILED, reason="password")


@receiver(authentication_failed)
def on_wrong_code(user: User, authenticator: Authenticator, **kwargs: Any) -> None:
    record_for(user.get_username(), Action.SIGN_IN_FAILED, user, reason=str(authenticator.type))


@receiver(authenticator_added)
def on_added(user: User, authenticator: Authenticator, **kwargs: Any) -> None:
    record(Action.CHANGED, user, note=f"Second factor added: {authenticator.type}.")


@receiver(authenticator_removed)
def on_removed(user: User, authenticator: Authenticator, **kwargs: Any) -> None:
    record(Action.CHANGED, user, note=f"Second factor removed: {authenticator.type}.")


@receiver(authenticator_reset)
def on_reset(user: User, authenticator: Authenticator, **kwargs: Any) -> None:
    record(Action.CHANGED, user, note=f"Second factor made anew: {authenticator.type}.")

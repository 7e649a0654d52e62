"""Adds entries to the audit log, with the one who acts now."""

import hmac
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from hashlib import sha256
from typing import Any, NamedTuple

from django.conf import settings
from django.db.models import Model

from shops.audit.models import Action, AuditEntry, Channel

CUSTOMER_KEY = b"customer of an audit entry"


class Actor(NamedTuple):
    """The one who acts: a member of staff, an operator or the background work."""

    name: str
    channel: Channel
    address: str = ""


BACKGROUND_WORK = Actor("work", Channel.WORK)  # begins what no request and no command has begun
current_actor: ContextVar[Actor] = ContextVar("current_actor", default=BACKGROUND_WORK)


@contextmanager
def acting(actor: Actor) -> Iterator[None]:
    """Name the actor of the entries that are recorded inside."""
    token = current_actor.set(actor)
    try:
        yield
    finally:
        current_actor.reset(token)


def record(
    action: Action,
    on: Model | None = None,
    *,
    shop_id: str = "",
    customer_email: str | None = "",
    changes: Mapping[str, list[Any]] | None = None,
    **details: Any,
) -> AuditEntry:
    """Add an entry about an object; `changes` maps a field to its old and new value, as JSON has them."""
    actor = current_actor.get()
    return AuditEntry.objects.create(
        actor=actor.name,
        channel=actor.channel,
        address=actor.address,
        action=action,
        shop_id=shop_id or getattr(on, "shop_id", ""),
        object_type=on._meta.label_lower if on else "",
        object_id=str(on.pk) if on else "",
        customer=customer_digest(customer_email, settings.SECRET_KEY) if customer_email else "",
        changes=changes or {},  # type: ignore[misc]  # a JSON value
        details=details,
    )


def customer_digests(email: str) -> list[str]:
    """Return the digests that entries about a customer may have, of the key in use and of those before it."""
    return [customer_digest(email, key) for key in (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS)]


def customer_digest(email: str, key: str) -> str:
    derived = hmac.digest(key.encode(), CUSTOMER_KEY, sha256)
    return hmac.digest(derived, email.strip().lower().encode(), sha256).hex()

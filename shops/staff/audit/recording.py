"""Adds entries to the audit log, with the one who acts now, and a line to the service's log for each."""

import hmac
import json
import logging
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial
from hashlib import sha256
from typing import Any, NamedTuple

from django.conf import settings
from django.db import transaction
from django.db.models import CharField, Func, Model, Value

from shops.staff.audit.models import Action, AuditEntry, Channel

CUSTOMER_KEY = b"customer of an audit entry"
logger = logging.getLogger("service.audit")


class Actor(NamedTuple):
    """The one who acts: a member of staff, an operator or the background work."""

    name: str
    channel: Channel
    address: str = ""
    user_id: int | None = None

    def columns(self) -> dict[str, str]:
        """Return what an entry says of the one who acts, by column."""
        return {"actor": self.name, "channel": str(self.channel), "address": self.address}


class Named(Func):
    """Names the one who acts to PostgreSQL, whose trigger takes an entry's actor from there alone.

    Its own value is empty: the column has no room for the setting's.
    """

    output_field = CharField()
    template = "left(set_config('audit.actor', %(expressions)s, true), 0)"

    def __init__(self, actor: Actor) -> None:
        super().__init__(Value(json.dumps(actor.columns()), CharField()))
        self._name = actor.name

    def as_sqlite(self, compiler: Any, connection: Any, **extra_context: Any) -> Any:
        return "%s", [self._name]


class Shown(NamedTuple):
    """A row that a list showed: its id, and the e-mail of its customer."""

    id: str
    customer_email: str


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


def record(  # noqa: PLR0913 - an entry's facts, by keyword
    action: Action,
    on: Model | None = None,
    *,
    shop_id: str = "",
    customer_email: str | None = "",
    changes: Mapping[str, list[Any]] | None = None,
    shown: Iterable[Shown] = (),
    **details: Any,
) -> AuditEntry:
    """Add an entry about an object or rows of a list; `changes` are old and new values by field, as JSON has them."""
    actor, rows = current_actor.get(), list(shown)
    if rows:
        details["shown"] = [row.id for row in rows]
    entry = AuditEntry(
        **actor.columns(),
        action=action,
        shop_id=shop_id or getattr(on, "shop_id", ""),
        object_type=on._meta.label_lower if on else "",
        object_id=str(on.pk) if on else "",
        customer=customer_digest(customer_email, settings.SECRET_KEY) if customer_email else "",
        changes=changes or {},  # type: ignore[misc]  # a JSON value
        details=details,
    )
    emails = {row.customer_email for row in rows} - {""}
    entry.shown_customers = [customer_digest(email, settings.SECRET_KEY) for email in emails]
    entry.actor = Named(actor)
    entry.save(force_insert=True)
    entry.actor = actor.name
    transaction.on_commit(partial(log, entry, actor))
    return entry


def log(entry: AuditEntry, actor: Actor) -> None:
    """Log an entry, so that one which is added, or missing, without us is seen; a command has no log."""
    if actor.channel == Channel.COMMAND:
        return
    facts = {"entry": entry.pk, "action": str(entry.action), "object_type": entry.object_type}
    who = {"channel": str(actor.channel), "user_id": actor.user_id, "shop_id": entry.shop_id}
    logger.info("audit entry", extra=facts | who)


def customer_digests(email: str) -> list[str]:
    """Return the digests that entries about a customer may have, of the key in use and of those before it."""
    return [customer_digest(email, key) for key in (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS)]


def customer_digest(email: str, key: str) -> str:
    derived = hmac.digest(key.encode(), CUSTOMER_KEY, sha256)
    return hmac.digest(derived, email.strip().lower().encode(), sha256).hex()

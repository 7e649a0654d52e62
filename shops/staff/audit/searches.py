"""Records searches by what they found: a text that was typed may be a person's or a secret, so none is kept."""

from collections.abc import Iterable
from typing import Any

from shops.models import AccessToken
from shops.staff.audit.models import Action, AuditEntry
from shops.staff.audit.recording import Shown, record


def record_search(text: str, shown: Iterable[Shown], *, hits: int, **details: Any) -> AuditEntry:
    """Add an entry about a search; an access token that was typed is named by its id."""
    if token := AccessToken.objects.typed(text):
        return record(Action.SEARCHED, token, kind="token", hits=hits, **details)
    email = text.strip() if "@" in text else ""
    kind = "e-mail" if email else "text"
    return record(Action.SEARCHED, customer_email=email, shown=shown, kind=kind, hits=hits, **details)

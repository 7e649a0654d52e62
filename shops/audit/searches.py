"""Records searches: the text itself only where it is no personal data."""

import re
from typing import Any

from shops.audit.models import Action, AuditEntry
from shops.audit.recording import record
from shops.phones import NEIGHBOURS, fits, plain

# Ids and numbers have digits and no spaces inside a word; names, streets and e-mails are something else.
IDENTIFIER = re.compile(r"#?[A-Za-z0-9_-]*[0-9][A-Za-z0-9_-]*")
POSTAL_CODE = re.compile(r"[0-9]{4,5}")
MIN_PHONE_DIGITS = 8


def record_search(text: str, *, hits: int, of: str) -> AuditEntry:
    """Add an entry about a search of rows of a kind, such as `parcels.parcel`."""
    kind = kind_of(text)
    shown: dict[str, Any] = {"text": text} if kind == "identifier" else {}
    email = text.strip() if kind == "e-mail" else ""
    return record(Action.SEARCHED, customer_email=email, of=of, kind=kind, hits=hits, **shown)


def kind_of(text: str) -> str:
    """Tell an e-mail, a phone number and an identifier from any other text; a doubt counts as personal."""
    if "@" in text:
        return "e-mail"
    if is_phone(text):
        return "phone"
    is_identifier = IDENTIFIER.fullmatch(text.strip()) and not POSTAL_CODE.fullmatch(text.strip())
    return "identifier" if is_identifier else "text"


def is_phone(text: str) -> bool:
    digits = re.sub(r"\D", "", text)
    if len(digits) < MIN_PHONE_DIGITS or re.search(r"[A-Za-z]", text):
        return False
    return digits.startswith("0") or any(fits(plain(text), country) for country in NEIGHBOURS)

"""The ``Idempotency-Key`` header, and the digest by which two bodies are the same."""

import hashlib
import re
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import orjson

from shops.api.errors.coded import IDEMPOTENCY_KEY_INVALID
from shops.api.errors.exceptions import ApiError

PRINTABLE = re.compile(r"[ -~]{1,255}")
# From the purchase; one whose outcome is unknown, in progress or to be decided is kept for ever.
KEYS_KEPT = timedelta(days=30)


@dataclass(frozen=True)
class IdempotencyKey:
    """A key with the digest of the body it came with."""

    value: str
    body_digest: str


def read_key(header: str | None) -> str | None:
    """Read the header, None where there is none; quotes around it are ignored. Raise ApiError."""
    if header is None:
        return None
    value = header[1:-1] if len(header) > 1 and header[0] == header[-1] == '"' else header
    if not PRINTABLE.fullmatch(value):
        raise ApiError(IDEMPOTENCY_KEY_INVALID)
    return value


def digest(body: Any) -> str:
    """Return the SHA-256 of a canonical JSON value: the order of keys makes no difference."""
    return hashlib.sha256(orjson.dumps(body, option=orjson.OPT_SORT_KEYS)).hexdigest()


def canonical(value: Any) -> Any:
    """Write each whole number of a JSON value as an integer: ``1`` and ``1.0`` are the same, and both are read."""
    if isinstance(value, dict):
        return {name: canonical(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [canonical(inner) for inner in value]
    if isinstance(value, float) and value.is_integer() and -(2**63) <= value < 2**64:
        return int(value)
    return value

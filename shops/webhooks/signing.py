"""Secrets and signatures of Standard Webhooks 1.0."""

import base64
import hashlib
import hmac
import secrets
from collections.abc import Iterable

PREFIX = "whsec_"
SECRET_BYTES = 32  # the standard allows 24 to 64


def new_secret() -> str:
    return PREFIX + base64.b64encode(secrets.token_bytes(SECRET_BYTES)).decode()


def sign(message_id: str, sent_at: int, body: bytes, *, keys: Iterable[str]) -> str:
    """Return the `webhook-signature` header: one signature for each secret, separated by spaces."""
    content = f"{message_id}.{sent_at}.".encode() + body
    return " ".join(signature(content, key) for key in keys)


def signature(content: bytes, secret: str) -> str:
    key = base64.b64decode(secret.removeprefix(PREFIX))
    return "v1," + base64.b64encode(hmac.digest(key, content, hashlib.sha256)).decode()

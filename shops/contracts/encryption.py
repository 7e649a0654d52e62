"""Encrypts credentials and labels' receipts, with keys that rotate; each secret is bound to its row."""

from functools import cache
from typing import Any

import orjson
from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from django.conf import settings


class UnreadableSecretError(Exception):
    """None of CREDENTIALS_KEYS opens the secret, or it belongs to another row."""


def encrypt(secret: dict[str, Any], *, row_id: str) -> str:
    """Encrypt with the newest key."""
    return keys().encrypt(orjson.dumps({"row": row_id, "secret": secret})).decode()


def decrypt(ciphertext: str, *, row_id: str) -> dict[str, Any]:
    """Decrypt with the key that fits; raise UnreadableSecretError."""
    try:
        content = orjson.loads(keys().decrypt(ciphertext))
    except InvalidToken:
        raise UnreadableSecretError(f"none of CREDENTIALS_KEYS opens the credentials of {row_id}") from None
    if content["row"] != row_id:
        raise UnreadableSecretError(f"the credentials in {row_id} are another row's")
    secret: dict[str, Any] = content["secret"]
    return secret


def keys() -> MultiFernet:
    return keyring(tuple(settings.CREDENTIALS_KEYS))


@cache
def keyring(fernet_keys: tuple[str, ...]) -> MultiFernet:
    return MultiFernet([Fernet(key) for key in fernet_keys])

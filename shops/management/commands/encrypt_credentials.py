"""Encrypts all secrets in the database with the newest key.

Run it between putting a new key first in CREDENTIALS_KEYS and removing the old one.
"""

from collections.abc import Callable
from typing import Any

from allauth.mfa.models import Authenticator
from cryptography.fernet import InvalidToken
from django.core.management.base import CommandError
from django.db import models, transaction

from shops.contracts.accounts import CarrierAccount
from shops.contracts.encryption import UnreadableSecretError, decrypt, encrypt, keys
from shops.contracts.models import CarrierContract
from shops.management import base
from shops.staff.audit.models import Action
from shops.staff.audit.recording import record
from shops.webhooks.models import WebhookEndpoint

ENCRYPTED: tuple[tuple[type[models.Model], str], ...] = (
    (CarrierContract, "encrypted_credentials"),
    (CarrierAccount, "encrypted_credentials"),
    (WebhookEndpoint, "encrypted_secrets"),
)


class Command(base.Command):
    """Encrypt all secrets in the database with the first of CREDENTIALS_KEYS; print how many."""

    def handle(self, *args: Any, **options: Any) -> None:
        with transaction.atomic():
            count = sum(encrypt_again(model, column, self.report_done) for model, column in ENCRYPTED)
            count += encrypt_factors_again()
            record(Action.CHANGED, note=f"{count} secrets encrypted with the newest key.")
            self.print(str(count))


def encrypt_again(model: type[models.Model], column: str, tell: Callable[[str], None]) -> int:
    """Encrypt a column of all rows; return how many. Raise CommandError, which undoes everything.

    A replaced account or a revoked endpoint that no key opens is left, and told: nobody can give its secret again.
    """
    rows = list(model._default_manager.order_by("pk").select_for_update(no_key=True))  # as `work` locks them
    count = 0
    for row in rows:
        try:
            secret = decrypt(getattr(row, column), row_id=row.pk)
        except UnreadableSecretError as error:
            if getattr(row, "replaced_at", None) or getattr(row, "revoked_at", None):
                tell(f"{error}; it is over, and left")
                continue
            raise CommandError(f"{error}; nothing was changed") from None
        setattr(row, column, encrypt(secret, row_id=row.pk))
        row.save(update_fields=[column])
        count += 1
    return count


def encrypt_factors_again() -> int:
    """Do the same with the secrets of authenticator apps and recovery codes, which allauth keeps."""
    rows = list(Authenticator.objects.select_for_update(no_key=True).exclude(type=Authenticator.Type.WEBAUTHN))
    for row in rows:
        (name,) = row.data.keys() & {"secret", "seed"}
        try:
            row.data[name] = keys().rotate(row.data[name]).decode()
        except InvalidToken:
            message = f"none of CREDENTIALS_KEYS opens the second factor {row.pk}; nothing was changed"
            raise CommandError(message) from None
        row.save(update_fields=["data"])
    return len(rows)

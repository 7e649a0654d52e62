"""Encrypts all secrets in the database with the newest key."""

from typing import Any

from django.core.management.base import CommandError
from django.db import models, transaction

from shops.contracts.encryption import UnreadableSecretError, decrypt, encrypt
from shops.contracts.models import CarrierContract
from shops.management import base
from shops.webhooks.models import WebhookEndpoint

ENCRYPTED: tuple[tuple[type[models.Model], str], ...] = (
    (CarrierContract, "encrypted_credentials"),
    (WebhookEndpoint, "encrypted_secrets"),
)


class Command(base.Command):
    """``encrypt_credentials``, run between putting a new key first in CREDENTIALS_KEYS and removing the old one."""

    help = "Encrypt all carrier credentials and webhook secrets with the first of CREDENTIALS_KEYS; print how many."

    def handle(self, *args: Any, **options: Any) -> None:
        with transaction.atomic():
            self.print(str(sum(encrypt_again(model, column) for model, column in ENCRYPTED)))


def encrypt_again(model: type[models.Model], column: str) -> int:
    """Encrypt a column of all rows; return how many. Raise CommandError, which undoes everything."""
    rows = list(model._default_manager.select_for_update(no_key=True))
    for row in rows:
        try:
            secret = decrypt(getattr(row, column), row_id=row.pk)
        except UnreadableSecretError as error:
            raise CommandError(f"{error}; nothing was changed") from None
        setattr(row, column, encrypt(secret, row_id=row.pk))
        row.save(update_fields=[column])
    return len(rows)

"""Encrypts all contracts' credentials with the newest key."""

from typing import Any

from django.core.management.base import CommandError
from django.db import transaction

from shops.contracts.encryption import UnreadableSecretError, decrypt, encrypt
from shops.contracts.models import CarrierContract
from shops.management import base


class Command(base.Command):
    """``encrypt_credentials``, run between putting a new key first in CREDENTIALS_KEYS and removing the old one."""

    help = "Encrypt all carrier credentials with the first of CREDENTIALS_KEYS; print how many."

    def handle(self, *args: Any, **options: Any) -> None:
        with transaction.atomic():
            contracts = list(CarrierContract.objects.select_for_update())
            for contract in contracts:
                try:
                    secret = decrypt(contract.encrypted_credentials, row_id=contract.id)
                except UnreadableSecretError as error:
                    raise CommandError(f"{error}; nothing was changed") from None
                contract.encrypted_credentials = encrypt(secret, row_id=contract.id)
                contract.save(update_fields=["encrypted_credentials"])
            self.print(str(len(contracts)))

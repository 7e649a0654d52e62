"""The accounts of a contract: its own, that of its pickup products, and those that labels were bought on before."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final, Self

from django.db import models, transaction

from carriers.products import PRODUCTS
from carriers.shipment import Credentials
from shops.contracts import encryption
from shops.contracts.models import CARRIER_CHOICES, CarrierContract
from shops.db import clock
from shops.db.fields import KeyField, new_id
from shops.db.querysets import ForShop

# A label that is not used by then is void, and one that is used can't be cancelled.
FORMER_ACCOUNTS_KEPT: Final = timedelta(days=90)

Secret = Mapping[str, str]  # the fields of credentials but for the account's number


class UnknownAccountError(encryption.UnreadableSecretError):
    """The credentials of the account are not kept any more."""


def new_account_id() -> str:
    return new_id("acc")


class CarrierAccountQuerySet(ForShop):
    def of(self, contract: CarrierContract) -> Self:
        return self.for_shop(contract.shop_id).filter(carrier_code=contract.carrier_code)


class CarrierAccount(models.Model):
    """A further account of a contract with a secret of its own: for pickup products, or one that was replaced."""

    id = KeyField(primary_key=True, max_length=64, default=new_account_id, editable=False)
    shop = models.ForeignKey("shops.Shop", on_delete=models.PROTECT, related_name="+", db_index=False)
    carrier_code = models.CharField(max_length=16, choices=CARRIER_CHOICES)
    account_number = KeyField(max_length=64)
    encrypted_credentials = models.TextField(editable=False)
    replaced_at = models.DateTimeField(null=True, editable=False)

    objects = CarrierAccountQuerySet.as_manager()

    class Meta:
        ordering = ["shop", "carrier_code", "account_number"]
        default_permissions = ()  # it is a part of its contract
        constraints = [
            models.UniqueConstraint(
                fields=["shop", "carrier_code", "account_number"], name="account_once_a_shop_and_carrier"
            )
        ]

    def __str__(self) -> str:
        return f"{self.carrier_code} {self.account_number}"

    @property
    def secret(self) -> Secret:
        """Decrypt the secret; raise UnreadableSecretError."""
        return encryption.decrypt(self.encrypted_credentials, row_id=self.id)


def number_for(contract: CarrierContract, product_code: str) -> str:
    """Return the number of the account that the product is bought on."""
    is_pickup = PRODUCTS[product_code].needs_pickup_point
    return (is_pickup and contract.pickup_account_number) or contract.account_number


def credentials_for(contract: CarrierContract, account_number: str) -> Credentials:
    """Return the credentials of one of the contract's accounts, of now or before; raise UnreadableSecretError.

    Without a number they are the contract's own: labels of before have none.
    """
    if account_number in ("", contract.account_number):
        return contract.credentials
    return of_account(contract, account_number, kept_secret(contract, account_number))


def of_account(contract: CarrierContract, account_number: str, kept: Secret) -> Credentials:
    """Return the credentials of another account, by its kept secret; raise UnreadableSecretError."""
    if account_number == contract.pickup_account_number:
        return replace(contract.credentials, account_number=account_number, **kept)
    if not kept:
        raise UnknownAccountError(f"{contract.id} has no account {account_number} any more")
    return Credentials(account_number=account_number, shop_id=contract.shop_id, **kept)


def kept_secret(contract: CarrierContract, account_number: str) -> Secret:
    """Return the own secret of another account of the contract, empty without one; raise UnreadableSecretError."""
    row = CarrierAccount.objects.of(contract).filter(account_number=account_number).first()
    return row.secret if row else {}


def others_of(contracts: Sequence[CarrierContract]) -> dict[str, list[Credentials]]:
    """Return the credentials of one carrier's contracts' other accounts by shop, without those that can't be read."""
    shops = [contract.shop_id for contract in contracts]
    kept: dict[str, dict[str, CarrierAccount]] = defaultdict(dict)
    for row in CarrierAccount.objects.filter(
        shop__in=shops, carrier_code__in={each.carrier_code for each in contracts}
    ):
        kept[row.shop_id][row.account_number] = row
    found: dict[str, list[Credentials]] = defaultdict(list)
    for contract in contracts:
        rows = kept[contract.shop_id]
        for number in dict.fromkeys(filter(None, (contract.pickup_account_number, *rows))):
            with suppress(encryption.UnreadableSecretError):
                secret = rows[number].secret if number in rows else {}
                found[contract.shop_id].append(of_account(contract, number, secret))
    return found


def save(contract: CarrierContract, *, secret: Secret | None = None, pickup_secret: Secret | None = None) -> None:
    """Save a contract with its new secrets, and keep the accounts that it has no more: labels were bought on them.

    Without a secret the stored one stays. An empty `pickup_secret` is the contract's own.
    """
    with transaction.atomic():
        stored = CarrierContract.objects.select_for_update().filter(id=contract.id).first()
        before = secrets_of(stored) if stored else {}
        if secret:
            contract.set_secret(**secret)
        contract.save()
        rows = CarrierAccount.objects.of(contract)
        rows.filter(account_number=contract.account_number).delete()
        number = contract.pickup_account_number
        if pickup_secret:
            write(contract, number, pickup_secret)
        elif pickup_secret is not None or stored is None or stored.pickup_account_number != number:
            rows.filter(account_number=number).delete()
        for former in before.keys() - {contract.account_number, number}:
            write(contract, former, before[former], replaced_at=clock.now())


def secrets_of(contract: CarrierContract) -> dict[str, Secret]:
    """Return the secrets of the contract's accounts by their number, without those that can't be read."""
    found: dict[str, Secret] = {}
    for number in filter(None, (contract.account_number, contract.pickup_account_number)):
        with suppress(encryption.UnreadableSecretError):
            own = credentials_for(contract, number)
            names = ("password", "api_key", "parent_account_number")
            found[number] = {name: getattr(own, name) for name in names}
    return found


def write(contract: CarrierContract, number: str, secret: Secret, *, replaced_at: datetime | None = None) -> None:
    row = CarrierAccount.objects.of(contract).filter(account_number=number).first()
    row = row or CarrierAccount(shop_id=contract.shop_id, carrier_code=contract.carrier_code, account_number=number)
    row.encrypted_credentials = encryption.encrypt(dict(secret), row_id=row.id)
    row.replaced_at = replaced_at
    row.save()

"""Shops' contracts with carriers."""

from collections.abc import Mapping
from decimal import Decimal
from functools import cached_property
from typing import Any, Self

from django.db import DEFAULT_DB_ALIAS, models
from django.db.models import F, Q, QuerySet

from carriers import CARRIERS
from carriers.products import PRODUCTS
from carriers.shipment import LABEL_FORMATS, Credentials, Customs, CustomsItem, ProductOverride
from shops.contracts import encryption
from shops.db import clock
from shops.db.fields import DatabaseTimeField, KeyField, new_id
from shops.db.prepared import PreparedQuery, Row, argument
from shops.db.querysets import ForShop

CARRIER_CHOICES = [(name, name) for name in CARRIERS]


def new_contract_id() -> str:
    return new_id("ctr")


class CarrierContractQuerySet(ForShop):
    def refused(self) -> Self:
        """Contracts whose credentials the carrier's tracking service refuses, and which have not changed since."""
        return self.filter(tracking_refused_at__gte=F("updated_at"))

    def with_password(self) -> Self:
        """Contracts that sign in with a password where the carrier takes an API key."""
        carriers = [code for code, carrier in CARRIERS.items() if carrier.credentials_shape.takes_api_key]
        return self.filter(carrier_code__in=carriers, has_api_key=False)

    def unreadable(self) -> "list[CarrierContract]":
        """Return the contracts whose credentials none of CREDENTIALS_KEYS opens, of the latest thousand."""
        return [contract for contract in self.order_by("-updated_at")[:1000] if not contract.is_readable]


class CarrierContract(models.Model):
    """A shop's contract with one carrier; the credentials are kept encrypted."""

    id = KeyField(primary_key=True, max_length=64, default=new_contract_id, editable=False)
    shop = models.ForeignKey("shops.Shop", on_delete=models.PROTECT, related_name="contracts", db_index=False)
    carrier_code = models.CharField(max_length=16, choices=CARRIER_CHOICES)
    account_number = models.CharField(max_length=64)
    parent_account_number = models.CharField(
        max_length=64, blank=True, default="", db_default="", help_text="The account that this one is under (beta)."
    )
    pickup_account_number = models.CharField(
        max_length=64, blank=True, default="", db_default="", help_text="Another account, for pickup products."
    )
    encrypted_credentials = models.TextField(editable=False)
    has_api_key = models.BooleanField(null=True, editable=False, help_text="Null: not set since the column exists.")
    products = models.JSONField(
        default=dict,
        help_text="Activated products, each with the carrier's code, service and `as` where they differ.",
    )
    label_format = models.CharField(
        max_length=8,
        blank=True,
        default="",
        db_default="",
        choices=[(form, form) for form in LABEL_FORMATS],
        help_text="The paper of labels whose order does not say; 10x15 by default.",
    )
    commercial_name = models.CharField(max_length=35, blank=True)
    customs_description = models.CharField(max_length=64, blank=True)
    customs_value_eur = models.DecimalField(max_digits=10, decimal_places=2, null=True, blank=True)
    customs_hs_code = models.CharField(max_length=10, blank=True)
    customs_shipping_cost_eur = models.DecimalField(max_digits=10, decimal_places=2, null=True, blank=True)
    updated_at = DatabaseTimeField(auto_now=True)
    tracking_refused_at = models.DateTimeField(
        null=True, editable=False, help_text="When the carrier's tracking service last refused the credentials."
    )

    objects = CarrierContractQuerySet.as_manager()

    class Meta:
        ordering = ["shop", "carrier_code"]
        constraints = [
            models.UniqueConstraint(fields=["shop", "carrier_code"], name="contract_once_a_shop_and_carrier"),
            models.CheckConstraint(condition=Q(carrier_code__in=list(CARRIERS)), name="contract_carrier_is_known"),
        ]

    def __str__(self) -> str:
        return f"{self.carrier_code} {self.account_number}"

    @classmethod
    def find(cls, *, shop_id: str, carrier_code: str) -> Self | None:
        """Find the shop's contract with the carrier, the one that a shop has at most."""
        return next(map(cls.with_mode, OF_A_CARRIER.rows(shop=shop_id, carrier=carrier_code)), None)

    @classmethod
    def with_mode(cls, row: Row) -> Self:
        """Make a contract of its columns and its shop's mode."""
        *columns, is_test = row
        contract = cls.from_db(DEFAULT_DB_ALIAS, CONTRACT_COLUMNS, columns)
        contract.is_test = bool(is_test)
        return contract

    @cached_property
    def is_test(self) -> bool:
        """Return whether it is a test shop's, so that the sandbox is asked and never the carrier; it can't change."""
        return self.shop.is_test

    @property
    def credentials(self) -> Credentials:
        """Decrypt what the carrier's client signs in with; raise UnreadableSecretError."""
        secret = encryption.decrypt(self.encrypted_credentials, row_id=self.id)
        numbers = {"account_number": self.account_number, "parent_account_number": self.parent_account_number}
        return Credentials(**numbers, shop_id=self.shop_id, **secret)

    @property
    def is_readable(self) -> bool:
        """Return whether one of CREDENTIALS_KEYS opens the credentials."""
        try:
            return bool(self.credentials)
        except encryption.UnreadableSecretError:
            return False

    @property
    def is_tracking_refused(self) -> bool:
        """Return whether the tracking service refuses the credentials, which have not changed since."""
        return self.tracking_refused_at is not None and self.tracking_refused_at >= self.updated_at

    def refuse_tracking(self) -> bool:
        """Note that the tracking service refuses the credentials; return false if that is known already.

        A contract that has changed meanwhile is left alone: the old credentials were asked with.
        """
        unchanged = CarrierContract.objects.filter(id=self.id, updated_at=self.updated_at)
        unknown = unchanged.exclude(tracking_refused_at__gte=self.updated_at)
        return bool(unknown.update(tracking_refused_at=clock.now()))

    def set_secret(self, *, password: str = "", api_key: str = "") -> None:
        secret = {"password": password, "api_key": api_key}
        self.encrypted_credentials = encryption.encrypt(secret, row_id=self.id)
        self.has_api_key = bool(api_key)

    @property
    def customs(self) -> Customs | None:
        """The article that the contract declares of each parcel; none without its description and its value."""
        if not self.customs_description or self.customs_value_eur is None:
            return None
        item = CustomsItem(self.customs_description, 1, self.customs_value_eur, hs_code=self.customs_hs_code)
        return Customs((item,), is_for_each_parcel=True, shipping_cost_eur=self.shipping_cost_eur)

    @property
    def shipping_cost_eur(self) -> Decimal:
        """The postage that is declared, for an order without its own."""
        return self.customs_shipping_cost_eur or Customs.shipping_cost_eur

    def has_product(self, product_code: str) -> bool:
        return product_code in self.products and PRODUCTS[product_code].carrier == self.carrier_code

    def override(self, product_code: str) -> ProductOverride | None:
        """Return what the contract replaces of the catalogue's product, if anything."""
        return override_of(self.products.get(product_code))


def override_of(own: Mapping[str, str] | None) -> ProductOverride | None:
    """Return a contract's own codes of a product as the carrier's client takes them."""
    return ProductOverride(own["carrier_code"], own["service"], own.get("as_code", "")) if own else None


CONTRACT_COLUMNS = [field.attname for field in CarrierContract._meta.concrete_fields]


def of_a_carrier() -> QuerySet[CarrierContract, tuple[Any, ...]]:
    """Return a query for the shop's contract with a carrier, with its columns and its shop's mode."""
    found = CarrierContract.objects.for_shop(argument("shop")).filter(carrier_code=argument("carrier")).order_by()
    return found.values_list(*CONTRACT_COLUMNS, "shop__is_test")


OF_A_CARRIER = PreparedQuery(of_a_carrier)

"""Sets a shop's contract with a carrier."""

import argparse
import re
from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.db import transaction

from carriers import CARRIERS
from shops.audit import changes
from shops.audit.models import Action
from shops.audit.recording import record
from shops.contracts import terms
from shops.contracts.models import CarrierContract
from shops.management import base

PRODUCT = re.compile(r"(?P<code>[^=]+)(=(?P<carrier_code>[^:]+)(:(?P<service>[0-9]{1,3}))?)?")
MAX_SECRET_LENGTH = 200
# By the contract's fields.
OPTIONS = {
    "account_number": "--account-number",
    "api_key": "--api-key-stdin",
    "password": "standard input",
    "commercial_name": "--commercial-name",
    "customs": "--customs-description, --customs-value and --customs-hs-code",
    "customs_description": "--customs-description",
    "customs_value_eur": "--customs-value",
    "customs_hs_code": "--customs-hs-code",
    "customs_shipping_cost_eur": "--customs-shipping-cost",
}


class Command(base.Command):
    """``configure_carrier SHOP_ID CARRIER --account-number N ...``."""

    help = "Set a shop's contract with a carrier, or replace it; print the contract's id."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.formatter_class = argparse.RawDescriptionHelpFormatter
        parser.add_argument("shop_id", metavar="SHOP_ID")
        parser.add_argument("carrier", metavar="CARRIER", help=" or ".join(CARRIERS))
        parser.add_argument("--account-number", required=True, metavar="N")
        secret = parser.add_mutually_exclusive_group(required=True)
        secret.add_argument("--password-stdin", action="store_true", help="read the password from standard input")
        secret.add_argument("--api-key-stdin", action="store_true", help="read an API key from standard input")
        products = parser.add_mutually_exclusive_group(required=True)
        products.add_argument("--product", action="append", metavar="CODE[=CARRIERCODE[:SERVICE]]")
        products.add_argument("--all-products", action="store_true")
        parser.add_argument("--commercial-name", default="", metavar="NAME", help="the shop as its customers know it")
        customs = parser.add_argument_group("customs", "What is declared of parcels that leave the EU.")
        customs.add_argument("--customs-description", default="", metavar="TEXT", help="the goods")
        customs.add_argument("--customs-value", metavar="EUR", help="what a parcel's goods are worth")
        customs.add_argument("--customs-hs-code", default="", metavar="HS", help="tariff number: 6, 8 or 10 digits")
        customs.add_argument("--customs-shipping-cost", metavar="EUR", help="a label's postage; without it 0.01 EUR")

    def handle(self, *args: Any, **options: Any) -> None:
        shop = base.find_shop(options["shop_id"])
        if options["carrier"] not in CARRIERS:
            raise CommandError(f"CARRIER: must be one of {', '.join(CARRIERS)}")
        products = read_products(options)
        try:
            values = read_terms(options) | {"products": products}
            password, api_key = read_secret(options)
            terms.check_account(options["carrier"], options["account_number"])
            terms.check_secret(options["carrier"], password, api_key)
        except terms.TermsError as error:
            raise CommandError(f"{OPTIONS[error.field]}: {error}") from None
        with transaction.atomic():
            contract, is_new = CarrierContract.objects.select_for_update().get_or_create(
                shop=shop, carrier_code=options["carrier"]
            )
            changed = changes.between({name: getattr(contract, name) for name in values}, values)
            for name, value in values.items():
                setattr(contract, name, value)
            contract.set_secret(password=password, api_key=api_key)
            contract.save()
            action = Action.ADDED if is_new else Action.CHANGED
            record(action, contract, changes=changed | {"credentials": changes.change("credentials", None, None)})
            self.print(contract.id)


def read_products(options: dict[str, Any]) -> dict[str, terms.Override | None]:
    """Return the activated products, each with the codes that override the catalogue's; raise CommandError."""
    if options["all_products"]:
        return dict.fromkeys(terms.products_of(options["carrier"]))
    products: dict[str, terms.Override | None] = {}
    for text in options["product"]:
        match = PRODUCT.fullmatch(text)
        if match is None:
            raise CommandError(f"--product {text!r}: needs CODE[=CARRIERCODE[:SERVICE]], SERVICE of 1 to 3 digits")
        code, replacement, service = match["code"], match["carrier_code"] or "", match["service"] or ""
        try:
            products[code] = terms.checked_product(options["carrier"], code, replacement, service)
        except terms.TermsError as error:
            raise CommandError(f"--product {text!r}: {error}") from None
    return products


def read_terms(options: dict[str, Any]) -> dict[str, Any]:
    """Return the contract's fields but for its products and its secret; raise TermsError."""
    customs = {
        "customs_description": options["customs_description"],
        "customs_value_eur": options["customs_value"],
        "customs_hs_code": options["customs_hs_code"],
        "customs_shipping_cost_eur": options["customs_shipping_cost"],
    }
    return {
        "account_number": options["account_number"],
        "commercial_name": terms.checked_name(options["carrier"], options["commercial_name"]),
        **terms.checked_customs(options["carrier"], customs),
    }


def read_secret(options: dict[str, Any]) -> tuple[str, str]:
    """Return password and API key, one of them empty; raise CommandError."""
    try:
        secret = base.standard_input().readline().decode().strip("\r\n")
    except (OSError, UnicodeDecodeError):
        secret = ""
    if not secret.strip() or len(secret) > MAX_SECRET_LENGTH or not secret.isprintable():
        raise CommandError("standard input: needs the secret, in one line")
    return (secret, "") if options["password_stdin"] else ("", secret)

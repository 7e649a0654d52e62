"""Sets a shop's contract with a carrier."""

import argparse
import re
from decimal import Decimal, InvalidOperation
from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.db import transaction

from carriers import CARRIERS
from carriers.errors import CarrierError
from carriers.products import PRODUCTS
from carriers.text import CarrierField, fitting, to_latin
from shops.audit import changes
from shops.audit.models import Action
from shops.audit.recording import record
from shops.contracts.models import CarrierContract
from shops.management import base

PRODUCT = re.compile(r"(?P<code>[^=]+)(=(?P<carrier_code>[^:]+)(:(?P<service>[0-9]{1,3}))?)?")
HS_CODE = re.compile(r"[0-9]{6}([0-9]{2}){0,2}")
MAX_SECRET_LENGTH = 200
NO_CUSTOMS = {
    "customs_description": "",
    "customs_value_eur": None,
    "customs_hs_code": "",
    "customs_shipping_cost_eur": None,
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
        values = {
            "account_number": options["account_number"],
            "products": read_products(options),
            "commercial_name": read_text(options, "commercial_name", 35),
            **read_customs(options),
        }
        password, api_key = read_secret(options)
        check_credentials(options["carrier"], options["account_number"], password, api_key)
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


def read_products(options: dict[str, Any]) -> dict[str, dict[str, str] | None]:
    """Return the activated products, each with the codes that override the catalogue's; raise CommandError."""
    carrier = CARRIERS[options["carrier"]]
    own = [product.code for product in PRODUCTS.values() if product.carrier == carrier.name]
    if options["all_products"]:
        return dict.fromkeys(own)
    products: dict[str, dict[str, str] | None] = {}
    for text in options["product"]:
        match = PRODUCT.fullmatch(text)
        if match is None:
            raise CommandError(f"--product {text!r}: needs CODE[=CARRIERCODE[:SERVICE]], SERVICE of 1 to 3 digits")
        if match["code"] not in own:
            raise CommandError(f"--product {text!r}: {match['code']!r} is none of {', '.join(own)}")
        if match["carrier_code"] and not carrier.product_code.fullmatch(match["carrier_code"]):
            raise CommandError(f"--product {text!r}: {match['carrier_code']!r} is no product code of {carrier.name}")
        if match["service"] and not carrier.has_services:
            raise CommandError(f"--product {text!r}: {carrier.name} has no services, so leave out :{match['service']}")
        replaced = {"carrier_code": match["carrier_code"], "service": match["service"] or ""}
        products[match["code"]] = replaced if match["carrier_code"] else None
    return products


def read_text(options: dict[str, Any], name: str, limit: int) -> str:
    """Return a text that the carrier can print; raise CommandError."""
    field = CarrierField(options["carrier"], f"--{name.replace('_', '-')}", limit)
    try:
        return fitting(to_latin(options[name], field), field)
    except CarrierError as error:
        raise CommandError(str(error)) from None


def read_customs(options: dict[str, Any]) -> dict[str, Any]:
    """Return the article declared to customs, complete or empty; raise CommandError."""
    description = read_text(options, "customs_description", CARRIERS[options["carrier"]].max_goods_length)
    hs_code, shipping_cost = options["customs_hs_code"], options["customs_shipping_cost"]
    required = (description, options["customs_value"], hs_code)
    if not any((*required, shipping_cost)):
        return dict(NO_CUSTOMS)
    if not all(required):
        raise CommandError("--customs-description, --customs-value and --customs-hs-code: need each other")
    if not HS_CODE.fullmatch(hs_code):
        raise CommandError("--customs-hs-code: needs 6, 8 or 10 digits")
    return {
        "customs_description": description,
        "customs_value_eur": read_euros(options, "customs_value"),
        "customs_hs_code": hs_code,
        "customs_shipping_cost_eur": shipping_cost and read_euros(options, "customs_shipping_cost"),
    }


def read_euros(options: dict[str, Any], name: str) -> Decimal:
    """Return an amount above 0; raise CommandError."""
    try:
        euros = Decimal(options[name])
    except InvalidOperation:
        euros = Decimal(0)
    if not (euros.is_finite() and 0 < euros < 10**8 and euros == round(euros, 2)):
        raise CommandError(f"--{name.replace('_', '-')}: needs euros above 0, with at most two decimals")
    return euros


def read_secret(options: dict[str, Any]) -> tuple[str, str]:
    """Return password and API key, one of them empty; raise CommandError."""
    try:
        secret = base.standard_input().readline().decode().strip("\r\n")
    except (OSError, UnicodeDecodeError):
        secret = ""
    if not secret.strip() or len(secret) > MAX_SECRET_LENGTH or not secret.isprintable():
        raise CommandError("standard input: needs the secret, in one line")
    return (secret, "") if options["password_stdin"] else ("", secret)


def check_credentials(carrier: str, account_number: str, password: str, api_key: str) -> None:
    """Raise CommandError for credentials that the carrier can't accept; it never quotes the secret."""
    shape = CARRIERS[carrier].credentials_shape
    if not shape.account_number.fullmatch(account_number):
        raise CommandError(f"--account-number: {carrier} needs {shape.meaning}")
    if api_key and not shape.takes_api_key:
        raise CommandError(f"--api-key-stdin: {carrier} needs {shape.meaning}")
    if not shape.password.fullmatch(password or api_key):
        raise CommandError(f"standard input: {carrier} needs {shape.meaning}")

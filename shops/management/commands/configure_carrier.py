"""Sets a shop's contract with a carrier."""

import re
from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.db import transaction

from carriers import CARRIERS
from carriers.shipment import LABEL_FORMATS
from shops.contracts import accounts, terms
from shops.contracts.models import CarrierContract
from shops.management import base
from shops.models import Shop
from shops.staff.audit import changes
from shops.staff.audit.models import Action
from shops.staff.audit.recording import record

PRODUCT = re.compile(r"(?P<code>[^=]+)(=(?P<carrier_code>[^:]+)(:(?P<service>[0-9]{1,3})(:(?P<as_code>\w{1,3}))?)?)?")
PRODUCT_FORM = "CODE[=CARRIERCODE[:SERVICE[:AS]]]"
MAX_SECRET_LENGTH = 200
MAX_LINE_BYTES = 4096  # read of a line, which may have no end: more than a secret's of any characters
ONE_LINE = "standard input: needs the secret, in one line"
# By the contract's fields: option, place holder and help.
TERMS = {
    "account_number": ("--account-number", "N", "not needed by a test shop"),
    "parent_account_number": ("--parent-account", "N", "beta: its parent; a new one itself"),
    "pickup_account_number": (
        *("--pickup-account-number", "N"),
        "the account of pickup products; a second line of standard input is its secret, else it is the same",
    ),
    "commercial_name": ("--commercial-name", "NAME", "the shop as its customers know it"),
    "customs_description": ("--customs-description", "TEXT", "the goods"),
    "customs_value_eur": ("--customs-value", "EUR", "what a parcel's goods are worth"),
    "customs_hs_code": ("--customs-hs-code", "HS", "tariff number: 6, 8 or 10 digits"),
    "customs_shipping_cost_eur": ("--customs-shipping-cost", "EUR", "a label's postage; without it 0.01 EUR"),
}
OPTIONS = {field: option for field, (option, *_) in TERMS.items()} | {
    "api_key": "--api-key-stdin",
    "password": "standard input",
    "customs": "--customs-description, --customs-value and --customs-hs-code",
}


class Command(base.Command):
    """Set a shop's contract with a carrier, or replace it; print the contract's id."""

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("shop_id", metavar="SHOP_ID")
        parser.add_argument("carrier", metavar="CARRIER", help=" or ".join(CARRIERS))
        add(parser, "account_number")
        secret = parser.add_mutually_exclusive_group()
        secret.add_argument("--password-stdin", action="store_true", help="read the password from standard input")
        secret.add_argument("--api-key-stdin", action="store_true", help="read an API key from standard input")
        products = parser.add_mutually_exclusive_group(required=True)
        products.add_argument("--product", action="append", metavar=PRODUCT_FORM)
        products.add_argument("--all-products", action="store_true")
        further = parser.add_argument_group("further accounts")
        add(further, "parent_account_number", "pickup_account_number")
        parser.add_argument("--label-format", default="", choices=LABEL_FORMATS, help="paper; by default 10x15")
        add(parser, "commercial_name")
        customs = parser.add_argument_group("customs", "What is declared of parcels that leave the EU.")
        add(customs, *terms.NO_CUSTOMS)

    def handle(self, *args: Any, **options: Any) -> None:
        shop = base.find_shop(options["shop_id"])
        if options["carrier"] not in CARRIERS:
            raise CommandError(f"CARRIER: must be one of {', '.join(CARRIERS)}")
        has_credentials = check_credentials(shop, options)
        products = read_products(options)
        given = {field: options[field] for field in (*TERMS, "label_format")}
        try:
            name = terms.checked_name(options["carrier"], given["commercial_name"])
            values = given | terms.checked_customs(options["carrier"], given)
            values |= {"commercial_name": name, "products": products}
            terms.check_accounts(options["carrier"], values)
            secret, pickup_secret = read_secrets(options) if has_credentials else (terms.SANDBOX_SECRET, {})
            for each in filter(None, (secret, pickup_secret)):
                terms.check_secret(options["carrier"], **each)
        except terms.TermsError as error:
            raise CommandError(f"{OPTIONS[error.field]}: {error}") from None
        with transaction.atomic():
            contract, is_new = CarrierContract.objects.select_for_update().get_or_create(
                shop=shop, carrier_code=options["carrier"]
            )
            changed = changes.between({name: getattr(contract, name) for name in values}, values)
            for name, value in values.items():
                setattr(contract, name, value)
            accounts.save(contract, secret=secret, pickup_secret=pickup_secret)
            action = Action.ADDED if is_new else Action.CHANGED
            record(action, contract, changes=changed | {"credentials": changes.change("credentials", None, None)})
            self.print(contract.id)


def add(group: Any, *fields: str) -> None:
    for field in fields:
        option, place_holder, text = TERMS[field]
        group.add_argument(option, dest=field, default="", metavar=place_holder, help=text)


def check_credentials(shop: Shop, options: dict[str, Any]) -> bool:
    """Return whether an account and its secret are given, which only a test shop may be without; raise CommandError."""
    has_secret = options["password_stdin"] or options["api_key_stdin"]
    if shop.is_test and not (has_secret or options["account_number"]):
        options["account_number"] = terms.SANDBOX_ACCOUNT
        return False
    if not options["account_number"]:
        raise CommandError("--account-number: is needed")
    if not has_secret:
        raise CommandError("--password-stdin or --api-key-stdin: one of them is needed")
    return True


def read_products(options: dict[str, Any]) -> dict[str, terms.Override | None]:
    """Return the activated products, each with the codes that override the catalogue's; raise CommandError."""
    if options["all_products"]:
        return dict.fromkeys(terms.products_of(options["carrier"]))
    products: dict[str, terms.Override | None] = {}
    for text in options["product"]:
        match = PRODUCT.fullmatch(text)
        if match is None:
            raise CommandError(f"--product {text!r}: needs {PRODUCT_FORM}, SERVICE of 1 to 3 digits")
        code, *own = (match[part] or "" for part in ("code", "carrier_code", "service", "as_code"))
        try:
            products[code] = terms.checked_product(options["carrier"], code, *own)
        except terms.TermsError as error:
            raise CommandError(f"--product {text!r}: {error}") from None
    return products


def read_secrets(options: dict[str, Any]) -> tuple[accounts.Secret, accounts.Secret]:
    """Return the account's secret, and that of the pickup account if it is another; raise CommandError."""
    name, other = ("password", "api_key") if options["password_stdin"] else ("api_key", "password")
    lines = [read_line()]
    if options["pickup_account_number"] and (second := read_line()):
        lines.append(second)
    for line in lines:
        if not line.strip() or len(line) > MAX_SECRET_LENGTH or not line.isprintable():
            raise CommandError(ONE_LINE)
    secret, pickup_secret = [{name: line, other: ""} for line in lines] + [{}] * (2 - len(lines))
    return secret, pickup_secret


def read_line() -> str:
    """Return a line of standard input, empty if there is none; raise CommandError."""
    try:
        return base.standard_input().readline(MAX_LINE_BYTES).decode().strip("\r\n")
    except (OSError, UnicodeDecodeError):
        raise CommandError(ONE_LINE) from None

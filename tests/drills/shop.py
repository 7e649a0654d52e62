"""The drills' shop, which buys labels from both carriers: its data and its orders."""

import json
import secrets
import time
from collections.abc import Callable
from typing import Any

import django
import orjson
from django.core.management import call_command
from django.db import connections

from carriers.products import PRODUCTS as CATALOGUE

SHOP = "drill"
SENDER = {
    "firstName": "Zoé", "lastName": "Lefèvre", "address1": "3 rue de l'Église", "city": "Lyon", "zip": "69002",
    "countryCode": "FR", "phone": "+33472001122",
}  # fmt: skip
RECIPIENT = {
    "firstName": "Søren", "lastName": "Grünwald", "address1": "128 boulevard Œdipe", "city": "Paris", "zip": "75011",
    "countryCode": "FR", "phone": "+33699001122", "email": "soren@mail.example",
}  # fmt: skip
PRODUCTS = {"alpha": "alpha-18", "beta": "beta_domicile_sans_signature_france"}
PICKUPS = {"alpha": ("relais", "1234A"), "beta": ("beta_point_retrait_france", "001234")}
ACCOUNTS = {"alpha": ("19869502", "255562"), "beta": ("804735", "s3cret-Pass")}


def new_key() -> str:
    return secrets.token_hex(8)


def carrier_of(number: int) -> str:
    """Alternate between the carriers."""
    return "alpha" if number % 2 else "beta"


def order(key: str, carrier: str, parcels: int = 1, **fields: Any) -> dict[str, Any]:
    """Make a label order whose id is its key, so that a row can be matched after its key was released."""
    return {
        "orderId": key,
        "carrierCode": carrier,
        "productCode": PRODUCTS[carrier],
        "destinationAddress": RECIPIENT,
        "parcels": [{"weight": 1.25}] * parcels,
    } | fields


def pickup(carrier: str) -> dict[str, str]:
    """Return the fields of an order to a pickup point."""
    return dict(zip(("productCode", "pickupPointCode"), PICKUPS[carrier], strict=True))


def open_shop() -> str:
    """Make the tables, the shop and its contracts; return a token."""
    django.setup()

    from shops.models import AccessToken, Shop

    call_command("migrate", verbosity=0)
    shop = Shop.objects.create(id=SHOP, name="Drill", sender_address=SENDER)
    for carrier in ACCOUNTS:
        add_contract(shop, carrier)
    token = AccessToken.issue(shop=shop)[1]
    connections.close_all()
    return token


def open_shop_by_commands(run: Callable[..., str]) -> str:
    """Make a shop that buys; return its token. `run` runs a command with its `stdin`, and returns the output."""
    assert run("create_shop", "Drill", "--id", SHOP) == SHOP
    run("set_sender_address", SHOP, "-", stdin=json.dumps(SENDER))
    for carrier, (account, password) in ACCOUNTS.items():
        contract = ["--account-number", account, "--password-stdin", "--all-products"]
        run("configure_carrier", SHOP, carrier, *contract, stdin=password)
    return run("create_token", SHOP)


def add_contract(shop: Any, carrier: str) -> Any:
    """Add a contract for all products of a carrier."""
    from shops.contracts.models import CarrierContract

    account, password = ACCOUNTS[carrier]
    products = {code: None for code, product in CATALOGUE.items() if product.carrier == carrier}
    contract = CarrierContract(shop=shop, carrier_code=carrier, account_number=account, products=products)
    contract.set_secret(password=password)
    contract.save()
    return contract


def import_samples(count: int) -> list[dict[str, Any]]:
    """Import sample parcels into the shop; return them as imported."""
    from parcels.importing.reading import ParcelImport
    from parcels.samples import sample_parcels

    samples = list(sample_parcels(count, now_ms=time.time_ns() // 1_000_000))
    lines = ((number, orjson.dumps(sample)) for number, sample in enumerate(samples, 1))
    ParcelImport(shop_id=SHOP, report=print).run(lines)
    connections.close_all()  # a drill may kill the server behind them
    return samples

"""Bodies of label orders, one that each product takes."""

import json
import re
from typing import Any

from carriers.products import PRODUCTS
from tests.carriers.support.shipments import DESTINATIONS
from tests.support.api import Caller, Response
from tests.support.paths import SHIPMENTS

Json = dict[str, Any]

PRODUCT = {"alpha": "alpha-13", "beta": "beta_domicile_sans_signature_france"}
# beta links several parcels overseas only: faults of one parcel are asked for by its rank there.
LINKED = "beta_domicile_sans_signature_outre_mer"
PASSWORD = {"alpha": "255562", "beta": "s3cret-Pass"}
ACCOUNT = {"alpha": "19869502", "beta": "804735"}
ZIPS = {
    "FR": "75011",
    "DE": "10115",
    "US": "10001",
    "BE": "1000",
    "ES": "28001",
    "RE": "97400",
    "GP": "97100",
    "CH": "8001",
}
# To the US beta needs more than a contract declares.
FURTHER_DESTINATIONS = {"beta_domicile_signature_monde": "CH"}
# Open ones of the sandbox's directory.
PICKUP_POINTS = {("alpha", "FR"): "1234A", ("alpha", "BE"): "7101B", ("beta", "FR"): "001234", ("beta", "ES"): "840101"}
SENDER: Json = {
    "firstName": "Zoé",
    "lastName": "Lefèvre",
    "address1": "3 rue de l'Église",
    "city": "Lyon",
    "zip": "69002",
    "countryCode": "FR",
    "phone": "+33472001122",
}
RECIPIENT: Json = {
    "firstName": "Søren",
    "lastName": "Grünwald",
    "address1": "128 boulevard Œdipe",
    "city": "Villeneuve",
    "zip": "75011",
    "countryCode": "FR",
    "phone": "+33699001122",
    "email": "soren@mail.example",
}
# Must be in no answer and no log line; the tests that look for it use these two addresses.
PERSONAL = (
    *("zoé", "zoe", "lefèvre", "lefevre", "église", "eglise", "lyon", "69002"),
    *("søren", "soren", "grünwald", "grunwald", "œdipe", "oedipe", "villeneuve", "75011", "mail.example"),
    *(start + number for number in ("472001122", "699001122") for start in ("", "0", "33")),
)
SECRETS = (*PASSWORD.values(), *ACCOUNT.values())
# As words of their own: within an identifier or the fraction of a number they are there by chance.
TO_HIDE = re.compile(
    rf"(?<![0-9a-z.])({'|'.join(map(re.escape, map(str.lower, (*PERSONAL, *SECRETS))))})(?![0-9a-z])", re.IGNORECASE
)


def order(product_code: str = "alpha-13", **changes: Any) -> Json:
    """An order that the product's carrier takes; `origin` and `destination` change fields of the addresses."""
    product = PRODUCTS[product_code]
    country_code = (DESTINATIONS | FURTHER_DESTINATIONS).get(product_code, "FR")
    place = {"countryCode": country_code, "zip": ZIPS[country_code]}
    body: Json = {
        "orderId": "5400000001",
        "carrierCode": product.carrier,
        "productCode": product_code,
        "reference": "CMD 4711",
        "originAddress": SENDER | changes.pop("origin", {}),
        "destinationAddress": RECIPIENT | place | changes.pop("destination", {}),
        "parcels": [{"weight": 1.25}],
    }
    if product.needs_pickup_point:
        body["pickupPointCode"] = PICKUP_POINTS[product.carrier, country_code]
    return body | changes


def weighing(*weights_kg: float) -> list[Json]:
    return [{"weight": weight} for weight in weights_kg]


def post(caller: Caller, body: Any, key: str | None = None, **options: Any) -> Response:
    """Order a label, or send the order to another path; a body that is no bytes is sent as JSON."""
    data = body if isinstance(body, bytes) else json.dumps(body, ensure_ascii=False).encode()
    headers = options.pop("headers", {}) | ({} if key is None else {"Idempotency-Key": key})
    options = {"content_type": "application/json"} | options
    return caller.request("POST", options.pop("path", SHIPMENTS), data=data, headers=headers, **options)


def personal_in(text: str) -> list[str]:
    """Find parts of the two addresses and the contracts' secrets, which must not be in a text."""
    return TO_HIDE.findall(text)

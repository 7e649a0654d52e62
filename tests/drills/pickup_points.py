"""Buys to every pickup point that a search shows: ``python -m tests.drills.pickup_points``.

Every town of the sandbox's directory is searched through the API of a running service, with each product that goes
there and with several weights and days. Each point that is returned is bought to, at the same weight and day, by a
customer who lives elsewhere in the country. It prints how many were bought, and which were refused or misrouted.
"""

import argparse
import random
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any
from urllib.parse import urlencode

from carriers.products import PARIS, PRODUCTS
from carriers.sandbox.pickup_points import POINTS
from tests.drills.environment import Ask, Environment
from tests.drills.harness import play
from tests.drills.printing import say
from tests.drills.shop import SENDER
from tests.support.paths import POINTS as PATH
from tests.support.paths import SHIPMENTS

Json = dict[str, Any]
WEIGHTS_KG = (0.4, 4.9, 12.0, 19.5, 29.0)
PHONES = {
    "BE": "+32470112233",
    "DE": "+4915112300456",
    "ES": "+34612098712",
    "NL": "+31612098712",
    "LU": "+352621098712",
}
BOOKS = {"description": "Books", "quantity": 1, "unitValue": 10, "weight": 0.1, "hsCode": "490199"}
FRENCH = "+33699001122"


def queries(rng: random.Random) -> Iterator[Json]:
    """Yield a search of every town for each product that goes there, in a random order."""
    towns = sorted({(point.carrier, point.country, point.zip_code, point.city) for point in POINTS})
    rng.shuffle(towns)
    today = datetime.now(PARIS).date()
    for carrier, country_code, zip_code, city in towns:
        for product in filter(lambda each: each.needs_pickup_point, PRODUCTS.values()):
            weight = rng.choice([each for each in WEIGHTS_KG if each <= product.max_weight_kg])
            if product.carrier != carrier or not product.route("FR", country_code, Decimal(str(weight))):
                continue
            ahead = rng.randint(0, 7) if carrier == "beta" else 0
            yield {
                "productCode": product.code,
                "zip": zip_code,
                "city": city,
                "countryCode": country_code,
                "weight": weight,
                "shipDate": (today + timedelta(days=ahead)).isoformat(),
                "limit": 25,
            }


def order_to(query: Json, point: Json, number: int) -> Json:
    """Return the order of the search's parcel to the point, by a customer of another town."""
    country_code = query["countryCode"]
    home = next(point for point in reversed(POINTS) if point.country == country_code)
    return {
        "orderId": f"point-{number}",
        "carrierCode": PRODUCTS[query["productCode"]].carrier,
        "productCode": query["productCode"],
        "pickupPointCode": point["pickupPointCode"],
        "shipDate": query["shipDate"],
        "originAddress": SENDER,
        "destinationAddress": {
            "firstName": "Zoë",
            "lastName": "Lefèvre",
            "address1": "18 impasse des Œillets",
            "city": home.city,
            "zip": home.zip_code,
            "countryCode": country_code,
            "phone": PHONES.get(country_code, FRENCH),
            "email": "zoe@mail.example",
        },
        "parcels": [{"weight": query["weight"]}],
        "customs": {"items": [BOOKS], "shippingCost": 5},
    }


def run(ask: Ask, misrouted: Callable[[], int], searches: int, purchases: int, seed: int) -> tuple[int, list[str]]:
    """Search and buy; return how many were bought, and what is wrong."""
    rng, bought, faults = random.Random(seed), 0, list[str]()
    for _, query in zip(range(searches), queries(rng), strict=False):
        status, answer = ask(f"{PATH}?{urlencode(query)}")
        if status != 200:
            faults.append(f"{query}: {status} {answer}")
            continue
        for point in rng.sample(answer["data"], min(purchases, len(answer["data"]))):
            status, label = ask(SHIPMENTS, order_to(query, point, bought))
            bought += status == 201
            if status != 201:
                faults.append(f"{query} {point['pickupPointCode']}: {label.get('message')}")
    if count := misrouted():
        faults.append(f"{count} parcels go to another address than the point's")
    return bought, faults


def drill(env: Environment, options: argparse.Namespace) -> list[str]:
    def misrouted() -> int:
        return sum(row["misrouted"] for row in env.ledger())

    with env.served() as server:
        bought, faults = run(env.asking(server.port), misrouted, options.searches, options.purchases, options.seed)
    say("points bought to", f"{bought:,}")
    say("refused or misrouted", len(faults))
    return faults


if __name__ == "__main__":
    play(drill, searches=400, purchases=25, seed=29, database="sqlite")

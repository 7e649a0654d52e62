"""Random orders, checked and then bought: ``python -m tests.drills.order_trials --orders 2000``.

Half of them have something changed that may be refused. A check that refuses what is sold is a false alarm, one that
calls ok what is refused is a miss; there are neither in the sandbox, whose world does not change between the two.
"""

import argparse
import random
from collections import Counter
from datetime import datetime, timedelta
from typing import Any

from carriers.products import PARIS, PRODUCTS
from carriers.sandbox.pickup_points import POINTS
from tests.drills.environment import Ask, Environment
from tests.drills.harness import play
from tests.drills.printing import say
from tests.drills.random_orders import Generator
from tests.support.paths import SHIPMENTS

Json = dict[str, Any]
CHECK = f"{SHIPMENTS}/check"
CUSTOMS = {
    "items": [{"description": "Books", "quantity": 1, "unitValue": 10, "weight": 0.05, "hsCode": "490199"}],
    "shippingCost": 5,
}
PLACES = (
    *(("FR", "75011"), ("FR", "7501"), ("FR", "97400"), ("DE", "10115"), ("DE", "ABCDE"), ("BE", "1000")),
    *(("ES", "35002"), ("CH", "8001"), ("RE", "97400"), ("GP", "97110"), ("YT", "97600"), ("MC", "98000")),
    *(("US", "10001"), ("JP", "100-0001"), ("IE", "D02 AF30"), ("LU", "L-1118"), ("MF", "97150"), ("SO", "1")),
)
PHONES = ("+33612345678", "+33699001122", "+33142080910", "", "12", "+32470112233", "+4915112300456")


def mutate(rng: random.Random, body: Json) -> None:
    """Change one thing of an order that may be refused then."""
    destination, parcel = body["destinationAddress"], body["parcels"][0]
    carrier = body["carrierCode"]
    match rng.randrange(12):
        case 0 | 1:
            destination["countryCode"], destination["zip"] = rng.choice(PLACES)
            destination["phone"] = rng.choice(PHONES)
            if rng.random() < 0.7:
                body["customs"] = CUSTOMS
        case 2 | 3:
            body["productCode"] = rng.choice([code for code, each in PRODUCTS.items() if each.carrier == carrier])
            destination["countryCode"], destination["zip"] = rng.choice(PLACES)
            body["customs"] = CUSTOMS
        case 4 | 5:
            point = rng.choice([point for point in POINTS if point.carrier == carrier])
            body["pickupPointCode"] = rng.choice((point.code, point.code, "000000", "0000A", "x"))
            destination |= {"countryCode": point.country, "zip": point.zip_code, "city": point.city}
            destination["phone"] = {"BE": "+32470112233", "DE": "+4915112300456"}.get(point.country, "+33699001122")
            is_french = point.country in ("FR", "MC")
            body["productCode"] = {
                "alpha": "relais" if is_french else "alpha_relais_europe_outre_mer",
                "beta": f"beta_point_retrait_{'france' if is_french else 'europe'}",
            }[carrier]
            body["customs"] = CUSTOMS
        case 6:
            parcel["weight"] = rng.choice((0, 0.004, 4.99, 20.5, 29.99, 30, 30.01, "1"))
        case 7:
            destination["phone"] = rng.choice(PHONES)
        case 8:
            body["insuredValue"] = rng.choice((0, 999.99, 1000.01, 5000, 5001, 20000, 20001, 1.234))
        case 9:
            today = datetime.now(PARIS).date()
            body["shipDate"] = (today + timedelta(days=rng.randint(-1, 9))).isoformat()
        case 10:
            body["parcels"] = [parcel] * rng.choice((0, 4, 5))
        case _:
            del destination[rng.choice(sorted(destination))]


def fault_of(verdict: Json, status: int, answer: Json) -> str:
    """Return what is wrong with a check whose order ended so; empty if nothing is."""
    if verdict["ok"]:
        return "" if status == 201 else f"missed: {status} {answer.get('code')} {answer['message']}"
    said = "; ".join(f"{each['from']} {each['message']}" for each in verdict["problems"])
    if status == 201:
        return f"false alarm: {said}"
    first = verdict["problems"][0]
    if first["from"] == "carrier" and first["code"].startswith("ALPHA"):
        return ""  # another service of alpha says it in its own way
    is_same = first["code"] == answer.get("code") and all(
        each["message"] in answer["message"] for each in verdict["problems"]
    )
    return "" if is_same else f"other words: {said}, not {answer.get('code')} {answer['message']}"


def run(ask: Ask, orders: int, seed: int) -> tuple[Counter[str], list[str]]:
    """Check and order; return how that ended, and what is wrong."""
    rng, generator, ends, faults = random.Random(seed), Generator(seed), Counter[str](), []
    for number in range(orders):
        body = generator.order(number)
        if rng.random() < 0.5:
            mutate(rng, body)
        status, verdict = ask(CHECK, body)
        if status != 200:
            faults.append(f"{body['orderId']}: {status} {verdict}")
            continue
        status, answer = ask(SHIPMENTS, body)
        by = verdict["problems"][0]["from"] if verdict["problems"] else "nobody"
        ends[f"{body['carrierCode']} refused by {by}"] += 1
        if fault := fault_of(verdict, status, answer):
            faults.append(f"{body['orderId']} {body['productCode']} {verdict['checked']}: {fault}")
    return ends, faults


def drill(env: Environment, options: argparse.Namespace) -> list[str]:
    with env.served() as server:
        ends, faults = run(env.asking(server.port), options.orders, options.seed)
    for end, count in sorted(ends.items()):
        say(end, f"{count:,}")
    say("false alarms, misses, other words", len(faults))
    return faults


if __name__ == "__main__":
    play(drill, orders=2_000, seed=30, database="sqlite")

"""Random orders over hostile alphabets: ``python -m tests.drills.random_orders --orders 2000``.

Each is ordered through the API of a running service. What the carriers' ledger received, or that the order is refused
and which field is named, is what `tests.drills.order_oracle` says. It prints how many were bought, refused and wrong.
"""

import argparse
import random
from collections import Counter
from collections.abc import Callable
from typing import Any

from tests.drills.environment import Ask, Environment
from tests.drills.harness import play
from tests.drills.order_oracle import LABEL_ID, ORACLES, Expected, Json
from tests.drills.printing import say
from tests.support.http import call
from tests.support.paths import SHIPMENTS

LETTERS = "abcdefghijklmnoprstuvwxyzABCDEFGHIJKLMNOPRSTUVWXYZ0123456789éèçüñÉŒœßŁłØø"
MARKS = (
    *("-", "--", " - ", " & ", "&", "°", "'", "\u2019", '"', "/", ".", ", ", ":", "(", ")", "+", "#", "\u2013"),
    *("«", "e\u0301"),
)
FOREIGN = ("Ω", "Αθήνα", "ж", "東京", "🎁", "♥")
PRODUCTS: dict[str, list[tuple[str, str, str]]] = {
    "alpha": [("alpha-13", "FR", "75011"), ("alpha_rapide_eco", "DE", "10115"), ("relais", "FR", "75011")],
    "beta": [
        ("beta_domicile_signature_france", "FR", "75011"),
        ("beta_domicile_signature_europe", "DE", "10115"),
        ("beta_domicile_sans_signature_europe", "BE", "1000"),
        ("beta_point_retrait_france", "FR", "75011"),
    ],
}
POINTS = {"relais": "1234A", "beta_point_retrait_france": "001234"}
UNINSURED = {"beta_domicile_sans_signature_europe"}
PHONES = {
    "FR": ["+33699001122", "+33142080910"],
    "DE": ["+4915112300456", "+4930901820"],
    "BE": ["+32470001122", "+3225120011"],
}
LIMITS = {
    "firstName": (2, 32),
    "lastName": (2, 38),
    "company": (3, 60),
    "address1": (5, 75),
    "address2": (3, 60),
    "city": (2, 40),
}


class Generator:
    """Makes orders; the same seed makes the same ones."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)

    def chance(self, share: float) -> bool:
        return self.rng.random() < share

    def text(self, shortest: int, longest: int) -> str:
        """Words of letters and digits with marks between them, now and then a letter or a picture of elsewhere."""
        most = longest if self.chance(0.12) else longest * 2 // 3
        length, text = self.rng.randint(shortest, most), ""
        while len(text) < length:
            text += "".join(self.rng.choices(LETTERS, k=self.rng.randint(1, 9)))
            text += self.rng.choice(MARKS) if self.chance(0.4) else " "
        text = "a" + text[: max(0, length - 2)] + "z"
        if self.chance(0.01):
            text = text[:1] + self.rng.choice(FOREIGN) + text[1:]
        return text

    def address(self, country_code: str, zip_code: str) -> Json:
        names = [name for name in LIMITS if name not in ("company", "address2") or self.chance(0.4)]
        texts = {name: self.text(*LIMITS[name]) for name in names}
        return texts | {"zip": zip_code, "countryCode": country_code, "phone": self.rng.choice(PHONES[country_code])}

    def order(self, number: int) -> Json:
        carrier = "alpha" if number % 2 else "beta"
        product_code, country_code, zip_code = self.rng.choice(PRODUCTS[carrier])
        destination = self.address(country_code, zip_code) | {"email": "zoe@mail.example"}
        is_at_point = product_code in POINTS
        if is_at_point:
            destination["phone"] = PHONES[country_code][0]
        if carrier == "beta" and self.chance(0.4):
            destination["instructions"] = self.text(3, 42)
        parcels: list[Json] = [{"weight": self.rng.randint(10, 2000) / 100} for _ in range(self.rng.randint(1, 3))]
        if self.chance(0.4):
            parcels[0]["reference"] = self.text(3, 18 if carrier == "beta" else 38)
        optional: Json = {
            "reference": self.text(3, 17 if carrier == "beta" else 37),
            "labelFormat": self.rng.choice(("10x15", "A4")),
            "insuredValue": self.rng.randint(1, 100_000) / 100,
        }
        chosen = {name: value for name, value in optional.items() if self.chance(0.5)}
        if product_code in UNINSURED:
            chosen.pop("insuredValue", None)
        return {
            "orderId": f"random-{number}",
            "carrierCode": carrier,
            "productCode": product_code,
            "originAddress": self.address("FR", "69002"),
            "destinationAddress": destination,
            "parcels": parcels,
            **({"pickupPointCode": POINTS[product_code]} if is_at_point else {}),
            **chosen,
        }


def value_at(request: Any, name: str) -> Any:
    """Return the value of a request under a dotted name, None where it has nothing; an array has one element."""
    for step in name.split("."):
        request = request[0] if isinstance(request, list) else request
        if not isinstance(request, dict) or step not in request:
            return None
        request = request[step]
    return request


def faults_of(request: Json, expected: Json, names: set[str]) -> list[str]:
    """Compare a request with what is expected; of these names, what is not expected is not there."""
    return [
        f"{name}: {value_at(request, name)!r}, not {expected.get(name)!r}"
        for name in sorted(names | set(expected))
        if value_at(request, name) != expected.get(name)
    ]


def refusal_faults(status: int, answer: Json, expected: list[Expected], body: Json) -> list[str]:
    """An order that is expected to be refused is a 400 that names one of the fields; the raw limits come first."""
    refused = set().union(*(each.refused for each in expected)) | too_long(body)
    message = answer.get("message", "")
    if status != 400:
        return [f"{status} {message}, though {sorted(refused)} are to be refused"]
    return [] if any(path in message for path in refused) else [f"400 {message}, not {sorted(refused)}"]


def too_long(body: Json) -> set[str]:
    """The references that are longer than the order's own limit, before any symbol becomes a space."""
    most = {"alpha": 35, "beta": 15}[body["carrierCode"]]
    own = {
        f"parcels[{rank}].reference"
        for rank, each in enumerate(body["parcels"])
        if len(each.get("reference", "")) > most
    }
    return own | ({"reference"} if len(body.get("reference", "")) > most else set())


def of_parcel(request: Json, rank: int) -> Json:
    """Return a request with one parcel's own structures of alpha's lists."""
    own = {
        name: [value[rank]]
        for name, value in request.items()
        if name in {"refValue", "skybillValue"} and len(value) > rank
    }
    return request | own


def check(body: Json, status: int, answer: Json, received: Callable[[str], list[Json]]) -> tuple[str, list[str]]:
    """Return how an order ended, and what is wrong with that."""
    carrier, expected = body["carrierCode"], ORACLES[body["carrierCode"]](body)
    if any(each.refused for each in expected) or too_long(body):
        return "refused", refusal_faults(status, answer, expected, body)
    if status != 201:
        return "wrong", [f"{status} {answer.get('message')}, though nothing is to be refused"]
    names = OPTIONAL[carrier] - (POINT[carrier] if "pickupPointCode" in body else set())
    faults = []
    for rank, (request, each) in enumerate(zip(received(answer["id"]), expected, strict=True)):
        ids = {name: answer["id"] for name, value in each.values.items() if value == LABEL_ID}
        faults += faults_of(of_parcel(request, rank), each.values | ids, names)
    return "bought", faults


# What is not on the wire where the order does not say it.
OPTIONAL = {
    "alpha": {
        f"{who}{name}"
        for who in ("shipperValue.shipper", "recipientValue.recipient")
        for name in ("Name2", "Adress2", "Phone", "MobilePhone")
    },
    "beta": {
        f"letter.{who}.address.{name}"
        for who in ("sender", "addressee")
        for name in ("companyName", "line0", "line1", "line3", "phoneNumber", "mobileNumber")
    }
    | {"letter.parcel.instructions", "letter.parcel.insuranceValue"},
}
# What is the point's own there.
POINT = {
    "alpha": {f"recipientValue.recipient{name}" for name in ("Name", "Adress1", "Adress2", "City", "ZipCode")},
    "beta": {f"letter.addressee.address.{name}" for name in ("companyName", "line2", "line3", "city", "zipCode")},
}


def run(ask: Ask, received: Callable[[str], list[Json]], orders: int, seed: int) -> tuple[Counter[str], list[str]]:
    """Order; return how that ended, and what is wrong. `received` returns the requests of a label's parcels."""
    generator, ends, faults = Generator(seed), Counter[str](), []
    for number in range(orders):
        body = generator.order(number)
        end, found = check(body, *ask(SHIPMENTS, body), received)
        ends[f"{body['carrierCode']} {end}"] += 1
        faults += [f"{body['orderId']} {body['productCode']}: {fault}" for fault in found]
    return ends, faults


def drill(env: Environment, options: argparse.Namespace) -> list[str]:
    def received(label_id: str) -> list[Json]:
        rows = call(env.sandbox_port, "GET", f"/ledger?reference={label_id}").body
        paths = [f"/ledger/parcel?tracking_number={row['tracking_number']}" for row in rows]
        return [call(env.sandbox_port, "GET", path).body["request"] for path in paths]

    with env.served() as server:
        ends, faults = run(env.asking(server.port), received, options.orders, options.seed)
    for end, count in sorted(ends.items()):
        say(end, f"{count:,}")
    say("differences from the oracle", len(faults))
    return faults


if __name__ == "__main__":
    play(drill, orders=2_000, seed=25, database="sqlite")

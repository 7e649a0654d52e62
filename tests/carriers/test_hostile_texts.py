"""Orders in hostile alphabets: a carrier receives what its page says, or the order is refused by name."""

import random
import re
from decimal import Decimal
from typing import Any

import pytest

from carriers.errors import Rejected
from carriers.sandbox.server import SandboxServer
from carriers.shipment import Package
from tests.carriers.conftest import Clients
from tests.carriers.sandbox.control import sold
from tests.carriers.support.sandbox import order
from tests.carriers.support.shipments import CREDENTIALS, PRODUCT
from tests.drills.order_oracle import LABEL_ID, ORACLES
from tests.drills.random_orders import faults_of, of_parcel

LETTERS = "éàçñÜőłØşĐœŒæß\ufb01²"
SYMBOLS = "&°'\"«»/.,;:!?()[]{}#@%*+=_|\\~^`$£§·<>" + "\u2018\u2019\u201c\u201d\u2010\u2013\u2014"
# alpha is sent these spelled out, or as spaces; beta has no glyph for them.
GREEK, PICTOGRAMS = "ΑθήναΩμ", "\U0001f600\U0001f4e6\U0001f3e0\u2022\u2603\u2192\u2026"
ALPHABETS = {
    "alpha": ("abcxyzABC019", "--- \u00a0", LETTERS + GREEK + "\ufb02\u1d49", SYMBOLS + PICTOGRAMS + "€"),
    "beta": ("abcxyzABC019", "--- \u00a0", LETTERS, SYMBOLS),
}
WEIGHTS = {"alpha": (5, 3, 2, 2), "beta": (5, 3, 2, 1)}
FIELDS = {"first_name": "firstName", "last_name": "lastName"} | {
    name: name for name in ("company", "address1", "address2", "city")
}
# The most that the carriers take; a street has two lines.
LENGTHS = {
    "alpha": {"company": 100, "address1": 76, "address2": 38, "city": 50, "reference": 35},
    "beta": {"first_name": 29, "reference": 15, "address1": 70, "address2": 70},
}
ZIP_CODES = {"FR": "75011", "BE": "1000", "CH": "8001", "RE": "97400"}
# The names of texts on the wire; one that is not expected is not there.
SENT = {
    "alpha": {
        f"{party}{name}"
        for party in ("shipperValue.shipper", "recipientValue.recipient")
        for name in ("Name", "Name2", "ContactName", "Adress1", "Adress2", "City")
    }
    | {"refValue.recipientRef"},
    "beta": {
        f"letter.{party}.address.{name}"
        for party in ("sender", "addressee")
        for name in ("companyName", "lastName", "firstName", "line0", "line1", "line2", "line3", "city")
    }
    | {"letter.sender.senderParcelRef", "letter.parcel.instructions"},
}


class Texts:
    """Random texts in an alphabet of letters, spaces and hyphens, and of whatever else customers type."""

    def __init__(self, carrier: str, seed: int, longest: int, parcels: int = 1, foreign: float = 0.0) -> None:
        self._random = random.Random(seed)
        self._carrier, self._longest, self._parcels, self._foreign = carrier, longest, parcels, foreign

    def order(self, country: str = "FR") -> dict[str, Any]:
        """Return an order, as the API has it."""
        sender, recipient = ({field: self._text(name) for name, field in FIELDS.items()} for _ in range(2))
        if self._carrier == "beta":
            recipient["instructions"] = self._text("instructions")
        return {
            "originAddress": sender | {"countryCode": "FR", "zip": "69002"},
            "destinationAddress": recipient | {"countryCode": country, "zip": ZIP_CODES[country]},
            "reference": self._text("reference"),
            "parcels": [{"weight": 1, "reference": self._text("reference")} for _ in range(self._parcels)],
        }

    def _text(self, name: str) -> str:
        most = min(self._longest, LENGTHS[self._carrier].get(name, 35) + 1)
        kinds = self._random.choices(ALPHABETS[self._carrier], WEIGHTS[self._carrier], k=self._random.randint(0, most))
        is_foreign = self._random.random() < self._foreign
        return "".join(map(self._random.choice, [*kinds, *[GREEK + PICTOGRAMS] * is_foreign]))


def check(sandbox: SandboxServer, clients: Clients, carrier: str, body: dict[str, Any]) -> bool:
    """Order, compare the ledger with the oracle, and return true if a label was bought."""
    expected = ORACLES[carrier](body)
    refused = [each.refused for each in expected if each.refused]
    changes: dict[str, Any] = {
        party: {name: body[path][field] for name, field in FIELDS.items()}
        | {"country_code": body[path]["countryCode"], "zip_code": body[path]["zip"]}
        for party, path in (("sender", "originAddress"), ("recipient", "destinationAddress"))
    }
    ordered = order(
        PRODUCT[carrier],
        **changes,
        reference=body["reference"],
        instructions=body["destinationAddress"].get("instructions", ""),
        commercial_name="Bougies",
        packages=tuple(Package(Decimal(1), reference=each["reference"]) for each in body["parcels"]),
    )
    if refused:
        with pytest.raises(Rejected) as caught:
            clients[carrier].create_label(ordered, CREDENTIALS[carrier])
        named = set(re.findall(r"(?:^|\. )([A-Za-z]+(?:\[\d\])?(?:\.\w+)?): ", str(caught.value)))
        # Each of beta's parcels is told of for itself, with what they share.
        assert named == (refused[0] if carrier == "beta" else set().union(*refused))
        return False
    numbers = clients[carrier].create_label(ordered, CREDENTIALS[carrier]).tracking_numbers
    for rank, (number, each) in enumerate(zip(numbers, expected, strict=True)):
        texts = {
            name: ordered.id if each.values[name] == LABEL_ID else each.values[name]
            for name in SENT[carrier] & each.values.keys()
        }
        assert faults_of(of_parcel(dict(sold(sandbox, number).request), rank), texts, SENT[carrier]) == []
    return True


@pytest.mark.parametrize(("carrier", "country"), [("alpha", "FR"), ("beta", "FR"), ("beta", "BE")])
@pytest.mark.parametrize("longest", [18, 30, 60])
def test_a_hostile_order_arrives_as_the_page_says_or_is_refused_by_name(
    sandbox: SandboxServer, clients: Clients, carrier: str, country: str, longest: int
) -> None:
    for seed in range(20 if carrier == "alpha" else 10):
        texts = Texts(carrier, seed, longest, parcels=1 + seed % 3 if carrier == "alpha" else 1, foreign=0.01)
        check(sandbox, clients, carrier, texts.order(country))


@pytest.mark.parametrize("country", ["CH", "RE"])
def test_the_parcels_of_an_order_that_is_declared_to_customs_arrive_too(
    sandbox: SandboxServer, clients: Clients, country: str
) -> None:
    assert check(sandbox, clients, "beta", Texts("beta", 2, longest=12, parcels=2).order(country))


@pytest.mark.parametrize(
    ("carrier", "country", "longest", "orders"),
    [("alpha", "FR", 30, 20), ("beta", "FR", 14, 10), ("beta", "BE", 14, 10)],
)
def test_most_hostile_texts_that_fit_are_sold(
    sandbox: SandboxServer, clients: Clients, carrier: str, country: str, longest: int, orders: int
) -> None:
    texts = Texts(carrier, 0, longest)
    assert sum(check(sandbox, clients, carrier, texts.order(country)) for _ in range(orders)) > orders // 2

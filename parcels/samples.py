"""Generates realistic sample parcels from a seed, for the demonstration and the benchmark."""

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from carriers.products import DISPLAY_NAMES

HOUR_MS = 3_600_000
DAY_MS = 24 * HOUR_MS

# Places (phone numbers with # for any digit), names, articles, journeys with the oldest status first, and the carriers'
# texts for the statuses.
DATA: dict[str, Any] = json.loads(Path(__file__).with_name("samples.json").read_text("utf-8"))
# Customers 0 to 3 place the first seven orders, customers 4 to 7 the next seven, and so on.
CUSTOMERS_OF_ORDERS = (0, 0, 0, 1, 2, 2, 3)


def sample_parcels(count: int, *, now_ms: int, prefix: str = "P") -> Iterator[dict[str, Any]]:
    """Generate `count` parcels in the import format, reproducibly; about 8 events each."""
    for index in range(count):
        yield sample_parcel(index, now_ms=now_ms, prefix=prefix)


def sample_parcel(index: int, *, now_ms: int, prefix: str) -> dict[str, Any]:
    """Generate one parcel; its tracking number and customer follow from `index`, the rest from seeds.

    An order has two parcels. All orders of a customer go to the same person at the same address.
    """
    rng = random.Random(f"{prefix}{index}")  # noqa: S311 - nothing here is secret
    order = index // 2
    customer = order // 7 * 4 + CUSTOMERS_OF_ORDERS[order % 7]
    carrier = rng.choice(["alpha", "beta"])
    product = rng.choice([*DATA["products"][carrier], None])
    created_at = now_ms - rng.randrange(1, 20) * DAY_MS - rng.randrange(DAY_MS)
    numbers = [tracking_number(carrier, index, part) for part in range(rng.choice([1, 1, 1, 2, 3]))]
    events = sample_events(rng, created_at, now_ms, carrier)
    return {
        "id": f"{prefix}{index:08d}",
        "orderId": f"{5_400_000_000 + index}",
        "orderNumber": f"#{1000 + order}",
        "trackingId": numbers[0],
        "trackingNumbers": numbers,
        "carrierCode": carrier,
        "carrierProduct": product,
        "carrierDisplayName": DISPLAY_NAMES[carrier],
        **last_status(events[0]),
        **sample_dates(events[0], created_at),
        "destination": sample_destination(
            f"{prefix}customer{customer}", is_pickup_point=product in {"relais", "beta_point_retrait_france"}
        ),
        "lineItems": [sample_item(rng, index, position) for position in range(rng.choice([1, 1, 2, 3]))],
        "events": events,
        "createdAt": created_at,
        "updatedAt": events[0]["createdAt"],
        "customerEmail": f"customer+{customer}@example.com",
        "customerLocale": "fr-FR",
        "previousEmails": [],
        "giftConfig": None,
        "crossSellRecommendations": [],
        "webTemplate": None,
    }


def tracking_number(carrier: str, index: int, part: int) -> str:
    """Return a number in the carrier's format, unique for each index and part (below 10)."""
    serial = index * 10 + part
    return f"XU{serial:09d}FR" if carrier == "alpha" else f"6A{serial:011d}"


def sample_events(rng: random.Random, created_at: int, now_ms: int, carrier: str) -> list[dict[str, Any]]:
    """Generate a journey that starts at `created_at`, newest first, with no event in the future."""
    journey = rng.choice(DATA["journeys"])
    step_ms = min(9 * HOUR_MS, (now_ms - created_at) // (len(journey) + 1))
    events = [
        {
            "status": status,
            "createdAt": created_at + (position + 1) * step_ms - rng.randrange(step_ms // 2 + 1),
            "label": DATA["labels"][status],
            "carrierStatusCode": f"{carrier[0].upper()}{10 + position}",
            "isNotificationSkipped": rng.random() < 0.3,  # noqa: PLR2004 - a share
            "notifications": [],
        }
        for position, status in enumerate(journey)
    ]
    return events[::-1]


def last_status(event: dict[str, Any]) -> dict[str, Any]:
    """Return the parcel's status fields that follow from its newest event."""
    return {
        "lastStatus": event["status"],
        "lastStatusUpdatedAt": event["createdAt"],
        "carrierLastStatus": {
            "code": event["carrierStatusCode"],
            "description": event["label"],
            "date": event["createdAt"],
        },
    }


def sample_dates(event: dict[str, Any], created_at: int) -> dict[str, Any]:
    """Return the parcel's dates that follow from its newest event, and the delivery that was promised."""
    expected_at, happened_at = created_at + 3 * DAY_MS, event["createdAt"]
    waits = event["status"] == "WAITING_FOR_PICKUP"
    return {
        "estimatedDeliveryDateWindow": {
            "exactDeliveryDay": expected_at,
            "minimumDeliveryDate": expected_at - DAY_MS,
            "maximumDeliveryDate": expected_at + 2 * DAY_MS,
        },
        "deliveryDate": happened_at if event["status"] == "DELIVERED" else None,
        "endDepositDate": happened_at + 14 * DAY_MS if waits else None,
    }


def sample_destination(seed: str, *, is_pickup_point: bool) -> dict[str, Any]:
    """Return a person at an address, reproducibly."""
    rng = random.Random(seed)  # noqa: S311 - nothing here is secret either
    place: dict[str, Any] = rng.choice(DATA["places"])
    first_name, last_name = rng.choice(DATA["firstNames"]), rng.choice(DATA["lastNames"])
    return place | {
        "firstName": first_name,
        "lastName": last_name,
        "name": f"{first_name} {last_name}",
        "company": rng.choice(["", "", "Café de l'Étoile"]),
        "address1": f"{rng.randrange(1, 200)} {rng.choice(DATA['streets'])}",
        "address2": rng.choice([None, None, "Bât. B, 3e étage"]),
        "phone": "".join(str(rng.randrange(10)) if char == "#" else char for char in place["phone"]),
        "latitude": round(place["latitude"] + rng.random() / 50, 6),
        "longitude": round(place["longitude"] + rng.random() / 50, 6),
        "isPickupPoint": is_pickup_point,
    }


def sample_item(rng: random.Random, index: int, position: int) -> dict[str, Any]:
    article: dict[str, Any] = rng.choice(DATA["articles"])
    return article | {
        "lineItemId": f"li_{index}_{position}",
        "imageUrl": f"https://cdn.example.com/{article['sku']}.jpg",
        "quantity": rng.choice([1, 1, 2]),
        "productId": f"prod_{article['sku'].lower()}",
        "metadata": None,
    }

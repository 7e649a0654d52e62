"""Generates realistic sample parcels from a seed, for the demonstration and the benchmark."""

import random
from collections.abc import Iterator
from typing import Any

from carriers.products import DISPLAY_NAMES

HOUR_MS = 3_600_000
DAY_MS = 24 * HOUR_MS

Place = tuple[str, str, str, str, str, str, float, float, str]
PLACES: list[Place] = [
    # city, zip, province, its code, country, its code, latitude, longitude, phone numbers with # for any digit
    ("Paris", "75011", "Île-de-France", "IDF", "France", "FR", 48.8594, 2.3765, "+3361#######"),
    ("Brest", "29200", "Bretagne", "BRE", "France", "FR", 48.3904, -4.4861, "+3361#######"),
    ("Lyon", "69007", "Auvergne-Rhône-Alpes", "ARA", "France", "FR", 45.7480, 4.8467, "+3361#######"),
    ("Saint-Denis", "97400", "La Réunion", "974", "La Réunion", "RE", -20.8789, 55.4481, "+262692######"),
    ("Köln", "50667", "Nordrhein-Westfalen", "NW", "Deutschland", "DE", 50.9384, 6.9570, "+49151########"),
    ("Liège", "4000", "Wallonie", "WAL", "Belgique", "BE", 50.6451, 5.5734, "+32470######"),
]
# Customers 0 to 3 place the first seven orders, customers 4 to 7 the next seven, and so on.
CUSTOMERS_OF_ORDERS = (0, 0, 0, 1, 2, 2, 3)
FIRST_NAMES = ["Agnès", "Théo", "Łukasz", "Zoë", "Jürgen", "Inès", "Noël", "Chloé", "Søren", "Maëlle"]
LAST_NAMES = ["Bœuf", "Martin", "Müller", "De La Tour", "Nguyễn", "Lefèvre", "Straße", "García", "Durand", "Öztürk"]
STREETS = ["boulevard Voltaire", "impasse des Œillets", "rue de l'Église", "Hauptstraße", "quai du Général-de-Gaulle"]
ARTICLES = [
    ("CRM-050", "Crème hydratante 50 ml", 24.9),
    ("CRN-A5", "Carnet A5", 9.95),
    ("TSS-ML", "Tasse émaillée", 14),
    ("ECH-LN", "Écharpe en laine", 49.5),
    ("SVN-LV", "Savon à la lavande", 6.2),
]
# The statuses that parcels go through, oldest first: FULFILLED, IN_TRANSIT so many times, and these.
JOURNEYS = [
    (0, ""),
    (4, ""),
    (6, "OUT_FOR_DELIVERY"),
    (6, "OUT_FOR_DELIVERY DELIVERY_FAILURE OUT_FOR_DELIVERY DELIVERED"),
    (7, "OUT_FOR_DELIVERY DELIVERED"),
    (6, "WAITING_FOR_PICKUP"),
    (5, "WAITING_FOR_PICKUP RETURN_TO_SENDER RETURNED_TO_SENDER"),
    (5, "EXCEPTION"),
]
# The carrier's text for each status.
WORDS = {
    "FULFILLED": "Remis au transporteur",
    "IN_TRANSIT": "En cours d'acheminement",
    "OUT_FOR_DELIVERY": "En cours de livraison",
    "DELIVERED": "Livré",
    "DELIVERY_FAILURE": "Destinataire absent",
    "WAITING_FOR_PICKUP": "Disponible en point de retrait",
    "RETURN_TO_SENDER": "Retour à l'expéditeur",
    "RETURNED_TO_SENDER": "Rendu à l'expéditeur",
    "EXCEPTION": "Colis endommagé",
}
PRODUCTS = {
    "alpha": ["alpha-13", "alpha-18", "relais", "shop2shop"],
    "beta": ["beta_domicile_signature_france", "beta_domicile_sans_signature_france", "beta_point_retrait_france"],
}


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
    product = rng.choice([*PRODUCTS[carrier], None])
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
    in_transit, end = rng.choice(JOURNEYS)
    journey = ["FULFILLED", *["IN_TRANSIT"] * in_transit, *end.split()]
    step_ms = min(9 * HOUR_MS, (now_ms - created_at) // (len(journey) + 1))
    events = [
        {
            "status": status,
            "createdAt": created_at + (position + 1) * step_ms - rng.randrange(step_ms // 2 + 1),
            "label": WORDS[status],
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
    city, zip_code, province, province_code, country, country_code, latitude, longitude, phone = rng.choice(PLACES)
    first_name, last_name = rng.choice(FIRST_NAMES), rng.choice(LAST_NAMES)
    return {
        "firstName": first_name,
        "lastName": last_name,
        "name": f"{first_name} {last_name}",
        "company": rng.choice(["", "", "Café de l'Étoile"]),
        "address1": f"{rng.randrange(1, 200)} {rng.choice(STREETS)}",
        "address2": rng.choice([None, None, "Bât. B, 3e étage"]),
        "city": city,
        "zip": zip_code,
        "province": province,
        "provinceCode": province_code,
        "country": country,
        "countryCode": country_code,
        "phone": "".join(str(rng.randrange(10)) if char == "#" else char for char in phone),
        "latitude": round(latitude + rng.random() / 50, 6),
        "longitude": round(longitude + rng.random() / 50, 6),
        "isPickupPoint": is_pickup_point,
    }


def sample_item(rng: random.Random, index: int, position: int) -> dict[str, Any]:
    sku, name, price = rng.choice(ARTICLES)
    return {
        "lineItemId": f"li_{index}_{position}",
        "name": name,
        "imageUrl": f"https://cdn.example.com/{sku}.jpg",
        "sku": sku,
        "quantity": rng.choice([1, 1, 2]),
        "price": price,
        "productId": f"prod_{sku.lower()}",
        "metadata": None,
    }

"""Some two thousand pickup points, the same ones each time: a few of each kind in every street of some sixty towns."""

import math
from collections import Counter
from collections.abc import Iterator
from typing import Any

from carriers.sandbox.data import rows

POINTS_IN_A_TOWN = 18
OVERSEAS = ("RE", "GP")  # beta has no pickup points there
FRENCH = ("rue des Écoles", "place du Marché", "avenue Jean-Jaurès", "rue de l'Église", "quai de la Gare")
STREETS = {
    "DE": ("Bahnhofstraße", "Lindenallee", "Am Stadtpark", "Schulstraße", "Königsweg"),
    "ES": ("Calle Mayor", "Plaza de España", "Calle de la Peña", "Avenida del Sur", "Calle Colón"),
    "NL": ("Kerkstraat", "Stationsplein", "Molenweg", "Schoolstraat", "Havenkade"),
}
NAMES = {
    "relay": ("Tabac de l'Angle", "Épicerie Fine", "Presse & Café", "Kiosk Central", "Librairie du Coin"),
    "locker": ("Consigne Gare", "Consigne Supermarché", "Consigne Parking", "Consigne Station", "Consigne Centre"),
    "post_office": ("Bureau de poste",) * 5,
}
# In turn; beta's have a post office in the place of every eighth.
KINDS = ("relay", "relay", "locker", "relay", "relay", "locker", "relay", "relay")
LOCKER_KG = (5, 20, 10)
STATUSES = {5: "holiday", 9: "holiday_later", 13: "inactive", 16: "full"}  # others are open
LETTERS = "JKTUVXZ"  # of alpha's codes
FIRST_CODE = {"alpha": 2000, "beta": 300_000}
# Two records of beta's that nobody can be sent to, both in Liège: their field, which is empty.
BROKEN = {1: "name", 2: "kind"}
BROKEN_TOWN = "Liège"


def points() -> Iterator[dict[str, Any]]:
    """Yield the points' values by their names."""
    made: Counter[str] = Counter()
    for town_number, town in enumerate(rows("towns.csv")):
        for carrier in FIRST_CODE:
            if carrier == "beta" and town["country"] in OVERSEAS:
                continue
            for rank in range(POINTS_IN_A_TOWN):
                yield _row(carrier, town, town_number, rank, made[carrier])
                made[carrier] += 1


def _row(carrier: str, town: dict[str, str], town_number: int, rank: int, number: int) -> dict[str, Any]:
    kind = "post_office" if carrier == "beta" and rank % len(KINDS) == 1 else KINDS[rank % len(KINDS)]
    country, style = town["country"], number % 5
    street, house = STREETS.get(country, FRENCH)[style], 1 + 7 * rank
    row = town | {
        "carrier": carrier,
        "code": _code(carrier, number),
        "name": f"{NAMES[kind][style]} {rank + 1}",
        "address1": f"{street} {house}" if country in STREETS else f"{house} {street}",
        "address2": "" if rank % 7 else "Hall B",
        "address3": "",
        "kind": kind,
        "network": _network(carrier, country, kind, town_number),
        "max_weight_kg": {"locker": LOCKER_KG[rank % 3], "post_office": 30}.get(kind, 20),
        "status": STATUSES.get((rank + town_number) % POINTS_IN_A_TOWN, "open"),
        **_place(town, rank),
    }
    is_broken = carrier == "beta" and town["city"] == BROKEN_TOWN and rank in BROKEN
    return row | ({BROKEN[rank]: ""} if is_broken else {})


def _code(carrier: str, number: int) -> str:
    code = str(FIRST_CODE[carrier] + number)
    return code + LETTERS[number % len(LETTERS)] if carrier == "alpha" else code


def _network(carrier: str, country: str, kind: str, town_number: int) -> str:
    """Return beta's network; abroad towns that are far from each other have different ones."""
    if carrier == "alpha":
        return ""
    if country == "FR":
        return "R01" if kind == "post_office" else "R03"
    return f"X{1 + town_number % 3:02d}"


def _place(town: dict[str, str], rank: int) -> dict[str, str]:
    """Lay the points of a town on a spiral, about a hundred metres apart."""
    turn, degrees = rank * 2.4, 0.0011 * (rank + 1)
    latitude = float(town["latitude"]) + degrees * math.sin(turn)
    longitude = float(town["longitude"]) + degrees * math.cos(turn)
    return {"latitude": f"{latitude:.6f}", "longitude": f"{longitude:.6f}"}

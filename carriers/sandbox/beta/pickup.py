"""Validates a parcel's pickup point, and compares the addressee with it."""

import re

from carriers.sandbox.beta import tables
from carriers.sandbox.beta.errors import Violations
from carriers.sandbox.beta.json_request import Json
from carriers.sandbox.beta.point_answer import type_of
from carriers.sandbox.pickup_points import PickupPoint, folded, point_of

# The kinds that each code takes: HD takes every one.
TAKEN = {
    "HD": ("BPR", "ACP", "CDI", "A2P", "CMT", "BDP", "PCS"),
    "BPR": ("BPR", "ACP", "CDI"),
    **{code: (code,) for code in ("A2P", "CMT", "BDP", "PCS")},
}


def validate_pickup(violations: Violations, letter: Json) -> None:
    service, code = letter["service"], letter["parcel"].get("pickupLocationId", "")
    if service.get("productCode") not in tables.PICKUP_CODES:
        violations.require(not code, 30402, "pickupLocationId is for pickup products only")
        return
    violations.require(code, 30400)
    violations.require(service.get("commercialName"), 30018)
    if code:
        _validate_point(violations, letter, code)


def _validate_point(violations: Violations, letter: Json, code: str) -> None:
    point = point_of("beta", code) if re.fullmatch(r"\d{6}", code, re.ASCII) else None
    if point is None:
        violations.error(30401, "pickupLocationId")
        return
    violations.require(point.country == letter["addressee"]["address"].get("countryCode"), 30403)
    violations.require(type_of(point) in TAKEN[letter["service"]["productCode"]], 30402)
    violations.require(point.status == "full" or point.is_open, 30900)
    violations.require(letter["parcel"].get("weight", 0) <= point.max_weight_kg, 30901)
    violations.require(point.status != "full", 30902)


def misrouted_by(letter: Json) -> tuple[str, ...]:
    """Return the addressee's fields that are not the pickup point's own: the carrier prints them all the same."""
    point = point_of("beta", letter["parcel"].get("pickupLocationId", ""))
    return _differences(letter["addressee"]["address"], point) if point else ()


def _differences(address: Json, point: PickupPoint) -> tuple[str, ...]:
    pairs = {
        "companyName": (address.get("companyName", ""), point.name),
        "line2": (address.get("line2", "") + address.get("line3", ""), point.address1 + point.address2),
        "zipCode": (address.get("zipCode", ""), point.zip_code),
        "city": (address.get("city", ""), point.city),
        "countryCode": (address.get("countryCode", ""), point.country),
    }
    return tuple(name for name, (sent, own) in pairs.items() if folded(sent) != folded(own))

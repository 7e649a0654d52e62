"""alpha's price service: a contract's products for a destination, and the day of arrival there.

It is the nearest to a trial of an order, and the check of a contract.
"""

import re
from collections.abc import Set as AbstractSet
from datetime import date
from decimal import Decimal
from typing import Final

from carriers import itinerary
from carriers.alpha.answers import day_of, success_of
from carriers.alpha.messages import service_of
from carriers.alpha.parties import Fields, contract, zip_code_of
from carriers.alpha.refusals import CONTRACT_REFUSALS
from carriers.errors import Rejected
from carriers.http import soap
from carriers.http.transport import Answer, UnreadableError
from carriers.itinerary import destination, route_of, shipping_day
from carriers.products import PRODUCTS
from carriers.shipment import Credentials, Party, PickupPoint, Shipment
from carriers.text import to_ascii
from carriers.trials import SAMPLE_WEIGHT_KG, Finding, Terms, Verdict

PRODUCTS_SOLD: Final = "calculateProducts"
DELIVERY: Final = "calculateDeliveryTime"
GOODS: Final = "M"

_NOTHING_FOR_DESTINATION: Final = ("4", "5")
_CODE_LENGTH: Final = 2
_WRITTEN: Final = {"YT": "YO", "MC": "FR", "MF": "PM"}
NO_CITY: Final = "-"
SATURDAY, WEEKDAYS = "6", "0"  # services
SATURDAY_SERVICES: Final = (SATURDAY, "369", "974")  # of purchases: national, at overseas relays, on the same day
_ZIP_CODE: Final = re.compile(r"[0-9]{5}")


def products_fields(
    sender: Party, recipient: Party, credentials: Credentials, weight_kg: Decimal = SAMPLE_WEIGHT_KG
) -> Fields:
    """Return the request for the contract's products from one place to another."""
    return (*contract(credentials), *_way(sender, recipient), ("type", GOODS), ("weight", f"{weight_kg:f}"))


def _way(sender: Party, recipient: Party) -> Fields:
    """Return both places; the price service writes some destinations in its own way."""
    return (
        ("depCountryCode", sender.country_code),
        ("depZipCode", zip_code_of(sender)),
        ("arrCountryCode", _WRITTEN.get(recipient.country_code, recipient.country_code)),
        ("arrZipCode", zip_code_of(recipient)),
        ("arrCity", to_ascii(recipient.city) or NO_CITY),
    )


def read_codes(answer: Answer) -> frozenset[str]:
    """Return the product codes, which come without their leading zeros; none where nothing goes there."""
    try:
        result = success_of(answer, CONTRACT_REFUSALS)
    except Rejected as error:
        if error.carrier_code in _NOTHING_FOR_DESTINATION:
            return frozenset()
        raise
    codes = (soap.text(product, "productCode") for product in result.findall("productList"))
    return frozenset(code.zfill(_CODE_LENGTH) for code in codes if code)


def findings(terms: Terms, codes: AbstractSet[str]) -> list[Finding]:
    """Return for each product whether the codes that it is bought by are among the contract's."""
    found = []
    for product, override in terms.products.items():
        wanted = [override.carrier_code] if override else [route.carrier_code for route in PRODUCTS[product].routes]
        missing = sorted(set(wanted) - codes)
        has, lacks = ", ".join(dict.fromkeys(wanted)), ", ".join(missing)
        verdict, text = (Verdict.MISSING, f"lacks {lacks}") if missing else (Verdict.INCLUDED, f"has {has}")
        found.append(Finding(product, verdict, f"the contract {text}"))
    return found


def delivery_fields(shipment: Shipment, point: PickupPoint | None) -> Fields | None:
    """Return the request for the day of arrival, None from a place that the service does not know."""
    if not _ZIP_CODE.fullmatch(zip_code_of(shipment.sender)):
        return None
    route, day = route_of(shipment, shipment.packages[0]), shipping_day(shipment)
    is_saturday = service_of(route, itinerary.now()) in SATURDAY_SERVICES
    return (
        *_way(shipment.sender, destination(shipment, point)),
        ("productCode", route.carrier_code.lstrip("0")),
        ("type", GOODS),
        ("service", SATURDAY if is_saturday else WEEKDAYS),
        ("shippingDate", f"{day.isoformat()}T12:00:00"),
    )


def read_day(answer: Answer) -> date:
    """Return the day of arrival; raises CarrierError for a product that the service does not know."""
    result = success_of(answer, CONTRACT_REFUSALS)
    try:
        return day_of(soap.text(result, "date"))
    except (ValueError, OverflowError):
        raise UnreadableError("the answer has no date") from None

"""alpha's nearest to a trial of an order: the products that it sells for the destination, and the day of arrival."""

import re
from collections.abc import Set as AbstractSet
from datetime import date
from typing import Final

from carriers.alpha import contract_checks
from carriers.alpha.answers import day_of, success_of
from carriers.alpha.contract_checks import GOODS, NAMESPACE
from carriers.alpha.parties import CARRIER, zip_code_of
from carriers.alpha.refusals import CONTRACT_REFUSALS
from carriers.errors import ProductNotInContract
from carriers.http import soap
from carriers.http.messages import Answer, UnreadableError
from carriers.order_trials import destination
from carriers.products import PRODUCTS, Route
from carriers.redaction import Redactor
from carriers.shipment import Credentials, PickupPoint, Shipment
from carriers.shipping_day import shipping_day
from carriers.validation import route_of

DELIVERY: Final = "calculateDeliveryTime"
SATURDAY: Final = "6"  # a service
WEEKDAYS: Final = "0"
_ZIP_CODE: Final = re.compile(r"[0-9]{5}")


def routes(shipment: Shipment) -> list[Route]:
    product = PRODUCTS[shipment.product_code]
    return [route_of(shipment, product, package) for package in shipment.packages]


def products_message(shipment: Shipment, credentials: Credentials, point: PickupPoint | None) -> bytes:
    """Return the request for the products that take the heaviest parcel to its destination."""
    heaviest_kg = max(package.weight_kg for package in shipment.packages)
    return contract_checks.message(shipment.sender, destination(shipment, point), credentials, heaviest_kg)


def check_sold(shipment: Shipment, codes: AbstractSet[str]) -> None:
    """Raise ProductNotInContract unless the product is among those that are sold for the destination."""
    if not {route.carrier_code for route in routes(shipment)} <= codes:
        problem = "the carrier does not sell it for this destination and weight"
        raise ProductNotInContract(CARRIER, problem, field="productCode")


def delivery_message(shipment: Shipment, point: PickupPoint | None) -> bytes | None:
    """Return the request for the day of arrival, None from a place that the service does not know."""
    if not _ZIP_CODE.fullmatch(zip_code_of(shipment.sender)):
        return None
    route, day = routes(shipment)[0], shipping_day(shipment)
    fields = (
        *contract_checks.way(shipment.sender, destination(shipment, point)),
        ("productCode", route.carrier_code.lstrip("0")),
        ("type", GOODS),
        ("service", SATURDAY if route.service == SATURDAY else WEEKDAYS),
        ("shippingDate", f"{day.isoformat()}T12:00:00"),
    )
    return soap.query(DELIVERY, NAMESPACE, fields)


def read_day(answer: Answer, *, redactor: Redactor) -> date:
    """Return the day of arrival; raises CarrierError for a product that the service does not know."""
    result = success_of(answer, DELIVERY, redactor, refusals=CONTRACT_REFUSALS)
    try:
        return day_of(soap.text(result, "date"))
    except (ValueError, OverflowError):
        raise UnreadableError("the answer has no date") from None

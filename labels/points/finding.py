"""A search for pickup points, on the contract that the same order would be bought on."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

from rest_framework.exceptions import ValidationError

from carriers import shipping_day
from carriers.client import Service
from carriers.errors import CarrierError, CarrierUnavailable
from carriers.pickup_points import FoundPoints, PointQuery
from carriers.products import PRODUCTS
from labels.orders import check_product, credentials_on
from labels.points import metrics
from shops.api.errors.exceptions import CarrierFailedError
from shops.contracts.bulkhead import BulkheadFullError, bulkhead
from shops.contracts.clients import client
from shops.contracts.models import CarrierContract

USUAL_ORIGIN = "FR"  # of a shop without a sender address
USUAL_KG = Decimal(1)  # of a parcel whose weight is not said


def find(*, shop_id: str, sender_address: dict[str, str] | None, search: dict[str, Any]) -> FoundPoints:
    """Return the points that the order would be sold to; `search` is the validated query. Raise ApiError."""
    product = PRODUCTS[search["product_code"]]
    contract = CarrierContract.find(shop_id=shop_id, carrier_code=product.carrier)
    contract = check_product(contract, {"carrier_code": product.carrier, "product_code": product.code})
    origin = (sender_address or {}).get("countryCode", USUAL_ORIGIN)
    weight_kg, country_code = search["weight_kg"], search["country_code"]
    route = product.route(origin, country_code, weight_kg or USUAL_KG, contract.override(product.code))
    if route is None:
        raise ValidationError({"countryCode": f"{product.code} does not go from {origin} to {country_code}."})
    query = PointQuery(
        product_code=product.code,
        carrier_code=route.carrier_code,
        country_code=country_code,
        zip_code=search["zip"],
        city=search["city"],
        day=search.get("ship_on") or shipping_day.now().date(),
        address1=search["address1"],
        weight_kg=weight_kg,
    )
    began_at = datetime.now(UTC)
    try:
        credentials = credentials_on(contract, product.code)
        carrier = client(product.carrier, is_test=contract.is_test)
        found = carrier.find_points(query, credentials, admitted(product.carrier, is_test=contract.is_test))
    except CarrierError as error:
        raise CarrierFailedError(error) from error
    if not contract.is_test:
        metrics.count_search(product.carrier, found, began_at=began_at)
    return found


@contextmanager
def admitted(carrier_code: str, *, is_test: bool) -> Iterator[None]:
    """Ask the carrier within the bulkhead of its point service; raise CarrierUnavailable where that is full."""
    try:
        with bulkhead.enter(carrier_code, Service.PICKUP_POINTS, is_test=is_test):
            yield
    except BulkheadFullError as error:
        raise CarrierUnavailable(carrier_code, "too many searches at a time") from error

"""Pickup points near a place: the query, the search on the contract that an order would be bought on, the answer."""

# ruff: noqa: N815 - the public names are camelCase

import re
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any, Final

from rest_framework.exceptions import ValidationError

from carriers import itinerary
from carriers.client import Service
from carriers.errors import CarrierError
from carriers.pickup_points import SEARCH_FRESH_S, FoundPoints, PointQuery
from carriers.products import PRODUCTS
from carriers.shipment import PickupPoint
from labels import metrics
from labels.order_rules import day_in, late_faults
from labels.orders import check_product, credentials_on
from labels.serializers import as_number
from shops.api.errors.coded import BusyError, CarrierFailedError
from shops.api.field_faults import Fault
from shops.api.query_fields import QuerySerializer, WholeNumberParameter
from shops.api.serializer_fields import ChoiceField, DateField, StringField, TextField
from shops.contracts.addresses import CountryField, address_of
from shops.contracts.bulkhead import BulkheadFullError, bulkhead
from shops.contracts.clients import client
from shops.contracts.models import CarrierContract

PICKUP_PRODUCTS: Final = tuple(product.code for product in PRODUCTS.values() if product.needs_pickup_point)
MAX_LIMIT: Final = 25
DEFAULT_LIMIT: Final = 10
MAX_KG: Final = max(PRODUCTS[code].max_weight_kg for code in PICKUP_PRODUCTS)
DEFAULT_COUNTRY: Final = "FR"
WEEKDAYS: Final = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
USUAL_ORIGIN = "FR"  # of a shop without a sender address
USUAL_KG = Decimal(1)  # of a parcel whose weight is not said


class WeightParameter(StringField):
    """Kilograms, as a JSON number; a sum may have many decimals, or an exponent, as in JavaScript."""

    form = re.compile(r"[0-9]{1,20}(\.[0-9]{1,20})?([eE][+-]?[0-9]{1,3})?")

    def to_internal_value(self, data: Any) -> Any:
        if not self.form.fullmatch(data):
            raise ValidationError("must be a number of kilograms, such as 1.5.")
        weight_kg = Decimal(data)
        if not 0 < weight_kg <= MAX_KG:
            raise ValidationError(f"must be above 0 and at most {MAX_KG} kilograms.")
        return weight_kg


class PointQuerySerializer(QuerySerializer):
    """Where, and for which parcel, points are searched for."""

    productCode = ChoiceField(PICKUP_PRODUCTS, source="product_code")
    zip = TextField(max_length=20)
    city = TextField(max_length=50)
    countryCode = CountryField(source="country_code", required=False, default=DEFAULT_COUNTRY)
    address1 = TextField(required=False, default="", max_length=200)
    weight = WeightParameter(source="weight_kg", required=False, default=None)
    shipDate = DateField(source="ship_on", required=False)
    limit = WholeNumberParameter(max_value=MAX_LIMIT, default=DEFAULT_LIMIT)

    def rule_faults(self, data: dict[str, Any]) -> Iterator[Fault]:
        yield from super().rule_faults(data)
        if data.get("productCode") not in PICKUP_PRODUCTS:
            return
        product, country_code = PRODUCTS[data["productCode"]], data.get("countryCode", DEFAULT_COUNTRY)
        if country_code not in product.zone:
            yield ["countryCode"], f"{product.code} does not go to {country_code}; search with a product that does."
        for path, text in late_faults(product, day_in(data.get("shipDate")), has_sender=True):
            yield [path], text
        weight = data.get("weight", "")
        if WeightParameter.form.fullmatch(weight) and Decimal(weight) > product.max_weight_kg:
            limit = f"must be above 0 and at most {product.max_weight_kg} kilograms for {product.code}."
            yield ["weight"], limit


def find(*, shop_id: str, sender_address: dict[str, str] | None, search: dict[str, Any]) -> FoundPoints:
    """Return the points that the order would be sold to; `search` is the validated query. Raise ApiError."""
    product = PRODUCTS[search["product_code"]]
    contract = CarrierContract.find(shop_id=shop_id, carrier_code=product.carrier)
    contract = check_product(contract, product.code)
    origin = (sender_address or {}).get("countryCode", USUAL_ORIGIN)
    weight_kg, country_code = search["weight_kg"], search["country_code"]
    route = product.route(origin, country_code, weight_kg or USUAL_KG, contract.override(product.code))
    if route is None:
        raise ValidationError({"countryCode": f"{product.without_route(origin, country_code)}."})
    query = PointQuery(
        carrier_code=route.carrier_code,
        country_code=country_code,
        zip_code=search["zip"],
        city=search["city"],
        day=search.get("ship_on") or itinerary.now().date(),
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
        metrics.POINT_SEARCHES.labels(product.carrier, source_of(found, began_at=began_at)).inc()
    return found


@contextmanager
def admitted(carrier_code: str, *, is_test: bool) -> Iterator[None]:
    """Ask the carrier within the bulkhead of its point service; raise BusyError where that is full."""
    try:
        with bulkhead.enter(carrier_code, Service.PICKUP_POINTS, is_test=is_test):
            yield
    except BulkheadFullError as error:
        raise BusyError(carrier_code, "too many searches at a time") from error


def source_of(found: FoundPoints, *, began_at: datetime) -> str:
    """Return where the answer to a search came from that began then, by its age."""
    if found.asked_at >= began_at:
        return "carrier"
    # The memory of up to a day, as the carrier was down.
    return "memory" if found.is_of_the_last(SEARCH_FRESH_S) else "stand_in"


def as_json(point: PickupPoint) -> dict[str, Any]:
    most_kg, hours = point.max_weight_kg, point.opening_hours
    return {
        "pickupPointCode": point.code,
        "name": point.name,
        **address_of(point),
        "latitude": point.latitude,
        "longitude": point.longitude,
        "distance": point.distance_m,
        "kind": point.kind,
        "maxWeight": None if most_kg is None else as_number(most_kg),
        "openingHours": None if hours is None else dict(zip(WEEKDAYS, hours, strict=True)),
        "closures": [{"from": first.isoformat(), "to": last.isoformat()} for first, last in point.closures],
    }

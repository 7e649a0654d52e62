"""Orders and clients for the sandbox, and the requests and parcels it has counted."""

from collections.abc import Mapping
from typing import Any, Final

import pytest

from carriers import CARRIERS, TRACKERS
from carriers.base import Carrier
from carriers.client import Limits
from carriers.errors import CarrierError
from carriers.products import PRODUCTS
from carriers.sandbox.pickup_points import POINTS
from carriers.sandbox.server import SandboxServer
from carriers.shipment import PurchasedLabel, Shipment
from carriers.tracking import Tracker
from tests.carriers.sandbox.control import ledger, sold
from tests.carriers.support.shipments import CREDENTIALS, DESTINATIONS, LENIENT, PRODUCT, shipment

POSTAL_CODES: Final = {
    "AD": "AD500", "AT": "1010", "AU": "2000", "BE": "1000", "BG": "1000", "BL": "97133", "CH": "8001", "CY": "1010",
    "CZ": "110 00", "DE": "10115", "DK": "1050", "EE": "10111", "ES": "28001", "FI": "00100", "FR": "75011",
    "GB": "SW1A 1AA", "GF": "97300", "GP": "97100", "GR": "104 31", "HR": "10000", "HU": "1011", "IE": "D02 AF30",
    "IT": "00184", "JP": "100-0001", "LT": "LT-01100", "LU": "L-1118", "LV": "LV-1010", "MC": "98000", "MQ": "97200",
    "MT": "VLT 1117", "NC": "98800", "NL": "1012 AB", "NO": "0150", "PF": "98714", "PL": "00-950", "PM": "97500",
    "PT": "1100-200", "RE": "97400", "RO": "010011", "SE": "111 22", "SI": "1000", "SK": "811 01", "TF": "98413",
    "US": "10001", "WF": "98600", "YT": "97600",
}  # fmt: skip
# An open point in the sandbox's directory for each country that has one.
POINT_CODES: Final = {
    carrier: {
        point.country: point.code
        for point in reversed(POINTS)
        if point.carrier == carrier and point.is_open and CARRIERS[carrier].pickup_point_code.fullmatch(point.code)
    }
    for carrier in CARRIERS
}
CREATE_PATHS: Final = {"alpha": "/alpha/shipping", "beta": "/beta/2.0/generateLabel"}


def sandbox_clients(sandbox: SandboxServer, limits: Limits = LENIENT) -> Mapping[str, Carrier]:
    endpoints = {carrier: client.sandbox_endpoint(sandbox.url) for carrier, client in CARRIERS.items()}
    return {carrier: CARRIERS[carrier](endpoints[carrier], limits) for carrier in CARRIERS}


def sandbox_trackers(sandbox: SandboxServer, limits: Limits = LENIENT) -> Mapping[str, Tracker]:
    urls = {"alpha": sandbox.urls["ALPHA_TRACKING_URL"], "beta": sandbox.urls["BETA_TRACKING_URL"]}
    return {carrier: TRACKERS[carrier](urls[carrier], limits) for carrier in TRACKERS}


def order(product_code: str, count: int = 1, **changes: Any) -> Shipment:
    """Return a shipment that fits the product, with a real postal code and customs."""
    recipient = changes.pop("recipient", {})
    country_code = recipient.get("country_code", DESTINATIONS.get(product_code, "FR"))
    recipient = {"zip_code": POSTAL_CODES.get(country_code, "")} | recipient
    product = PRODUCTS[product_code]
    if product.needs_pickup_point and country_code in POINT_CODES[product.carrier]:
        changes = {"pickup_point_code": POINT_CODES[product.carrier][country_code]} | changes
    return shipment(product_code, count, recipient=recipient, **changes)


def linked(carrier: str, count: int = 1, **changes: Any) -> Shipment:
    """Return an order whose parcels the carrier counts; beta does so overseas only, so that others have no rank."""
    is_overseas = carrier == "beta" and count > 1
    return order(PRODUCT[carrier], count, recipient={"country_code": "GP"} if is_overseas else {}, **changes)


def faulty(carrier: str, fault: str, count: int = 1) -> Shipment:
    """Return an order that requests a fault by its reference."""
    return linked(carrier, count, reference=f"FAULT {fault}")


def reset(sandbox: SandboxServer) -> None:
    """Empty the ledger, disarm all faults, reset the counts."""
    sandbox.state.reset()


def bought(sandbox: SandboxServer, carrier: str) -> tuple[str, ...]:
    """Return the numbers of a carrier's parcels in the ledger, oldest first."""
    return tuple(row["tracking_number"] for row in ledger(sandbox, carrier=carrier))


def received(sandbox: SandboxServer) -> dict[str, int]:
    """Return the number of requests by path, without the sandbox's own paths."""
    return {
        path: count for path, count in sandbox.state.counts().items() if not path.startswith(("/control", "/ledger"))
    }


def creates(sandbox: SandboxServer, carrier: str) -> int:
    """Return the number of purchase requests that a carrier has received."""
    return received(sandbox).get(CREATE_PATHS[carrier], 0)


class Desk:
    """Orders of one carrier at the sandbox, and what it received."""

    def __init__(self, sandbox: SandboxServer, carrier: str) -> None:
        self._sandbox, self._carrier = sandbox, carrier
        self.client = sandbox_clients(sandbox)[carrier]

    def buy(self, code: str = "", count: int = 1, **changes: Any) -> PurchasedLabel:
        ordered = order(code or PRODUCT[self._carrier], count, **changes)
        return self.client.create_label(ordered, CREDENTIALS[self._carrier])

    def received(self, code: str = "", count: int = 1, **changes: Any) -> list[dict[str, Any]]:
        """Buy a label; return each parcel's request."""
        numbers = self.buy(code, count, **changes).tracking_numbers
        return [dict(sold(self._sandbox, number).request) for number in numbers]

    def refuse(self, code: str = "", **changes: Any) -> CarrierError:
        """Return the error of an order that was not sent."""
        before = creates(self._sandbox, self._carrier)
        with pytest.raises(CarrierError) as caught:
            self.buy(code, **changes)
        assert creates(self._sandbox, self._carrier) == before
        return caught.value

"""The trial of an order: all that a purchase judges before it buys, and what the carrier would say to it."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import date
from enum import StrEnum

from carriers.errors import CarrierUnavailable, Rejected
from carriers.products import PRODUCTS
from carriers.shipment import Party, PickupPoint, Shipment

ANYWHERE = "0"  # the postal code of no place, so of none with customs of its own


def destination(shipment: Shipment, point: PickupPoint | None) -> Party:
    """Return the recipient at the place that the parcels go to: as long as a point is not known, in its country."""
    if point:
        place = {"zip_code": point.zip_code, "city": point.city, "country_code": point.country_code}
        return replace(shipment.recipient, **place)
    is_to_point = PRODUCTS[shipment.product_code].needs_pickup_point
    return replace(shipment.recipient, zip_code=ANYWHERE) if is_to_point else shipment.recipient


class Stage(StrEnum):
    """The judges of an order, in turn; one that refuses it ends the trial."""

    SERVICE = "service"  # the rules between its fields, and what the carrier can print
    CONTRACT = "contract"
    PICKUP_POINT = "pickup-point"
    CARRIER = "carrier"


@dataclass
class Trial:
    """The course of a trial: who was asked, and the refusal that ended it.

    `delivery_day` is the carrier's promise, `point` where the parcels go, for a pickup product.
    """

    asked: list[Stage] = field(default_factory=list)
    refused_by: Stage | None = None
    refusal: Rejected | None = None
    point: PickupPoint | None = None
    delivery_day: date | None = None

    @contextmanager
    def stage(self, stage: Stage) -> Iterator[None]:
        """Ask in the block; one that can't be asked is left out, and no refusal."""
        try:
            yield
        except CarrierUnavailable:
            return
        except Rejected as error:
            self.refused_by, self.refusal = stage, error
        self.asked.append(stage)

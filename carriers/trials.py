"""Checks of a contract by its carrier: its credentials, and the products that it includes."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from enum import StrEnum
from typing import Final

from carriers.data import rows_of
from carriers.errors import CarrierUnavailable, Rejected
from carriers.shipment import Customs, CustomsItem, Party, PickupPoint, ProductOverride


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


@dataclass(frozen=True)
class Terms:
    """The products that a contract is said to include, and the sender that they are asked for."""

    products: Mapping[str, ProductOverride | None]
    sender: Party
    commercial_name: str = ""


class Verdict(StrEnum):
    INCLUDED = "included"
    MISSING = "missing"
    OPEN = "open"  # the answer tells neither


@dataclass(frozen=True)
class Finding:
    """A carrier's answer about one product, with the reason in words."""

    product_code: str
    verdict: Verdict
    detail: str


# A sender, and recipients of nothing, as a check makes no parcel: at home, in Europe, overseas and elsewhere.
SAMPLE_SENDER, *SAMPLES = (Party(**row) for row in rows_of("samples.csv"))
SAMPLE_WEIGHT_KG: Final = Decimal(1)
SAMPLE_CUSTOMS: Final = Customs(
    (CustomsItem("Books", 1, Decimal(10), hs_code="490199"),), is_for_each_parcel=True, shipping_cost_eur=Decimal(5)
)

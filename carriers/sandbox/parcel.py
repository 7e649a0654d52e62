"""A sold parcel: what was asked for and printed, and its row in the ledger."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

from carriers.sandbox.countries import FRANCE
from carriers.sandbox.customs_form import CustomsForm
from carriers.sandbox.journeys import HOME, JOURNEYS, PARTNER, REAL_TIME, RELAY, asked_for
from carriers.sandbox.label import Label

SECRETS = frozenset({"password", "contractNumber", "accountNumber"})


@dataclass(frozen=True)
class Parcel:
    """A parcel with its label, the request that bought it, and what is wrong with its way."""

    label: Label
    request: Mapping[str, Any] = field(default_factory=dict)  # as read, without credentials
    reservation_number: str = ""  # alpha's; of all parcels of one call
    customs_form: CustomsForm | None = None
    misrouted_by: tuple[str, ...] = ()  # the request's fields that are not the pickup point's own
    is_in_schema_order: bool = True  # alpha's structures

    @property
    def number(self) -> str:
        return self.label.tracking_number

    def as_json(self) -> dict[str, Any]:
        form = self.customs_form
        return {
            "request": self.request,
            "printed": self.label.printed,
            "routing": self.label.routing,
            "page_format": self.label.page_format,
            "misrouted_by": self.misrouted_by,
            "in_schema_order": self.is_in_schema_order,
            "customs_form": form.printed if form else None,
            "customs_pages": form.copies if form else 0,
        }


def read_parcel(stored: dict[str, Any]) -> Parcel:
    """Return the parcel that a ledger's file holds."""
    form = stored["customs_form"]
    return Parcel(
        **{
            **stored,
            "label": Label(**stored["label"]),
            "customs_form": CustomsForm(**form) if form else None,
            "misrouted_by": tuple(stored["misrouted_by"]),
        }
    )


def without_secrets(request: Any) -> Any:
    """Return a request as the ledger keeps it: without credentials, and numbers as JSON has them."""
    if isinstance(request, dict):
        return {name: without_secrets(value) for name, value in request.items() if name not in SECRETS}
    if isinstance(request, list):
        return [without_secrets(item) for item in request]
    return float(request) if isinstance(request, Decimal) else request


@dataclass(frozen=True, slots=True, kw_only=True)
class Purchase:
    """One parcel that a carrier made and will bill; by default nothing is known of its order."""

    carrier: str
    tracking_number: str
    reference: str = ""  # alpha's shipperRef, beta's orderNumber
    account: str = ""  # if empty, every contract may ask for it
    product_code: str = ""
    weight_kg: float = 0
    parcel_rank: int = 1
    parcel_count: int = 1
    made_at_s: float
    findable_at_s: float  # until then the tracking service does not know the parcel
    reservation_number: str = ""  # alpha's
    is_misrouted: bool = False  # ordered to a pickup point under another address than the point's
    journey: str = HOME
    pace: float = REAL_TIME  # seconds of journey a second

    def as_json(self, *, is_cancelled: bool) -> dict[str, Any]:
        facts = asdict(self)
        made_at = datetime.fromtimestamp(facts.pop("made_at_s"), UTC)
        del facts["findable_at_s"]
        facts["misrouted"] = facts.pop("is_misrouted")
        return {**facts, "made_at": made_at.isoformat(timespec="milliseconds"), "cancelled": is_cancelled}


def purchase_of(parcel: Parcel, account: str, made_at_s: float, **facts: Any) -> Purchase:
    label = parcel.label
    return Purchase(
        carrier=label.carrier,
        tracking_number=label.tracking_number,
        reference=label.order_reference,
        account=account,
        product_code=label.product_code,
        weight_kg=label.weight_kg,
        parcel_rank=label.rank,
        parcel_count=label.count,
        made_at_s=made_at_s,
        reservation_number=parcel.reservation_number,
        is_misrouted=bool(parcel.misrouted_by),
        **facts,
    )


def journey_of(label: Label) -> str:
    """Return the journey that the reference names, else the product's and the destination's usual one."""
    asked = asked_for(label.reference)
    if asked in JOURNEYS:
        return asked
    if label.pickup_point:
        return RELAY
    return HOME if label.recipient[-1] in FRANCE else PARTNER

"""A sold parcel: what was asked for and printed, its row in the ledger, and its way."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

from carriers.sandbox.data import FRANCE, PARIS
from carriers.sandbox.journeys import HOME, JOURNEYS, PARTNER, REAL_TIME, RELAY, Step, asked_for, steps
from carriers.sandbox.papers import CustomsForm, Label

SECRETS = frozenset({"password", "contractNumber", "accountNumber"})
Key = tuple[str, str]  # carrier and tracking number
TICK_S = 0.002  # between steps that one call takes together


@dataclass(frozen=True)
class Parcel:
    """A parcel with its label, the request that bought it, and what is wrong with its way."""

    label: Label
    request: Mapping[str, Any] = field(default_factory=dict)  # as read, without credentials
    reservation_number: str = ""  # alpha's; of all parcels of one call
    customs_form: CustomsForm | None = None
    misrouted_by: tuple[str, ...] = ()  # the request's fields that are not the pickup point's own
    is_in_schema_order: bool = True  # alpha's structures

    def as_json(self) -> dict[str, Any]:
        form = self.customs_form
        return {
            "request": self.request,
            "printed": self.label.printed,
            "routing": self.label.routing,
            "page_format": self.label.page_format,
            "misrouted_by": self.misrouted_by,
            "in_schema_order": self.is_in_schema_order,
            "customs_form": (*form.facts, *form.articles) if form else None,
            "customs_pages": form.copies if form else 0,
        }


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

    @property
    def key(self) -> Key:
        return self.carrier, self.tracking_number

    def as_json(self, *, is_cancelled: bool) -> dict[str, Any]:
        facts = asdict(self)
        made_at = datetime.fromtimestamp(facts.pop("made_at_s"), UTC)
        del facts["findable_at_s"]
        facts["misrouted"] = facts.pop("is_misrouted")
        return {**facts, "made_at": made_at.isoformat(timespec="milliseconds"), "cancelled": is_cancelled}


def purchase_of(parcel: Parcel, **facts: Any) -> Purchase:
    """Return a parcel's row in the ledger; `facts` are what neither its label nor its request says."""
    label = parcel.label
    return Purchase(
        carrier=label.carrier,
        tracking_number=label.tracking_number,
        reference=label.order_reference,
        product_code=label.product_code,
        weight_kg=label.weight_kg,
        parcel_rank=label.rank,
        parcel_count=label.count,
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


@dataclass(frozen=True)
class Change:
    """A change by the control endpoint: another journey from here on, or some steps taken at once."""

    at_s: float
    journey: str = ""
    steps: int = 0


@dataclass(frozen=True)
class Happening:
    step: Step
    at_s: float

    @property
    def at(self) -> datetime:
        """The time in Paris, to the millisecond."""
        return datetime.fromtimestamp(int(self.at_s * 1000) / 1000, PARIS)


class Way:
    """The events of a parcel until a moment; one that was told stays as it was told."""

    def __init__(self, parcel: Purchase, changes: Sequence[Change], now_s: float) -> None:
        self._parcel = parcel
        self._journey = parcel.journey
        self.happened: list[Happening] = []
        for change in changes:
            self._travel(change.at_s)
            self._journey = change.journey or self._journey
            taken = self.ahead()[: change.steps]
            first_s = change.at_s - TICK_S * (len(taken) - 1)
            if self.happened:
                first_s = max(first_s, self.happened[-1].at_s + TICK_S)
            self.happened += [Happening(future.step, first_s + TICK_S * rank) for rank, future in enumerate(taken)]
        self._travel(now_s)

    def ahead(self) -> list[Happening]:
        """Return the steps to come with the times at which they will."""
        last = self.happened[-1] if self.happened else None
        start_s, offset_s = (last.at_s, last.step.offset_s) if last else (self._parcel.made_at_s, 0.0)
        return [
            Happening(step, start_s + (step.offset_s - offset_s) / self._parcel.pace)
            for step in steps(self._journey, self._parcel.carrier)
            if last is None or step.offset_s > offset_s
        ]

    def _travel(self, until_s: float) -> None:
        self.happened += [happening for happening in self.ahead() if happening.at_s <= until_s]

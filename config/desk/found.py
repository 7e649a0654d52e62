"""Looks the numbers of a list up, and checks them against what a carrier billed, in batches."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from typing import Any, Final

from django.utils.translation import gettext_lazy as _
from django.utils.translation import gettext_noop, pgettext_lazy

from config.desk.pasted import Line
from labels.models import LabelState, ShippingLabel
from parcels.models import NumberState, Parcel, TrackingNumber
from parcels.templatetags.parcel_page import LATE_FIELDS, late_label, moment
from parcels.tracking.events import milliseconds
from shops.db.bulk import chunks
from shops.staff import days

BATCH: Final = 1000
SEARCHED_AT_ONCE: Final = 50  # numbers that no parcel has are looked for in labels
TOLERANCE_KG: Final = Decimal("0.01")
OF_NUMBER: Final = (
    *("number", "state", "label", "parcel__carrier_code", "parcel__handed_in_at"),
    *("parcel__shop__name", "parcel__order_number", *(f"parcel__{name}" for name in LATE_FIELDS)),
)
OF_LABEL: Final = (
    *("state", "finished_at", "cancel_requested_at", "weights_kg", "tracking_numbers", "cancelled_numbers"),
    *("shop__name", "carrier_code", "order_id"),
)
FOUND, MISSING = gettext_noop("Found"), gettext_noop("Not found")
NOT_OURS, TWICE = gettext_noop("Billed and not ours"), gettext_noop("Billed twice")
CANCELLED, WEIGHT = gettext_noop("Cancelled, yet billed"), gettext_noop("Another weight")
NOT_BILLED, RIGHT = gettext_noop("Ours and not billed"), gettext_noop("Billed rightly")
OUTCOMES: Final = (FOUND, MISSING, NOT_OURS, TWICE, CANCELLED, WEIGHT, NOT_BILLED, RIGHT)


@dataclass
class Result:
    """The facts known of one number."""

    number: str
    outcome: str
    billed: Decimal | None = None
    status: str = ""
    label: str = ""
    shop: str = ""
    carrier: str = ""
    order: str = ""
    bought_at: datetime | None = None
    handed_in_at: datetime | None = None
    cancelled_at: datetime | None = None
    is_cancelled: bool = False
    weight_kg: Decimal | None = None
    parcel: str = ""  # its id
    late: str = ""  # the mark of a parcel that is

    def cells(self, words: Mapping[str, str]) -> list[Any]:
        """Return the cells of the sheet, in the order of `TITLES`; the outcomes are in these `words`."""
        return [
            *(self.number, words[self.outcome], self.status, self.label, self.shop, self.carrier, self.order),
            *(self.bought_at, self.handed_in_at, self.cancelled_at, self.weight_kg, self.billed),
        ]


TITLES: Final = (
    *(_("Number"), _("Result"), _("Status"), _("Label"), _("Shop"), _("Carrier"), _("Order")),
    *(pgettext_lazy("of a label", "Bought"), _("Handed in"), _("Cancelled"), _("Weight (kg)"), _("Billed")),
)


def results(
    listed: Iterable[Line], column: str = "", first: date | None = None, last: date | None = None
) -> Iterator[Result]:
    """Yield what is known of each line, in order; of a bill with days, then what is ours and not on it.

    `column` says what the amounts of a bill are: "weight" (kilograms) or "amount"; a list without it is no bill.
    """
    seen: set[str] = set()
    carriers: set[str] = set()
    for batch in chunks(listed, BATCH):
        known = look_up({line.number for line in batch})
        for line in batch:
            found = known.get(line.number) or Result(line.number, MISSING)
            result = Result(**vars(found) | {"billed": line.amount})
            if column:
                result.outcome = billed_as(result, column, is_repeated=line.number in seen)
            seen.add(line.number)
            carriers.add(result.carrier)
            yield result
    if column and first and last:
        yield from not_billed(seen, carriers, first, last)


def billed_as(found: Result, column: str, *, is_repeated: bool) -> str:
    if found.outcome == MISSING:
        return NOT_OURS
    if is_repeated:
        return TWICE
    if found.is_cancelled:
        return CANCELLED
    is_weighed = column == "weight" and found.billed is not None and found.weight_kg is not None
    is_other = is_weighed and abs(found.billed - found.weight_kg) > TOLERANCE_KG  # type: ignore[operator]  # both are known
    return WEIGHT if is_other else RIGHT


def look_up(numbers: set[str]) -> dict[str, Result]:
    """Find live shops' numbers: on the newest parcel with each, else on a label, by a number of its or its id."""
    own = TrackingNumber.objects.live().filter(number__in=numbers).select_related("parcel__shop").only(*OF_NUMBER)
    rows = {row.number: row for row in own.order_by("created_at", "parcel_id")}
    others = numbers - rows.keys()
    bought = ShippingLabel.objects.live().select_related("shop").only(*OF_LABEL)
    labels = bought.in_bulk({row.label or row.parcel_id for row in rows.values()} | others)
    found = {number: of_parcel(row, labels.get(row.label or row.parcel_id)) for number, row in rows.items()}
    found |= {number: of_label(number, labels[number]) for number in others if number in labels}
    for some in chunks(numbers - found.keys(), SEARCHED_AT_ONCE):
        for label in bought.with_tracking_number(*some).order_by("id"):
            found |= {number: of_label(number, label) for number in some if number in label.tracking_numbers}
    return found


def of_parcel(row: TrackingNumber, label: ShippingLabel | None) -> Result:
    parcel = row.parcel
    known = of_label(row.number, label) if label else Result(row.number, FOUND)
    known.status, known.shop, known.carrier = parcel.last_status or "", parcel.shop.name, parcel.carrier_code
    known.order = parcel.order_number or known.order
    known.handed_in_at = moment(parcel.handed_in_at)
    known.late = late_label(parcel)
    known.is_cancelled = known.is_cancelled or row.state == NumberState.CANCELLED
    known.parcel = parcel.id
    return known


def of_label(number: str, label: ShippingLabel) -> Result:
    numbers, is_generated = label.tracking_numbers, label.state == LabelState.GENERATED
    is_cancelled = label.state == LabelState.CANCELLED or number in label.cancelled_numbers
    weights = [weight for each, weight in zip(numbers, label.weights_kg, strict=False) if each == number]
    return Result(
        number=number,
        outcome=FOUND,
        status="" if is_generated else label.state,
        label=label.id,
        shop=label.shop.name,
        carrier=label.carrier_code,
        order=label.order_id,
        bought_at=label.finished_at if numbers else None,
        cancelled_at=label.cancel_requested_at if is_cancelled else None,
        is_cancelled=is_cancelled,
        weight_kg=Decimal(weights[0]) if weights else None,
    )


def not_billed(seen: set[str], carriers: set[str], first: date, last: date) -> Iterator[Result]:
    """Yield the numbers that were bought here, handed in to these carriers on these days, and not billed."""
    start, end = milliseconds(days.start_of(first)), milliseconds(days.bounds(last)[1])
    handed_in = Parcel.objects.live().filter(handed_in_at__gte=start, handed_in_at__lt=end, carrier_code__in=carriers)
    rows = TrackingNumber.objects.filter(parcel__in=handed_in.order_by().values("pk"), state=NumberState.BOUGHT)
    numbers = rows.order_by().values_list("number", flat=True).iterator(chunk_size=BATCH)
    for some in chunks((number for number in numbers if number not in seen), BATCH):
        for found in look_up(set(some)).values():
            found.outcome = NOT_BILLED
            yield found

"""Looks the numbers of a list up, and checks them against what a carrier billed, in batches."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from itertools import islice
from typing import Any, Final

from django.utils.translation import gettext_lazy as _
from django.utils.translation import gettext_noop, pgettext_lazy

from config.desk.pasted import Line
from labels.models import LabelState, ShippingLabel
from parcels.models import NumberState, Parcel, TrackingNumber
from parcels.templatetags.parcel_page import late_label, moment
from parcels.tracking.events import milliseconds
from shops.staff import days
from shops.staff.pages import address_of

BATCH: Final = 1000
SEARCHED_AT_ONCE: Final = 50  # numbers that no parcel has are looked for in labels
TOLERANCE_KG: Final = Decimal("0.01")
OF_PARCEL: Final = (
    *("number", "state", "label", "parcel_id", "created_at", "parcel__last_status", "parcel__carrier_code"),
    *("parcel__handed_in_at", "parcel__shop__name", "parcel__order_number"),
    *("parcel__estimated_delivery_date_window", "parcel__delivery_date", "parcel__is_withdrawn"),
)
OF_LABEL: Final = (
    *("id", "state", "created_at", "finished_at", "cancel_requested_at", "weights_kg", "tracking_numbers"),
    *("cancelled_numbers", "shop__name", "carrier_code", "order_id"),
)
FOUND, MISSING = gettext_noop("Found"), gettext_noop("Not found")
NOT_OURS, TWICE = gettext_noop("Billed and not ours"), gettext_noop("Billed twice")
CANCELLED, WEIGHT = gettext_noop("Cancelled, yet billed"), gettext_noop("Another weight")
NOT_BILLED, RIGHT = gettext_noop("Ours and not billed"), gettext_noop("Billed rightly")


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
    page: str = ""
    late: str = ""  # the mark of a parcel that is

    def cells(self) -> list[Any]:
        """Return the cells of the sheet, in the order of `TITLES`."""
        return [
            *(self.number, str(_(self.outcome)), self.status, self.label, self.shop, self.carrier, self.order),
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


def chunks(values: Iterable[Any], size: int) -> Iterator[list[Any]]:
    """Yield the values in their order, so many at a time."""
    rest = iter(values)
    while chunk := list(islice(rest, size)):
        yield chunk


def look_up(numbers: set[str]) -> dict[str, Result]:
    """Find live shops' numbers: on the newest parcel with each, else on a label, by a number of its or its id."""
    rows: dict[str, tuple[Any, ...]] = {}
    own = TrackingNumber.objects.live().filter(number__in=numbers).order_by("created_at", "parcel_id")
    for row in own.values_list(*OF_PARCEL):
        rows[row[0]] = row
    wanted = {row[2] or row[3] for row in rows.values()} | (numbers - rows.keys())
    bought = ShippingLabel.objects.live()
    labels = {row[0]: row for row in bought.filter(pk__in=wanted).order_by().values_list(*OF_LABEL)}
    found = {number: of_parcel(row, labels.get(row[2] or row[3])) for number, row in rows.items()}
    found |= {number: of_label(number, labels[number]) for number in numbers - rows.keys() if number in labels}
    for some in chunks(numbers - found.keys(), SEARCHED_AT_ONCE):
        for row in bought.with_tracking_number(*some).order_by("id").values_list(*OF_LABEL):
            found |= {number: of_label(number, row) for number in some if number in row[6]}
    return found


def of_parcel(row: tuple[Any, ...], label: tuple[Any, ...] | None) -> Result:
    number, state, _label, parcel_id, _created, status, carrier, handed_in_at, shop, order, *promise = row
    known = of_label(number, label) if label else Result(number, FOUND)
    known.status, known.shop, known.carrier, known.order = status or "", shop, carrier, order or known.order
    known.handed_in_at = moment(handed_in_at)
    window, delivered_at, is_withdrawn = promise
    parcel = Parcel(estimated_delivery_date_window=window, delivery_date=delivered_at, is_withdrawn=is_withdrawn)
    known.late = late_label(parcel)
    known.is_cancelled = known.is_cancelled or state == NumberState.CANCELLED
    known.page = address_of("parcels.parcel", parcel_id)
    return known


def of_label(number: str, row: tuple[Any, ...]) -> Result:
    label_id, state, _created, finished_at, cancel_requested_at, weights, numbers, cancelled, shop, carrier, order = row
    is_cancelled = state == LabelState.CANCELLED or number in cancelled
    places = [place for place, each in enumerate(numbers) if each == number and place < len(weights)]
    return Result(
        number=number,
        outcome=FOUND,
        status="" if state == LabelState.GENERATED else state,
        label=label_id,
        shop=shop,
        carrier=carrier,
        order=order,
        bought_at=finished_at if numbers else None,
        cancelled_at=cancel_requested_at if is_cancelled else None,
        is_cancelled=is_cancelled,
        weight_kg=Decimal(weights[places[0]]) if places else None,
        page=address_of("labels.shippinglabel", label_id),
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

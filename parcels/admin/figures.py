"""The parcels' part of the staff's first page (figures, and the rows of the queue), and of a shop's page."""

from collections.abc import Iterator
from datetime import date, datetime, timedelta
from functools import partial
from typing import Final

from django.db.models import Sum
from django.http import HttpRequest
from django.template.loader import render_to_string
from django.utils.translation import gettext

from parcels.admin.filters import GOES_BACK_DAYS, goes_back
from parcels.figures.counting import DAYS_SHOWN, SILENT_DAYS
from parcels.figures.models import DayFigure, ParcelFigure, Timing, TrackingFigure
from parcels.figures.timing import WINDOW_END, is_overdue
from parcels.models import Parcel, TrackingStatus
from parcels.tracking.events import milliseconds
from shops.admin.shop_overview import PANELS, first_day, week_panel
from shops.db import clock
from shops.models import Shop
from shops.staff import figures
from shops.staff.days import last_days, start_of, today
from shops.staff.display_texts import NOTHING, number, percentage, short_name
from shops.staff.filters import NONE
from shops.staff.panels import (
    Chart,
    Figure,
    Panel,
    Row,
    Series,
    Table,
    Tile,
    counted,
    created,
    lasting,
    list_url,
    may_view,
    moment,
    period,
)

LATE_TRACKING_S: Final = 900
TROUBLE: Final = (TrackingStatus.EXCEPTION, TrackingStatus.RETURN_TO_SENDER)
TROUBLE_DAYS: Final = 30
ENDED: Final = (TrackingStatus.DELIVERED, TrackingStatus.RETURNED_TO_SENDER)
parcels_url = partial(list_url, "parcels", "parcel")


def panels(request: HttpRequest) -> Iterator[Panel]:
    if may_view(request, "parcels", "parcel"):
        days = last_days(today(), DAYS_SHOWN)
        carriers = list(TrackingFigure.objects.all())
        yield stuck_tile(carriers)
        yield on_time(days)
        yield by_status(days)
        yield stuck(carriers)
        yield tracking(carriers)


def by_status(days: list[date]) -> Chart:
    rows = ParcelFigure.objects.filter(day__range=(days[0], days[-1])).order_by()
    counts = dict(rows.values_list("status").annotate(count=Sum("parcels")))
    shown = [status for status in ("", *TrackingStatus.values) if counts.get(status)]
    links = [parcels_url(status=status or NONE, **created(days[0], days[-1])) for status in shown]
    places = [short_name(status) if status else gettext("None yet") for status in shown]
    series = Series(gettext("parcels"), [counts[status] for status in shown], links)
    note = gettext("Parcels created in the last {days_shown} days.").format(days_shown=DAYS_SHOWN)
    return Chart(gettext("Parcels by status"), gettext("Status"), places, [series], note, is_horizontal=True)


def on_time(days: list[date]) -> Tile:
    rows = ParcelFigure.objects.filter(day__range=(days[0], days[-1])).exclude(timing="").order_by()
    counts = dict(rows.values_list("timing").annotate(count=Sum("parcels")))
    known = sum(counts.values())
    period = created(days[0], days[-1])
    further = [
        Figure(f"{number(counts.get(timing, 0))} {timing.label}", parcels_url(delivery=timing.value, **period))
        for timing in Timing
    ]
    share = percentage(100 * counts.get(Timing.ON_TIME, 0) / known, 1) if known else NOTHING
    note = gettext(
        "Delivered at or before the end of the delivery window that was reported, of those delivered or past that end;"
        " parcels created in the last {days_shown} days."
    ).format(days_shown=DAYS_SHOWN)
    return Tile(gettext("Deliveries on time"), Figure(share), note, further)


def stuck_tile(carriers: list[TrackingFigure]) -> Tile:
    days = SILENT_DAYS[1]
    count = sum(carrier.silent.get(str(days), 0) for carrier in carriers)
    figure = Figure(number(count), parcels_url(silent=days), is_bad=bool(count))
    note = gettext("Followed, without news of carrier or shop for {days} days.").format(days=days)
    return Tile(gettext("Stuck parcels"), figure, note)


def stuck(carriers: list[TrackingFigure]) -> Table:
    rows = [(carrier.carrier_code, [silent(carrier, days) for days in SILENT_DAYS]) for carrier in carriers]
    columns = (gettext("Carrier"), *(gettext("{days} days").format(days=days) for days in SILENT_DAYS))
    return Table(gettext("Parcels without news for"), columns, rows, gettext("Of the parcels that are followed."))


def silent(carrier: TrackingFigure, days: int) -> Figure:
    count = carrier.silent.get(str(days), 0)
    return Figure(number(count), parcels_url(carrier=carrier.carrier_code, silent=days))


def tracking(carriers: list[TrackingFigure]) -> Table:
    """Describe how fresh the carriers' answers are."""
    now = figures.counted_at(figures.PARCELS)
    columns = (gettext("Carrier"), gettext("Parcels followed"), gettext("Last answer"), gettext("Late by"))
    rows = [(carrier.carrier_code, tracking_row(carrier, now)) for carrier in carriers]
    return Table(gettext("Tracking"), columns, rows, gettext("Late by: the age of the oldest question that is due."))


def tracking_row(carrier: TrackingFigure, now: datetime | None) -> list[Figure]:
    late = now - carrier.due_since if now and carrier.due_since else None
    return [
        Figure(number(carrier.followed)),
        Figure(moment(carrier.last_answer_at)),
        Figure(lasting(late) if late else NOTHING, is_bad=late is not None and late.total_seconds() > LATE_TRACKING_S),
    ]


def rows(request: HttpRequest) -> Iterator[Row]:
    if not may_view(request, "parcels", "parcel"):
        return
    live, changed, first = Parcel.objects.live(), "last_status_updated_at", today() - timedelta(days=TROUBLE_DAYS)
    late = counted(live.filter(is_overdue(clock.now())).exclude(last_status__in=ENDED), WINDOW_END)
    going_on = [NONE, *(status.value for status in TrackingStatus if status not in ENDED)]
    link = parcels_url(delivery=Timing.OVERDUE.value, status=going_on)
    yield Row("overdue", gettext("Past their promise, not delivered"), link, **late)
    soon, title = counted(live.filter(goes_back()), changed), gettext("Go back from their pickup point within 2 days")
    yield Row("goes_back", title, parcels_url(goes_back=GOES_BACK_DAYS), **soon)
    lost = counted(live.filter(last_status__in=TROUBLE, created_at__gte=milliseconds(start_of(first))), changed)
    link = parcels_url(status=[status.value for status in TROUBLE], created_from=first.isoformat())
    note = gettext("Of the parcels created in the last 30 days.")
    yield Row("trouble", gettext("Lost, damaged or refused"), link, **lost, note=note)


def parcels_panel(request: HttpRequest, shop: Shop) -> str:
    since = milliseconds(start_of(first_day()))
    newest = Parcel.objects.for_shop(shop.id).filter(created_at__gte=since).newest_first()
    statuses, view = newest.values_list("last_status", flat=True), "parcels_parcel_changelist"
    return week_panel(gettext("Parcels"), statuses, view=view, parameter="status", shop_id=shop.id)


def days_panel(request: HttpRequest, shop: Shop) -> str:
    """Render what was handed in and delivered on each of the last days."""
    days = list(DayFigure.objects.filter(shop=shop, day__gte=first_day()).order_by("-day", "carrier_code"))
    for day in days:
        own = {"shop__id__exact": shop.id, "carrier": day.carrier_code}
        day.link = parcels_url(**own, **period("handed_in", day.day, day.day))  # type: ignore[attr-defined]  # for the template
    return render_to_string("parcels/days.html", {"days": days})


PANELS.extend(("parcels", "parcel", panel) for panel in (parcels_panel, days_panel))

"""Filters of the list of parcels."""

from datetime import timedelta
from functools import partial
from typing import Any, Final

from django.db.models import Q, QuerySet
from django.http import HttpRequest
from django.utils.text import capfirst, format_lazy
from django.utils.translation import gettext_lazy, pgettext_lazy

from parcels.figures.counting import SILENT_DAYS
from parcels.figures.models import Timing
from parcels.figures.silence import by_carrier, is_parcel_silent
from parcels.figures.timing import HAS_TIMING, TIMING, is_overdue
from parcels.models import Parcel, TrackingNumber, TrackingStatus
from parcels.tracking.events import milliseconds
from shops.db import clock
from shops.staff import filters
from shops.staff.days import start_of
from shops.staff.filters import of
from shops.staff.unfold_classes import AutocompleteSelectFilter

CARRIERS_OF_THE_NEWEST = 1000
GOES_BACK_DAYS = 2
DELIVERY = "delivery"


def newest_carriers(_: Any, request: HttpRequest, __: Any) -> list[tuple[str, str]]:
    """Offer the carriers of the newest parcels, because an import may name any carrier."""
    newest = Parcel.objects.values_list("carrier_code", flat=True)[:CARRIERS_OF_THE_NEWEST]
    return [(code, code) for code in sorted({*newest, *request.GET.getlist("carrier")} - {""})]


def of_timing(timing: Timing, parcels: QuerySet[Any]) -> QuerySet[Any]:
    if timing == Timing.OVERDUE:
        return parcels.filter(is_overdue(clock.now()))
    found: QuerySet[Any] = parcels.alias(timing=TIMING).filter(HAS_TIMING, timing=timing)  # along their index
    return found


def silent_for(days: int, parcels: QuerySet[Any]) -> QuerySet[Any]:
    """Find parcels by their numbers: `distinct` keeps PostgreSQL from reading a shop's parcels to look for each."""
    since = clock.now() - timedelta(days=days)
    numbers = TrackingNumber.objects.filter(by_carrier(since), due_at__isnull=False)
    silent = parcels.filter(is_parcel_silent(since), is_withdrawn=False, pk__in=numbers.values("parcel").distinct())
    return silent.exclude(last_status=TrackingStatus.DELIVERED)


def goes_back() -> Q:
    until = milliseconds(clock.now() + timedelta(days=GOES_BACK_DAYS))
    return Q(last_status=TrackingStatus.WAITING_FOR_PICKUP, end_deposit_date__lt=until, is_withdrawn=False)


STATUS: Final = {"column": "last_status", "values": TrackingStatus, "none": gettext_lazy("None yet")}
MIDNIGHT_MS: Final[dict[str, Any]] = {"midnight": staticmethod(lambda day: milliseconds(start_of(day)))}
TIMINGS = {timing.value: (capfirst(timing.label), partial(of_timing, timing)) for timing in Timing}
SILENCES = {
    str(days): (format_lazy(gettext_lazy("{days} days"), days=days), partial(silent_for, days)) for days in SILENT_DAYS
}
IS_HANDED_IN = {
    "yes": (gettext_lazy("Yes"), lambda parcels: parcels.filter(handed_in_at__isnull=False)),
    "no": (gettext_lazy("Not yet"), lambda parcels: parcels.filter(handed_in_at=None, is_withdrawn=False)),
}
GOES_BACK = {str(GOES_BACK_DAYS): (gettext_lazy("2 days"), lambda parcels: parcels.filter(goes_back()))}
CREATED = filters.recent("created_at", **MIDNIGHT_MS)
FILTERS: Final = (
    *(("shop", AutocompleteSelectFilter), filters.ModeFilter),
    of(filters.CarrierFilter, gettext_lazy("carrier"), "carrier", column="carrier_code", lookups=newest_carriers),
    of(filters.MultiChoiceFilter, gettext_lazy("status"), "status", **STATUS),
    of(filters.OptionFilter, gettext_lazy("no news for"), "silent", options=SILENCES),
    of(filters.OptionFilter, gettext_lazy("delivery"), DELIVERY, options=TIMINGS),
    of(filters.OptionFilter, gettext_lazy("goes back within"), "goes_back", options=GOES_BACK),
    of(filters.OptionFilter, pgettext_lazy("filter", "handed in"), "handed", options=IS_HANDED_IN),
    of(filters.OptionFilter, pgettext_lazy("filter", "created"), "when", options=CREATED),
    of(filters.PeriodFilter, filters.PeriodFilter.title, "created", column="created_at", **MIDNIGHT_MS),
    of(filters.PeriodFilter, gettext_lazy("day of the hand-in"), "handed_in", column="handed_in_at", **MIDNIGHT_MS),
    of(filters.PeriodFilter, gettext_lazy("day of the delivery"), "delivered", column="delivery_date", **MIDNIGHT_MS),
)

"""Filters of the list of parcels."""

from datetime import date, timedelta
from functools import partial
from typing import Any

from django.db.models import Q, QuerySet
from django.http import HttpRequest
from django.utils.text import capfirst, format_lazy
from django.utils.translation import gettext, gettext_lazy

from parcels.figures.counting import SILENT_DAYS
from parcels.figures.models import Timing
from parcels.figures.silence import is_silent
from parcels.figures.timing import HAS_TIMING, TIMING, is_overdue
from parcels.models import Parcel, TrackingNumber, TrackingStatus
from parcels.tracking.events import milliseconds
from shops.db import clock
from shops.staff import filters
from shops.staff.days import start_of

CARRIERS_OF_THE_NEWEST = 1000
NO_STATUS = filters.NONE
GOES_BACK_DAYS = 2


class CarrierFilter(filters.CarrierFilter):
    """Parcels of one carrier. It offers the carriers of the newest parcels, because an import may name any carrier."""

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        newest = Parcel.objects.values_list("carrier_code", flat=True)[:CARRIERS_OF_THE_NEWEST]
        return [(code, code) for code in sorted({*newest, *request.GET.getlist("carrier")} - {""})]


class StatusFilter(filters.MultiChoiceFilter):
    """Parcels with any of the ticked statuses, those without one among them."""

    title = gettext_lazy("status")
    parameter_name = "status"
    column = "last_status"
    values = TrackingStatus

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [*super().lookups(request, model_admin), (NO_STATUS, gettext("None yet"))]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        ticked = request.GET.getlist("status")
        if NO_STATUS not in ticked:
            return super().queryset(request, queryset)
        return queryset.filter(Q(last_status=None) | Q(last_status__in=ticked))


def of_timing(timing: Timing, parcels: QuerySet[Any]) -> QuerySet[Any]:
    if timing == Timing.OVERDUE:
        return parcels.filter(is_overdue(clock.now()))
    found: QuerySet[Any] = parcels.alias(timing=TIMING).filter(HAS_TIMING, timing=timing)  # along their index
    return found


class DeliveryFilter(filters.OptionFilter):
    """Parcels that were delivered within the delivery window that was reported or after it, or are past it."""

    title = gettext_lazy("delivery")
    parameter_name = "delivery"
    options = {timing.value: (capfirst(timing.label), partial(of_timing, timing)) for timing in Timing}


def silent_for(days: int, parcels: QuerySet[Any]) -> QuerySet[Any]:
    silent = TrackingNumber.objects.followed().filter(is_silent(clock.now() - timedelta(days=days)))
    return parcels.filter(pk__in=silent.values("parcel"))


class SilenceFilter(filters.OptionFilter):
    """Parcels that are followed, and of which nobody has told anything new for some days."""

    title = gettext_lazy("no news for")
    parameter_name = "silent"
    options = {
        str(days): (format_lazy(gettext_lazy("{days} days"), days=days), partial(silent_for, days))
        for days in SILENT_DAYS
    }


class CreatedMs:
    """The start of a day in Unix milliseconds, as parcels have it."""

    @staticmethod
    def midnight(day: date) -> int:
        return milliseconds(start_of(day))


class RecentFilter(CreatedMs, filters.RecentFilter):
    """Parcels created today or in this month."""

    title = gettext_lazy("created")


class CreatedFilter(CreatedMs, filters.PeriodFilter):
    """Parcels created in a period of days."""


class HandedInFilter(CreatedMs, filters.PeriodFilter):
    """Parcels handed in in a period of days."""

    title = gettext_lazy("day of the hand-in")
    parameter_name = "handed_in"
    column = "handed_in_at"


class DeliveredFilter(CreatedMs, filters.PeriodFilter):
    """Parcels delivered in a period of days."""

    title = gettext_lazy("day of the delivery")
    parameter_name = "delivered"
    column = "delivery_date"


class IsHandedInFilter(filters.OptionFilter):
    """Parcels that the carrier has, or does not have yet."""

    title = gettext_lazy("handed in")
    parameter_name = "handed"
    options = {
        "yes": (gettext_lazy("Yes"), lambda parcels: parcels.filter(handed_in_at__isnull=False)),
        "no": (gettext_lazy("Not yet"), lambda parcels: parcels.filter(handed_in_at=None, is_withdrawn=False)),
    }


class GoesBackFilter(filters.OptionFilter):
    """Parcels that wait at a pickup point, and go back soon or are about to."""

    title = gettext_lazy("goes back within")
    parameter_name = "goes_back"
    options = {str(GOES_BACK_DAYS): (gettext_lazy("2 days"), lambda parcels: parcels.filter(goes_back()))}


def goes_back() -> Q:
    until = milliseconds(clock.now() + timedelta(days=GOES_BACK_DAYS))
    return Q(last_status=TrackingStatus.WAITING_FOR_PICKUP, end_deposit_date__lt=until, is_withdrawn=False)

"""Filters of the list of parcels."""

from datetime import date, timedelta
from typing import Any

from django.db.models import Q, QuerySet
from django.http import HttpRequest
from django.utils import timezone

from parcels.models import Parcel, TrackingStatus
from shops.admin import filters

CARRIERS_OF_THE_NEWEST = 1000
SILENT_DAYS = (3, 7, 14)


class CarrierFilter(filters.CarrierFilter):
    """Parcels of one carrier. It offers the carriers of the newest parcels, because an import may name any carrier."""

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        newest = Parcel.objects.values_list("carrier_code", flat=True)[:CARRIERS_OF_THE_NEWEST]
        return [(code, code) for code in sorted({*newest, *request.GET.getlist("carrier")} - {""})]


class StatusFilter(filters.MultiChoiceFilter):
    """Parcels with any of the ticked statuses."""

    title = parameter_name = "status"
    column = "last_status"
    values = TrackingStatus


class SilenceFilter(filters.DropdownFilter):
    """Parcels that are followed, and of which the carrier has said nothing new for some days."""

    title = "no news for"
    parameter_name = "silent"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [(str(days), f"{days} days") for days in SILENT_DAYS]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        value = self.value() or ""
        if value not in {str(days) for days in SILENT_DAYS}:
            return queryset
        since = int((timezone.now() - timedelta(days=int(value))).timestamp() * 1000)
        followed = queryset.filter(tracking__next_check_at__isnull=False, created_at__lt=since)
        return followed.filter(Q(tracking__last_event_at=None) | Q(tracking__last_event_at__lt=since))


class CreatedMs:
    """The start of a day in Unix milliseconds, as parcels have it."""

    @staticmethod
    def midnight(day: date) -> int:
        return int(filters.start_of(day).timestamp() * 1000)


class RecentFilter(CreatedMs, filters.RecentFilter):
    """Parcels created today or in this month, in UTC."""

    title = "created"


class CreatedFilter(CreatedMs, filters.PeriodFilter):
    """Parcels created in a period of days in UTC."""

"""What the staff's list of parcels can be narrowed by."""

from datetime import UTC, date, datetime
from typing import Any

from django.db.models import QuerySet
from django.http import HttpRequest

from parcels.models import Parcel, TrackingStatus
from shops.admin.base import DropdownFilter, MultiChoiceFilter, PeriodFilter

CARRIERS_OF_THE_NEWEST = 1000


class CarrierFilter(DropdownFilter):
    """Parcels of one carrier; it offers those of the newest parcels, as shops' systems may name any."""

    title = "carrier"
    parameter_name = "carrier"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        newest = Parcel.objects.values_list("carrier_code", flat=True)[:CARRIERS_OF_THE_NEWEST]
        return [(code, code) for code in sorted({*newest, *request.GET.getlist("carrier")} - {""})]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Parcel]) -> QuerySet[Parcel]:
        return queryset.filter(carrier_code=self.value()) if self.value() else queryset


class StatusFilter(MultiChoiceFilter):
    """Parcels in any of the statuses ticked."""

    title = parameter_name = "status"
    column = "last_status"
    values = TrackingStatus


class CreatedFilter(PeriodFilter):
    """Parcels created in a period of days in UTC."""

    @staticmethod
    def midnight(day: date) -> int:
        """In Unix milliseconds."""
        return int(datetime(day.year, day.month, day.day, tzinfo=UTC).timestamp() * 1000)

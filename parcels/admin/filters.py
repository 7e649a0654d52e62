"""Filters of the list of parcels."""

from datetime import UTC, date, datetime
from typing import Any

from django.http import HttpRequest

from parcels.models import Parcel, TrackingStatus
from shops.admin import filters

CARRIERS_OF_THE_NEWEST = 1000


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


class CreatedFilter(filters.PeriodFilter):
    """Parcels created in a period of days in UTC."""

    @staticmethod
    def midnight(day: date) -> int:
        """Return the start of a day in Unix milliseconds."""
        return int(datetime(day.year, day.month, day.day, tzinfo=UTC).timestamp() * 1000)

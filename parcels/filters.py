"""What the staff's list of parcels can be narrowed by."""

from datetime import UTC, date, datetime
from typing import TYPE_CHECKING, Any

from django import forms
from django.contrib import admin
from django.contrib.admin.views.main import ChangeList
from django.db.models import QuerySet
from django.http import HttpRequest

from parcels.models import Parcel, TrackingStatus
from parcels.templatetags.parcel_page import short_name

if TYPE_CHECKING:  # unfold ships no types; its filters are the admin's, with another look
    from django.contrib.admin import SimpleListFilter as CheckboxFilter
    from django.contrib.admin import SimpleListFilter as DropdownFilter
else:
    from unfold.contrib.filters.admin import CheckboxFilter, DropdownFilter

CARRIERS_OF_THE_NEWEST = 1000
DAY_MS = 24 * 3600 * 1000


class CarrierFilter(DropdownFilter):
    """Parcels of one carrier, out of those that the newest parcels have: a carrier is a word of the shop's systems."""

    title = "carrier"
    parameter_name = "carrier"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        newest = Parcel.objects.values_list("carrier_code", flat=True)[:CARRIERS_OF_THE_NEWEST]
        return [(code, code) for code in sorted({*newest, *request.GET.getlist("carrier")} - {""})]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Parcel]) -> QuerySet[Parcel]:
        return queryset.filter(carrier_code=self.value()) if self.value() else queryset


class StatusFilter(CheckboxFilter):
    """Parcels in any of the statuses ticked."""

    title = "status"
    parameter_name = "status"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [(status, short_name(status)) for status in TrackingStatus]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Parcel]) -> QuerySet[Parcel]:
        ticked = request.GET.getlist("status")
        return queryset.filter(last_status__in=ticked) if ticked else queryset


def day_field(label: str) -> forms.DateField:
    """A day, entered with the browser's own calendar."""
    return forms.DateField(
        required=False,
        widget=forms.DateInput(attrs={"type": "date", "aria-label": label, "class": "parcel-day"}, format="%Y-%m-%d"),
    )


class PeriodForm(forms.Form):
    """The first and the last day of a period; either may be missing."""

    created_from = day_field("from")
    created_to = day_field("to")


class CreatedFilter(admin.ListFilter):
    """Parcels created in a period of days in UTC."""

    title = "day of creation (UTC)"
    template = "unfold/filters/filters_date_range.html"

    def __init__(self, request: HttpRequest, params: dict[str, Any], model: type[Parcel], model_admin: Any) -> None:
        super().__init__(request, params, model, model_admin)
        self.used_parameters = {name: params.pop(name)[-1] for name in self.expected_parameters() if name in params}
        self.form = PeriodForm(self.used_parameters)

    def expected_parameters(self) -> list[str | None]:
        return list(PeriodForm.base_fields)

    def has_output(self) -> bool:
        return True

    def choices(self, changelist: ChangeList) -> Any:
        yield {"form": self.form}

    def queryset(self, request: HttpRequest, queryset: QuerySet[Parcel]) -> QuerySet[Parcel]:
        if not self.form.is_valid():
            return queryset.none()
        first, last = self.form.cleaned_data["created_from"], self.form.cleaned_data["created_to"]
        if first:
            queryset = queryset.filter(created_at__gte=start_ms(first))
        if last:
            queryset = queryset.filter(created_at__lt=start_ms(last) + DAY_MS)
        return queryset


def start_ms(day: date) -> int:
    """Midnight in UTC, as Unix milliseconds."""
    return int(datetime(day.year, day.month, day.day, tzinfo=UTC).timestamp() * 1000)

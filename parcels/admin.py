"""The staff's view of parcels, which answers "where is this parcel": found, shown, never changed."""

from datetime import UTC, date, datetime, timedelta
from functools import cached_property
from typing import TYPE_CHECKING, Any

from django import forms
from django.contrib import admin
from django.contrib.admin.views.main import ChangeList
from django.core.paginator import Paginator
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.html import format_html

from parcels.models import Parcel, ParcelNumber, TrackingStatus
from parcels.templatetags.parcel_page import NOTHING, short_name, status_label, time

if TYPE_CHECKING:  # unfold ships no types; its classes are the admin's, with another look
    from django.contrib.admin import SimpleListFilter as CheckboxFilter
    from django.contrib.admin import SimpleListFilter as DropdownFilter
    from django.contrib.admin.filters import RelatedFieldListFilter as AutocompleteSelectFilter

    ParcelModelAdmin = admin.ModelAdmin[Parcel]
    ParcelPaginator = Paginator[Parcel]
else:
    from unfold.admin import ModelAdmin as ParcelModelAdmin
    from unfold.contrib.filters.admin import AutocompleteSelectFilter, CheckboxFilter, DropdownFilter

    ParcelPaginator = Paginator

LISTED_AT_MOST = 1000
CARRIERS_OF_THE_NEWEST = 1000
DAY = timedelta(days=1)


def found_by(text: str) -> QuerySet[Any, Any]:
    """Give the ids of the parcels of all shops with this number, order number, e-mail or id.

    Every part is an exact look-up along an index; spellings stand in for what no index compares: the case of
    letters, spaces inside a number, the ``#`` before an order number.
    """
    spellings = {text, text.lower(), text.upper(), "".join(text.split())}
    orders = spellings | {"#" + spelling for spelling in spellings} | {text.removeprefix("#")}
    parcels = Parcel.objects.order_by().values("pk")
    return ParcelNumber.objects.order_by().filter(number__in=spellings).values("parcel").union(
        parcels.filter(order_number__in=orders),
        parcels.filter(customer_email__in=spellings),
        parcels.filter(pk__in=spellings),
        all=True,
    )


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
        return queryset.filter(last_status__in=self.value()) if self.value() else queryset


class PeriodForm(forms.Form):
    """The first and the last day of a period, either may be missing."""

    created_from = forms.DateField(required=False)
    created_to = forms.DateField(required=False)


class CreatedFilter(admin.ListFilter):
    """Parcels created in a period of days in UTC."""

    title = "day of creation (UTC)"
    template = "unfold/filters/filters_date_range.html"

    def __init__(
        self, request: HttpRequest, params: dict[str, Any], model: type[Parcel], model_admin: Any
    ) -> None:
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
            queryset = queryset.filter(created_at__lt=start_ms(last + DAY))
        return queryset


def start_ms(day: date) -> int:
    """Midnight in UTC, as Unix milliseconds."""
    return int(datetime(day.year, day.month, day.day, tzinfo=UTC).timestamp() * 1000)

"""What the staff's list of labels can be narrowed by."""

from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING, Any

from django import forms
from django.contrib import admin
from django.contrib.admin.views.main import ChangeList
from django.db.models import QuerySet
from django.http import HttpRequest

from carriers import CARRIERS
from labels.models import LabelState, ShippingLabel
from labels.states import short_name

if TYPE_CHECKING:  # unfold ships no types; its filters are the admin's, with another look
    from django.contrib.admin import SimpleListFilter as CheckboxFilter
    from django.contrib.admin import SimpleListFilter as DropdownFilter
else:
    from unfold.contrib.filters.admin import CheckboxFilter, DropdownFilter

NEEDED, MADE = "needed", "made"


class DecisionFilter(DropdownFilter):
    """Labels that wait for a person, and those that a person decided."""

    title = "decision"
    parameter_name = "decision"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [(NEEDED, "Needs a decision"), (MADE, "Decided by staff")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[ShippingLabel]) -> QuerySet[ShippingLabel]:
        if self.value() == NEEDED:
            return queryset.needing_decision()  # type: ignore[attr-defined, no-any-return]  # it is the model's own
        return queryset.filter(decided_at__isnull=False) if self.value() == MADE else queryset


class CarrierFilter(DropdownFilter):
    """Labels of one carrier."""

    title = "carrier"
    parameter_name = "carrier"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [(code, code) for code in CARRIERS]

    def queryset(self, request: HttpRequest, queryset: QuerySet[ShippingLabel]) -> QuerySet[ShippingLabel]:
        return queryset.filter(carrier_code=self.value()) if self.value() else queryset


class StateFilter(CheckboxFilter):
    """Labels in any of the states ticked."""

    title = "state"
    parameter_name = "state"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [(state, short_name(state)) for state in LabelState]

    def queryset(self, request: HttpRequest, queryset: QuerySet[ShippingLabel]) -> QuerySet[ShippingLabel]:
        ticked = request.GET.getlist("state")
        return queryset.filter(state__in=ticked) if ticked else queryset


def day_field(label: str) -> forms.DateField:
    """A day, entered with the browser's own calendar."""
    return forms.DateField(
        required=False,
        widget=forms.DateInput(attrs={"type": "date", "aria-label": label, "class": "label-day"}, format="%Y-%m-%d"),
    )


class PeriodForm(forms.Form):
    """The first and the last day of a period; either may be missing."""

    created_from = day_field("from")
    created_to = day_field("to")


class CreatedFilter(admin.ListFilter):
    """Labels created in a period of days in UTC."""

    title = "day of creation (UTC)"
    template = "unfold/filters/filters_date_range.html"

    def __init__(
        self, request: HttpRequest, params: dict[str, Any], model: type[ShippingLabel], model_admin: Any
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

    def queryset(self, request: HttpRequest, queryset: QuerySet[ShippingLabel]) -> QuerySet[ShippingLabel]:
        if not self.form.is_valid():
            return queryset.none()
        first, last = self.form.cleaned_data["created_from"], self.form.cleaned_data["created_to"]
        if first:
            queryset = queryset.filter(created_at__gte=midnight(first))
        if last and last < date.max:
            queryset = queryset.filter(created_at__lt=midnight(last + timedelta(days=1)))
        return queryset


def midnight(day: date) -> datetime:
    return datetime(day.year, day.month, day.day, tzinfo=UTC)

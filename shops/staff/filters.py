"""Filters of the admin's lists."""

from collections.abc import Callable, Iterator, Mapping
from datetime import date
from typing import Any, ClassVar, TypeVar, cast

from django import forms
from django.contrib import admin
from django.contrib.admin.views.main import ChangeList
from django.core.validators import MinValueValidator
from django.db.models import Q, QuerySet, TextChoices
from django.http import HttpRequest
from django.utils.formats import date_format
from django.utils.translation import gettext, gettext_lazy
from django_stubs_ext import StrOrPromise

from carriers import CARRIERS
from shops.staff.days import next_day, start_of, today
from shops.staff.display_texts import short_name
from shops.staff.unfold_classes import CheckboxFilter, DropdownFilter

NONE = "none"  # chooses rows without a value
Kind = TypeVar("Kind", bound=type[admin.ListFilter])


def of(kind: Kind, title: StrOrPromise, parameter: str, **own: Any) -> Kind:
    """Declare a filter of a kind: its title, its parameter in addresses, its column too, and the kind's own."""
    named = {"title": title, "parameter_name": parameter, "column": parameter}
    return cast("Kind", type(kind.__name__, (kind,), named | own))


class ColumnFilter(DropdownFilter):
    """Rows with one value of a column; those that are offered have texts."""

    column: ClassVar[str]
    offered: ClassVar[Mapping[str, StrOrPromise]]

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        return list(self.offered.items())

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        return queryset.filter(**{self.column: self.value()}) if self.value() else queryset


class OptionFilter(DropdownFilter):
    """Rows that the chosen option finds: each has a text, and a function that narrows the list."""

    options: ClassVar[Mapping[str, tuple[StrOrPromise, Callable[[Any], QuerySet[Any]]]]]

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        return [(value, text) for value, (text, _) in self.options.items()]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        option = self.options.get(self.value() or "")
        return option[1](queryset) if option else queryset


CarrierFilter = of(
    ColumnFilter,
    gettext_lazy("carrier"),
    "carrier",
    column="carrier_code",
    offered={code: code for code in CARRIERS},
)
LIVE = (gettext_lazy("live"), lambda rows: rows.filter(shop__is_test=False))
TEST = ("TEST", lambda rows: rows.filter(shop__is_test=True))
ModeFilter = of(OptionFilter, gettext_lazy("mode"), "mode", options={"live": LIVE, "test": TEST})


class MultiChoiceFilter(CheckboxFilter):
    """Rows whose column has any of the ticked values, or none where that is offered by a text."""

    column: str
    values: type[TextChoices]
    none: StrOrPromise = ""

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        none = [(NONE, self.none)] if self.none else []
        return [*((value, short_name(value)) for value in self.values.values), *none]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        ticked = request.GET.getlist(cast("str", self.parameter_name))
        found = Q(**{f"{self.column}__in": ticked})
        if self.none and NONE in ticked:
            found |= Q(**{self.column: None})
        return queryset.filter(found) if ticked else queryset


# The first days of the calendar begin before it, in some time zones.
NOT_THE_FIRST = MinValueValidator(date(1, 1, 3))


def day_field(label: StrOrPromise) -> forms.DateField:
    """Return an optional day, picked in the browser's own calendar."""
    return forms.DateField(
        required=False,
        label=label,
        validators=[NOT_THE_FIRST],
        widget=forms.DateInput(attrs={"type": "date", "aria-label": label, "class": "day"}, format="%Y-%m-%d"),
    )


class PeriodFilter(admin.ListFilter):
    """Rows created in a period of days; `midnight` is a day's start as the column has it."""

    title: Any = gettext_lazy("day of creation")
    parameter_name = "created"
    column = "created_at"
    midnight: Callable[[date], Any] = staticmethod(start_of)
    template = "unfold/filters/filters_date_range.html"

    def __init__(self, request: HttpRequest, params: dict[str, Any], model: Any, model_admin: Any) -> None:
        super().__init__(request, params, model, model_admin)
        names = self.expected_parameters()
        self.used_parameters = {name: params.pop(name)[-1] for name in names if name in params}
        self.form = forms.Form(self.used_parameters)
        self.form.fields |= {
            name: day_field(label) for name, label in zip(names, (gettext("from"), gettext("to")), strict=True)
        }

    def expected_parameters(self) -> list[Any]:
        return [f"{self.parameter_name}_from", f"{self.parameter_name}_to"]

    @property
    def has_first_day(self) -> bool:
        return bool(self.used_parameters.get(f"{self.parameter_name}_from"))

    @property
    def has_last_day(self) -> bool:
        return bool(self.used_parameters.get(f"{self.parameter_name}_to"))

    def has_output(self) -> bool:
        return True

    def choices(self, changelist: ChangeList) -> Any:
        yield {"form": self.form}

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        if not self.form.is_valid():
            return queryset.none()
        first, last = (self.form.cleaned_data[name] for name in self.expected_parameters())
        if first:
            queryset = queryset.filter(**{f"{self.column}__gte": self.midnight(first)})
        if last:
            queryset = queryset.filter(**{f"{self.column}__lt": self.midnight(next_day(last))})
        return queryset


def chosen_texts(spec: Any, listed: ChangeList) -> Iterator[str]:
    is_given = any(value for name in spec.expected_parameters() for value in listed.filter_params.get(name, ()))
    for choice in spec.choices(listed) if is_given else ():
        if "form" in choice:
            for name, field in choice["form"].fields.items():
                yield from (in_words(field, value) for value in listed.filter_params.get(name, ()) if value)
        elif choice["selected"]:
            yield str(choice["display"])


def in_words(field: forms.Field, value: str) -> str:
    """Say a filter's value as its field shows it; one that the field does not have is said as it is."""
    try:
        found = field.clean([value] if isinstance(field, forms.MultipleChoiceField) else value)
    except forms.ValidationError:
        return value
    if isinstance(field, forms.DateField):
        return f"{field.widget.attrs['aria-label']} {date_format(found)}"
    if isinstance(field, forms.ModelChoiceField):  # its choices are all rows of a table
        return str(found)
    return str(dict(cast("Any", field).choices).get(value, value))


def recent(column: str, midnight: Callable[[date], Any]) -> dict[str, Any]:
    """Return the options of rows created today or in this month; `midnight` is a day's start as the column has it."""

    def created(**part: int) -> Callable[[Any], QuerySet[Any]]:
        return lambda rows: rows.filter(**{f"{column}__gte": midnight(today().replace(**part))})

    return {"today": (gettext_lazy("Today"), created()), "month": (gettext_lazy("This month"), created(day=1))}

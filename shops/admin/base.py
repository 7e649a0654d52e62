"""What the staff's pages share; those of large tables are found along indexes, counted no further, and read-only."""

from datetime import date
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar, cast

from django import forms
from django.contrib import admin
from django.contrib.admin.exceptions import DisallowedModelAdminLookup
from django.contrib.admin.views.main import ChangeList
from django.core.paginator import Paginator
from django.db.models import Model, QuerySet, TextChoices
from django.http import HttpRequest

from shops.admin.wording import short_name

if TYPE_CHECKING:  # unfold ships no types; its classes are the admin's, with another look
    from django.contrib.admin import ModelAdmin as LookAdmin
    from django.contrib.admin import SimpleListFilter as CheckboxFilter
    from django.contrib.admin import SimpleListFilter as DropdownFilter
    from django.contrib.admin.filters import RelatedFieldListFilter as AutocompleteSelectFilter

    RowPaginator = Paginator[Any]
else:
    from unfold.admin import ModelAdmin as LookAdmin
    from unfold.contrib.filters.admin import AutocompleteSelectFilter, CheckboxFilter, DropdownFilter

    RowPaginator = Paginator

__all__ = [
    "LISTED_AT_MOST",
    "AutocompleteSelectFilter",
    "CappedList",
    "DropdownFilter",
    "LargeTableAdmin",
    "ModelAdmin",
    "MultiChoiceFilter",
    "PeriodFilter",
    "ReadOnly",
    "spellings",
]

LISTED_AT_MOST = 1000
Row = TypeVar("Row", bound=Model)


class RestrictedChangeList(ChangeList):
    """A list that is narrowed by the filters it offers and by nothing else.

    Django would compare any column with anything: an answer to that tells a secret, letter by letter, and it fails
    where the column can't hold the value.
    """

    def get_filters(self, request: HttpRequest) -> Any:
        filters = super().get_filters(request)
        if filters[2]:  # what no filter took
            raise DisallowedModelAdminLookup("This list has no such filter.")
        return filters


class ModelAdmin(LookAdmin[Row]):
    """The admin's own."""

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[ChangeList]:
        return RestrictedChangeList


class CappedPaginator(RowPaginator):
    """Pages over the newest, up to a number: beyond it one searches, and nothing counts millions of rows."""

    template_name = "shops/pagination.html"

    @cached_property
    def found(self) -> int:
        """How many there are, counted no further than to know that there are too many."""
        rows = cast("QuerySet[Any]", self.object_list)
        return rows.order_by()[: LISTED_AT_MOST + 1].count()

    @cached_property
    def count(self) -> int:
        return min(self.found, LISTED_AT_MOST)

    @property
    def is_capped(self) -> bool:
        return self.found > LISTED_AT_MOST


class CappedList(RestrictedChangeList):
    """A list that leaves in the database what it does not show."""

    not_listed: tuple[str, ...] = ()

    def get_queryset(self, *args: Any, **kwargs: Any) -> QuerySet[Any]:
        return super().get_queryset(*args, **kwargs).defer(*self.not_listed)

    def get_results(self, request: HttpRequest) -> None:
        super().get_results(request)
        if not self.query and not self.has_active_filters:
            self.full_result_count = self.result_count  # offers "Show all" only where something is left out


class ReadOnly:
    """Rows that are looked at: they are not for the admin to make, edit or delete."""

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


class LargeTableAdmin(ReadOnly, ModelAdmin[Row]):
    """Pages of a large table, whose newest rows are listed; the others are searched for by what has an index."""

    list_filter_submit = True
    list_select_related = ("shop",)
    list_per_page = 50
    sortable_by = ()  # the newest first, along the index
    paginator = CappedPaginator
    show_full_result_count = False
    show_facets = admin.ShowFacets.NEVER
    search_fields = ("pk",)  # shows the box; what it finds is up to `found_by`
    actions = None

    class Media:
        css = {"all": ["shops/lists.css"]}

    def found_by(self, text: str) -> QuerySet[Any, Any]:
        """Give the keys of the rows that staff mean by this text."""
        raise NotImplementedError

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Row], search_term: str
    ) -> tuple[QuerySet[Row], bool]:
        text = search_term.strip()
        return (queryset.filter(pk__in=self.found_by(text)) if text else queryset), False


class MultiChoiceFilter(CheckboxFilter):
    """Rows whose column has any of the values ticked."""

    column: str
    values: type[TextChoices]

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [(value, short_name(value)) for value in self.values]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        ticked = request.GET.getlist(cast("str", self.parameter_name))
        return queryset.filter(**{f"{self.column}__in": ticked}) if ticked else queryset


def day_field(label: str) -> forms.DateField:
    """A day, entered with the browser's own calendar."""
    return forms.DateField(
        required=False,
        widget=forms.DateInput(attrs={"type": "date", "aria-label": label, "class": "day"}, format="%Y-%m-%d"),
    )


class PeriodForm(forms.Form):
    """The first and the last day of a period; either may be missing."""

    created_from = day_field("from")
    created_to = day_field("to")


class PeriodFilter(admin.ListFilter):
    """Rows created in a period of days in UTC."""

    title = "day of creation (UTC)"
    template = "unfold/filters/filters_date_range.html"

    def __init__(self, request: HttpRequest, params: dict[str, Any], model: Any, model_admin: Any) -> None:
        super().__init__(request, params, model, model_admin)
        self.used_parameters = {name: params.pop(name)[-1] for name in self.expected_parameters() if name in params}
        self.form = PeriodForm(self.used_parameters)

    def expected_parameters(self) -> list[str | None]:
        return list(PeriodForm.base_fields)

    def has_output(self) -> bool:
        return True

    def choices(self, changelist: ChangeList) -> Any:
        yield {"form": self.form}

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        if not self.form.is_valid():
            return queryset.none()
        first, last = self.form.cleaned_data["created_from"], self.form.cleaned_data["created_to"]
        if first:
            queryset = queryset.filter(created_at__gte=self.midnight(first))
        if last and last < date.max:
            queryset = queryset.filter(created_at__lt=self.midnight(date.fromordinal(last.toordinal() + 1)))
        return queryset

    @staticmethod
    def midnight(day: date) -> Any:
        """The first moment of a day in UTC, as the rows' `created_at` has it."""
        raise NotImplementedError


def spellings(text: str) -> set[str]:
    """The forms in which a text may be stored: as typed, without its spaces, and both in either case of letters."""
    written = {text, "".join(text.split())}
    return {case(form) for form in written for case in (str, str.lower, str.upper)}

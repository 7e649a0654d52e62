"""The staff's view of parcels, which answers "where is this parcel": found, shown, never changed."""

from datetime import UTC, date, datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

from django import forms
from django.contrib import admin
from django.contrib.admin.views.main import ChangeList
from django.core.exceptions import BadRequest
from django.core.paginator import Paginator
from django.db.models import QuerySet
from django.http import HttpRequest

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
NOT_LISTED = ("events", "line_items", "previous_emails", "gift_config", "cross_sell_recommendations")
DAY_MS = 24 * 3600 * 1000


admin.site.index_template = "parcels/admin_index.html"


def found_by(text: str) -> QuerySet[Any, Any]:
    """Give the ids of the parcels of all shops with this number, order number, e-mail or id.

    Every part is an exact look-up along an index; spellings stand in for what no index compares: the case of
    letters, spaces inside a number, the ``#`` before an order number.
    """
    spellings = {text, text.lower(), text.upper(), "".join(text.split())}
    orders = spellings | {"#" + spelling for spelling in spellings} | {text.removeprefix("#")}
    parcels = Parcel.objects.order_by().values("pk")
    return (
        ParcelNumber.objects.order_by()
        .filter(number__in=spellings)
        .values("parcel")
        .union(
            parcels.filter(order_number__in=orders),
            parcels.filter(customer_email__in=spellings),
            parcels.filter(pk__in=spellings),
            all=True,
        )
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


class CappedPaginator(ParcelPaginator):
    """Pages over the newest, up to a number: beyond it one searches, and nothing counts millions of rows."""

    template_name = "parcels/pagination.html"

    @cached_property
    def found(self) -> int:
        """How many there are, counted no further than to know that there are too many."""
        parcels = cast("QuerySet[Parcel]", self.object_list)
        return parcels.order_by()[: LISTED_AT_MOST + 1].count()

    @cached_property
    def count(self) -> int:
        return min(self.found, LISTED_AT_MOST)

    @property
    def is_capped(self) -> bool:
        return self.found > LISTED_AT_MOST


class ParcelList(ChangeList):
    """The list reads what it shows; histories and items stay in the database."""

    def get_queryset(self, *args: Any, **kwargs: Any) -> QuerySet[Any]:
        parcels = super().get_queryset(*args, **kwargs)
        return parcels.defer(*NOT_LISTED)

    def get_results(self, request: HttpRequest) -> None:
        super().get_results(request)
        if not self.query and not self.has_active_filters:
            self.full_result_count = self.result_count  # offers "Show all" only where something is left out


@admin.register(Parcel)
class ParcelAdmin(ParcelModelAdmin):
    """Parcels, to look at: what a shop's systems report is not for staff to change."""

    list_display = ("number", "order_number", "shop", "carrier", "status", "updated", "going_to", "created")
    list_display_links = ("number",)
    list_filter = (("shop", AutocompleteSelectFilter), CarrierFilter, StatusFilter, CreatedFilter)
    list_filter_submit = True
    list_select_related = ("shop",)
    list_per_page = 50
    sortable_by = ()  # the newest first, along the index
    paginator = CappedPaginator
    show_full_result_count = False
    show_facets = admin.ShowFacets.NEVER
    search_fields = ("pk",)  # shows the box; what it finds is up to `found_by`
    search_help_text = "Tracking number, order, e-mail or id"
    actions = None

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[ChangeList]:
        return ParcelList

    def changelist_view(self, request: HttpRequest, extra_context: Any = None) -> Any:
        refuse_nul(*request.GET, *(value for values in request.GET.lists() for value in values[1]))
        return super().changelist_view(request, extra_context)

    def change_view(self, request: HttpRequest, object_id: str, *args: Any, **kwargs: Any) -> Any:
        refuse_nul(object_id)
        return super().change_view(request, object_id, *args, **kwargs)

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Parcel], search_term: str
    ) -> tuple[QuerySet[Parcel], bool]:
        text = search_term.strip()
        return (queryset.filter(pk__in=found_by(text)) if text else queryset), False

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Parcel | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Parcel | None = None) -> bool:
        return False

    @admin.display(description="number")
    def number(self, parcel: Parcel) -> str:
        others = len(set(parcel.tracking_numbers) - {parcel.tracking_id})
        return f"{parcel.tracking_id} +{others}" if others else parcel.tracking_id

    @admin.display(description="carrier")
    def carrier(self, parcel: Parcel) -> str:
        return parcel.carrier_display_name or parcel.carrier_code

    @admin.display(description="status")
    def status(self, parcel: Parcel) -> str:
        return status_label(parcel.last_status)

    @admin.display(description="last update")
    def updated(self, parcel: Parcel) -> str:
        return time(parcel.updated_at)

    @admin.display(description="created")
    def created(self, parcel: Parcel) -> str:
        return time(parcel.created_at)

    @admin.display(description="destination")
    def going_to(self, parcel: Parcel) -> str:
        to = parcel.destination
        return ", ".join(filter(None, [to["city"], to["country"]])) or NOTHING

    class Media:
        css = {"all": ["parcels/admin.css"]}


def refuse_nul(*texts: str) -> None:
    """Answer 400 where PostgreSQL would fail: it refuses to compare with a text that has a NUL."""
    if any("\0" in text for text in texts):
        raise BadRequest("A NUL character is no part of any text here.")

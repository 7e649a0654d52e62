"""The staff's view of parcels, which answers "where is this parcel": found, shown, never changed."""

from typing import TYPE_CHECKING, Any

from django.contrib import admin
from django.contrib.admin.views.main import ChangeList
from django.db.models import QuerySet
from django.http import HttpRequest

from parcels.filters import CarrierFilter, CreatedFilter, StatusFilter
from parcels.models import Parcel, ParcelNumber
from parcels.templatetags.parcel_page import NOTHING, status_label, time
from shops.listing import CappedList, CappedPaginator, ReadOnly, refuse_nul

if TYPE_CHECKING:  # unfold ships no types; its classes are the admin's, with another look
    from django.contrib.admin.filters import RelatedFieldListFilter as AutocompleteSelectFilter

    ParcelModelAdmin = admin.ModelAdmin[Parcel]
else:
    from unfold.admin import ModelAdmin as ParcelModelAdmin
    from unfold.contrib.filters.admin import AutocompleteSelectFilter


admin.site.index_template = "parcels/admin_index.html"


def found_by(text: str) -> QuerySet[Any, Any]:
    """Give the ids of the parcels of all shops with this number, order number, e-mail or id.

    Every part is an exact look-up along an index; spellings stand in for what no index compares: the case of
    letters, spaces inside a number, the ``#`` before an order number.
    """
    as_typed = {text, "".join(text.split())}
    spellings = {case(written) for written in as_typed for case in (str, str.lower, str.upper)}
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


class ParcelList(CappedList):
    """The list reads what it shows; histories and items stay in the database."""

    not_listed = ("events", "line_items", "previous_emails", "gift_config", "cross_sell_recommendations")


@admin.register(Parcel)
class ParcelAdmin(ReadOnly, ParcelModelAdmin):
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

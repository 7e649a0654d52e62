"""The admin's pages of parcels, which answer "where is this parcel"."""

from collections.abc import Callable
from typing import Any, ClassVar

from django.contrib import admin, messages
from django.contrib.admin.views.main import ORDER_VAR, ChangeList
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import path
from django.utils import timezone

from parcels.admin.columns import EXPORT_COLUMNS
from parcels.admin.filters import (
    CarrierFilter,
    CreatedFilter,
    DeliveryFilter,
    RecentFilter,
    SilenceFilter,
    StatusFilter,
    lists_overdue,
)
from parcels.admin.search import whole, with_email
from parcels.figures.timing import WINDOW_END
from parcels.models import Parcel, ParcelTracking
from parcels.personal_data.columns import COLUMNS
from parcels.templatetags.parcel_page import status_label, time
from shops.contracts.clients import tracker
from shops.staff.audit.models import Action
from shops.staff.audit.recording import record
from shops.staff.base import CappedList, LargeTableAdmin
from shops.staff.display_texts import NOTHING
from shops.staff.filters import AutocompleteSelectFilter
from shops.staff.masking import conceal, may_see
from shops.staff.pages import page_of

admin.site.index_template = "parcels/admin_index.html"


def may_ask(request: HttpRequest) -> bool:
    return request.user.has_perm("parcels.change_parceltracking")


class ParcelList(CappedList):
    """The list, which does not read histories and items."""

    not_listed = (
        "events",
        "line_items",
        "previous_emails",
        "gift_config",
        "cross_sell_recommendations",
        "search_words",
    )

    def get_ordering(self, request: HttpRequest, queryset: QuerySet[Any]) -> list[Any]:
        """List parcels past their promise by its end, the last first: the newest parcels are never among them."""
        ordering = super().get_ordering(request, queryset)
        is_chosen = ORDER_VAR in self.params
        return list(ordering) if is_chosen or not lists_overdue(request) else [WINDOW_END.desc(), *ordering]


@admin.register(Parcel)
class ParcelAdmin(LargeTableAdmin[Parcel]):
    """Parcels, read-only: they are the shops' data."""

    list_display = ("number", "order_number", "shop", "carrier", "status", "updated", "going_to", "created")
    list_display_links = ("number",)
    list_filter = (
        ("shop", AutocompleteSelectFilter),
        CarrierFilter,
        StatusFilter,
        SilenceFilter,
        DeliveryFilter,
        RecentFilter,
        CreatedFilter,
    )
    sortable_by: ClassVar[tuple[str, ...]] = ("created",)  # along the index
    search_help_text = "Tracking number, order, e-mail or id"
    export_columns = EXPORT_COLUMNS
    personal = COLUMNS[Parcel].personal
    are_views_recorded = True

    # What an app above adds to a parcel's page: functions of request and parcel that return HTML.
    panels: ClassVar[list[Callable[[HttpRequest, Parcel], str]]] = []

    def change_view(self, request: HttpRequest, object_id: str, *args: Any, **kwargs: Any) -> Any:
        parcel = self.row_at(request, object_id)
        return super().change_view(request, object_id, extra_context=self.facts(request, parcel) if parcel else {})

    def facts(self, request: HttpRequest, parcel: Parcel) -> dict[str, Any]:
        """Collect what the parcel's page shows beside its fields."""
        tracking = ParcelTracking.objects.filter(pk=parcel.pk).first()
        if tracking and not may_see(request):
            conceal(tracking, COLUMNS[ParcelTracking].personal)
        return {
            "tracking": tracking,
            "carrier_events": sorted(tracking.carrier_events, key=lambda event: -event["at"]) if tracking else [],
            "shop_events": len(((tracking and tracking.reported) or {"story": {"events": []}})["story"]["events"]),
            "may_ask": tracking is not None and tracker(tracking.carrier_code) is not None and may_ask(request),
            "panels": [panel(request, parcel) for panel in self.panels],
        }

    def get_urls(self) -> list[Any]:
        view = self.admin_site.admin_view(self.ask_view)
        return [path("<path:object_id>/ask/", view, name="parcels_parcel_ask"), *super().get_urls()]

    def ask_view(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Let the carrier be asked as soon as a process is free."""
        if not may_ask(request):
            raise PermissionDenied
        parcel = self.row_at(request, object_id)
        if parcel is None:
            raise Http404("There is no parcel with this id.")
        if request.method == "POST":
            self.have_asked(request, parcel)
        return HttpResponseRedirect(page_of(parcel))

    def have_asked(self, request: HttpRequest, parcel: Parcel) -> None:
        rows = ParcelTracking.objects.filter(pk=parcel.pk)
        if not any(tracker(carrier_code) for carrier_code in rows.values_list("carrier_code", flat=True)):
            messages.error(request, "Its carrier can't be asked: the parcel is not followed, or there is no service.")
        elif rows.update(next_check_at=timezone.now()):
            record(Action.CHANGED, parcel, note="The carrier is asked by hand.")
            messages.success(request, "The carrier is asked now. Reload the page in a minute.")

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[ChangeList]:
        return ParcelList

    def customer_of(self, row: Parcel) -> str:
        return row.customer_email or ""

    def found_by(self, text: str, *, may_see: bool) -> QuerySet[Any, Any]:
        return whole(text).union(with_email(text), all=True) if may_see else whole(text)

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

    @admin.display(description="created", ordering="created_at")
    def created(self, parcel: Parcel) -> str:
        return time(parcel.created_at)

    @admin.display(description="destination")
    def going_to(self, parcel: Parcel) -> str:
        to = parcel.destination
        return ", ".join(filter(None, [to["city"], to["country"]])) or NOTHING

    class Media:
        css = {"all": ["parcels/admin.css"]}

"""The admin's pages of parcels, which answer "where is this parcel"."""

from typing import Any

from django.contrib import admin
from django.contrib.admin.views.main import ChangeList
from django.db.models import QuerySet
from django.http import HttpRequest

from parcels.admin.filters import CarrierFilter, CreatedFilter, StatusFilter
from parcels.models import Parcel, ParcelNumber
from parcels.templatetags.parcel_page import status_label, time
from shops.admin.base import CappedList, LargeTableAdmin, spellings
from shops.admin.filters import AutocompleteSelectFilter
from shops.admin.wording import NOTHING

admin.site.index_template = "parcels/admin_index.html"


class ParcelList(CappedList):
    """The list, which does not read histories and items."""

    not_listed = ("events", "line_items", "previous_emails", "gift_config", "cross_sell_recommendations")


@admin.register(Parcel)
class ParcelAdmin(LargeTableAdmin[Parcel]):
    """Parcels, read-only: they are the shops' data."""

    list_display = ("number", "order_number", "shop", "carrier", "status", "updated", "going_to", "created")
    list_display_links = ("number",)
    list_filter = (("shop", AutocompleteSelectFilter), CarrierFilter, StatusFilter, CreatedFilter)
    search_help_text = "Tracking number, order, e-mail or id"

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[ChangeList]:
        return ParcelList

    def found_by(self, text: str) -> QuerySet[Any, Any]:
        """Return the ids of all shops' parcels with this tracking number, order number, e-mail or id.

        Every part is an exact look-up along an index. Case, spaces and the ``#`` of an order number, which no index
        ignores, are covered by looking up several spellings.
        """
        typed = spellings(text)
        orders = typed | {"#" + spelling for spelling in typed} | {text.removeprefix("#")}
        parcels = Parcel.objects.order_by().values("pk")
        return (
            ParcelNumber.objects.order_by()
            .filter(number__in=typed)
            .values("parcel")
            .union(
                parcels.filter(order_number__in=orders),
                parcels.filter(customer_email__in=typed),
                parcels.filter(pk__in=typed),
                all=True,
            )
        )

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

"""A shop's parcels of the week, on the shop's page: by status, and what was handed in and delivered on each day."""

from django.http import HttpRequest
from django.template.loader import render_to_string
from django.utils.translation import gettext

from parcels.admin.figures import parcels_url
from parcels.figures.models import DayFigure
from parcels.models import Parcel
from parcels.tracking.events import milliseconds
from shops.admin.shop_overview import PANELS, first_day, week_panel
from shops.models import Shop
from shops.staff.days import start_of
from shops.staff.panels import period


def parcels_panel(request: HttpRequest, shop: Shop) -> str:
    since = milliseconds(start_of(first_day()))
    newest = Parcel.objects.for_shop(shop.id).filter(created_at__gte=since).newest_first()
    statuses, view = newest.values_list("last_status", flat=True), "parcels_parcel_changelist"
    return week_panel(gettext("Parcels"), statuses, view=view, parameter="status", shop_id=shop.id)


def days_panel(request: HttpRequest, shop: Shop) -> str:
    """Render what was handed in and delivered on each of the last days."""
    days = list(DayFigure.objects.filter(shop=shop, day__gte=first_day()).order_by("-day", "carrier_code"))
    for day in days:
        own = {"shop__id__exact": shop.id, "carrier": day.carrier_code}
        day.link = parcels_url(**own, **period("handed_in", day.day, day.day))  # type: ignore[attr-defined]  # for the template
    return render_to_string("parcels/days.html", {"days": days})


PANELS.extend(("parcels", "parcel", panel) for panel in (parcels_panel, days_panel))

"""A shop's parcels of the week, on the shop's page."""

from django.http import HttpRequest

from parcels.models import Parcel
from parcels.tracking.events import milliseconds
from shops.admin.shop_overview import PANELS
from shops.models import Shop
from shops.staff.days import start_of
from shops.staff.week_panel import first_day, week_panel


def parcels_panel(request: HttpRequest, shop: Shop) -> str:
    if not request.user.has_perm("parcels.view_parcel"):
        return ""
    since = milliseconds(start_of(first_day()))
    newest = Parcel.objects.for_shop(shop.id).filter(created_at__gte=since).newest_first()
    statuses = newest.values_list("last_status", flat=True)
    return week_panel("Parcels", statuses, view="parcels_parcel_changelist", parameter="status", shop_id=shop.id)


PANELS.append(parcels_panel)

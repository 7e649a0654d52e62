"""Parcels bought, handed in and delivered by month, shop and carrier: the second table of the figures for finance."""

from datetime import date, timedelta
from typing import Any, Final

from django.db.models import Q, QuerySet, Sum
from django.db.models.functions import TruncMonth
from django.utils.translation import gettext

from labels.figures.counting import BOUGHT
from parcels.admin.figures import parcels_url
from parcels.models import TrackingStatus
from shops.staff.display_texts import number
from shops.staff.panels import Figure, period

GROUPS: Final = ("month", "shop__name", "shop", "carrier_code")
LABELS: Final = {"bought": Sum("parcels", filter=Q(state__in=BOUGHT), default=0)}
DAYS: Final = {"sum_handed_in": Sum("handed_in"), "sum_delivered": Sum("delivered")}


def moved_rows(labels: QuerySet[Any], days: QuerySet[Any], *, has_lists: bool) -> list[dict[str, Any]]:
    """Sum each by its own day, parcels of imports too; with their lists for those who may see parcels."""
    found: dict[tuple[Any, ...], dict[str, int]] = {}
    for figures, sums in ((labels, LABELS), (days, DAYS)):
        for row in figures.annotate(month=TruncMonth("day")).values(*GROUPS).annotate(**sums):
            found.setdefault(tuple(row[name] for name in GROUPS), {}).update({name: row[name] for name in sums})
    moved = sorted((group, sums) for group, sums in found.items() if any(sums.values()))
    return [row_of(group, sums, has_lists=has_lists) for group, sums in moved]


def row_of(group: tuple[Any, ...], sums: dict[str, int], *, has_lists: bool) -> dict[str, Any]:
    month, name, shop_id, carrier = group
    own = {"shop__id__exact": shop_id, "carrier": carrier}
    handed_in = period("handed_in", month, end_of_month(month))
    delivered = {"status": TrackingStatus.DELIVERED.value, **period("delivered", month, end_of_month(month))}
    titles = (gettext("Parcels bought"), gettext("Handed in"), gettext("Delivered"))
    links = ("", parcels_url(**own, **handed_in), parcels_url(**own, **delivered))
    counts = [sums.get(each, 0) for each in (*LABELS, *DAYS)]
    figures = (Figure(number(n), link if n and has_lists else "") for n, link in zip(counts, links, strict=True))
    return {"month": month, "texts": [name, carrier], "figures": list(zip(titles, figures, strict=True))}


def end_of_month(month: date) -> date:
    return (month.replace(day=28) + timedelta(days=4)).replace(day=1) - timedelta(days=1)

"""A shop's rows of the last 7 days, counted by a column, with links to the filtered lists."""

from collections import Counter
from datetime import date, timedelta
from typing import Any

from django.db.models import QuerySet
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.translation import gettext_lazy

from shops.staff.days import today
from shops.staff.display_texts import short_name
from shops.staff.filters import NONE

COUNTED_AT_MOST = 5000
NO_VALUE = gettext_lazy("No status yet")


def first_day() -> date:
    """Return the first of the last 7 days, today among them, as the lists' filters count days."""
    return today() - timedelta(days=6)


def week_panel(title: str, values: QuerySet[Any, Any], *, view: str, parameter: str, shop_id: str) -> str:
    """Render the counts of the newest rows; `values` are those of one column since the first day, the newest first."""
    newest = list(values[: COUNTED_AT_MOST + 1])
    counts = Counter(newest[:COUNTED_AT_MOST])
    query = {"shop__id__exact": shop_id, "created_from": first_day().isoformat()}
    rows = [
        (
            short_name(value) if value else str(NO_VALUE),
            count,
            reverse(f"admin:{view}", query=query | {parameter: value or NONE}),
        )
        for value, count in counts.most_common()
    ]
    context = {"title": title, "rows": rows, "is_capped": len(newest) > COUNTED_AT_MOST, "counted": COUNTED_AT_MOST}
    return render_to_string("shops/desk_week.html", context)

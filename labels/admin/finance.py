"""The figures for finance: labels bought by month, shop, carrier and product, on a page and as files."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date, timedelta
from decimal import Decimal
from itertools import islice
from typing import Any, Final, cast

from django import forms
from django.contrib import admin
from django.contrib.admin.exceptions import DisallowedModelAdminLookup
from django.core.exceptions import PermissionDenied
from django.db.models import Min, Q, QuerySet, Sum
from django.db.models.functions import TruncMonth
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.urls import path
from django.utils.formats import date_format
from django.utils.translation import gettext, gettext_lazy, pgettext

from carriers import CARRIERS
from labels.admin.figures import labels_url
from labels.figures.counting import BOUGHT
from labels.figures.models import LabelFigure
from labels.models import LabelState
from parcels.admin.figures import parcels_url
from parcels.figures.models import DayFigure
from parcels.models import TrackingStatus
from shops.models import Shop
from shops.staff import figures
from shops.staff.base import ModelAdmin, ReadOnly
from shops.staff.days import today
from shops.staff.display_texts import number
from shops.staff.exports import answer, audited_filters
from shops.staff.panels import Figure, age_of, created, may_view, period
from shops.staff.spreadsheets import Cell

ROWS_SHOWN: Final = 200
# Of the second table, of which there is no file: a month of all shops that are offered, with both carriers.
MOVED_SHOWN: Final = 2000
SHOPS_OFFERED: Final = 1000
GROUPS: Final = ("month", "shop", "shop__name", "carrier_code", "product_code")
COUNTED: Final = ("labels", "parcels", "grams")
# Of what was bought, and of it of what was cancelled.
SUMS: Final = {f"sum_{name}": Sum(name, filter=Q(state__in=BOUGHT), default=0) for name in COUNTED} | {
    f"sum_cancelled_{name}": Sum(name, filter=Q(state=LabelState.CANCELLED), default=0) for name in COUNTED
}
TITLES: Final = (
    *(gettext_lazy("Month"), gettext_lazy("Shop id"), gettext_lazy("Shop"), gettext_lazy("Carrier")),
    *(gettext_lazy("Product"), gettext_lazy("Labels bought"), gettext_lazy("Parcels"), gettext_lazy("Kilograms")),
    *(gettext_lazy("Cancelled labels"), gettext_lazy("Cancelled parcels"), gettext_lazy("Cancelled kilograms")),
)
# Of the second table: what was bought, and what was handed in and delivered.
GROUPS_MOVED: Final = ("month", "shop__name", "shop", "carrier_code")
BOUGHT_PARCELS: Final = {"bought": Sum("parcels", filter=Q(state__in=BOUGHT), default=0)}
MOVED_PARCELS: Final = {"sum_handed_in": Sum("handed_in"), "sum_delivered": Sum("delivered")}
Row = dict[str, Any]


class FinanceForm(forms.Form):
    """The months, the shop and the carrier of the figures."""

    since = forms.ChoiceField(label=gettext_lazy("From"))
    until = forms.ChoiceField(label=gettext_lazy("To"))
    shop = forms.ChoiceField(label=gettext_lazy("Shop"), required=False)
    carrier = forms.ChoiceField(
        label=gettext_lazy("Carrier"),
        required=False,
        choices=[("", gettext_lazy("All")), *((name, name) for name in CARRIERS)],
    )

    def __init__(self, chosen: dict[str, str]) -> None:
        months = [(f"{month:%Y-%m}", date_format(month, "N Y")) for month in months_counted()]
        super().__init__({"since": months[0][0], "until": months[0][0]} | chosen)
        for name in ("since", "until"):
            cast("forms.ChoiceField", self.fields[name]).choices = months
        shops = Shop.objects.filter(pk=chosen["shop"]) if chosen.get("shop") else Shop.objects.none()
        live = Shop.objects.filter(is_test=False)
        offered = [*shops.values_list("id", "name"), *live.values_list("id", "name")[:SHOPS_OFFERED]]
        cast("forms.ChoiceField", self.fields["shop"]).choices = [("", gettext("All")), *dict(offered).items()]

    @property
    def days(self) -> tuple[date, date]:
        """Return the first and the last day of the months; the earlier month may stand second."""
        first, last = sorted(date.fromisoformat(f"{self.cleaned_data[name]}-01") for name in ("since", "until"))
        return first, end_of_month(last)

    def figures(self, kind: Any = LabelFigure) -> QuerySet[Any]:
        """Find the figures of labels, or another kind of figures by day, shop and carrier."""
        rows: QuerySet[Any] = kind.objects.filter(day__range=self.days).order_by()
        chosen = {"shop": self.cleaned_data["shop"], "carrier_code": self.cleaned_data["carrier"]}
        return rows.filter(**{name: value for name, value in chosen.items() if value})


def months_counted() -> list[date]:
    """Return the first days of the months with figures and of this month, the newest first."""
    month = today().replace(day=1)
    first = LabelFigure.objects.aggregate(day=Min("day"))["day"] or month
    months = [month]
    while months[-1] > first:
        months.append((months[-1] - timedelta(days=1)).replace(day=1))
    return months


def grouped(figures_shown: QuerySet[LabelFigure]) -> QuerySet[Any, Row]:
    by_month = figures_shown.annotate(month=TruncMonth("day")).values(*GROUPS).annotate(**SUMS)
    rows: QuerySet[Any, Row] = by_month.filter(sum_labels__gt=0)
    return rows.order_by("month", "shop__name", "shop", "carrier_code", "product_code")


def are_figures_allowed(request: HttpRequest) -> bool:
    return may_view(request, "labels", "labelfigure")


@admin.register(LabelFigure)
class FinanceAdmin(ReadOnly, ModelAdmin[LabelFigure]):
    """One page, of the figures alone: they hold nobody's data."""

    def get_urls(self) -> list[Any]:
        view = self.admin_site.admin_view(self.finance_view)
        return [path("", view, name="labels_labelfigure_changelist"), *self.export_urls()]

    def finance_view(self, request: HttpRequest) -> HttpResponse:
        """Show the largest part of the rows that a page can hold, and the sums of all."""
        form = self.chosen(request)
        rows = grouped(form.figures())
        moved = list(islice(moved_rows(form, has_lists=may_view(request, "parcels", "parcel")), MOVED_SHOWN + 1))
        context = {
            "title": gettext("Figures for finance"),
            "form": form,
            "texts": TITLES[2:5],
            "rows": [row_of(row, has_lists=may_view(request, "labels", "shippinglabel")) for row in rows[:ROWS_SHOWN]],
            "row_count": rows.count(),
            "rows_shown": ROWS_SHOWN,
            "moved": moved[:MOVED_SHOWN],
            "moved_shown": MOVED_SHOWN if len(moved) > MOVED_SHOWN else None,
            "total": figures_of(form.figures().aggregate(**SUMS)),
            "query": f"?{request.GET.urlencode()}" if request.GET else "",
            **age_of(figures.LABELS),
        }
        return self.page(request, "labels/finance.html", context)

    def export_view(self, request: HttpRequest, kind: str) -> HttpResponseBase:
        rows = cells(grouped(self.chosen(request).figures()))
        titles, filters = [*map(str, TITLES)], audited_filters(request)
        return answer(kind, name=self.opts.label_lower, titles=titles, rows=rows, filters=filters)

    def chosen(self, request: HttpRequest) -> FinanceForm:
        """Read what was chosen; raise PermissionDenied or DisallowedModelAdminLookup."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        form = FinanceForm({name: str(value) for name, value in request.GET.items() if value})
        if set(request.GET) - set(form.fields) or not form.is_valid():
            raise DisallowedModelAdminLookup(gettext("This page has no such filter."))
        return form


def row_of(row: Row, *, has_lists: bool) -> dict[str, Any]:
    """Return a row as the page shows it, its figures with their lists for those who may see these."""
    product = {"shop__id__exact": row["shop"], "carrier": row["carrier_code"], "product": row["product_code"]}
    filters = product | created(row["month"], end_of_month(row["month"]))
    lists = {"sum_labels": list(BOUGHT), "sum_cancelled_labels": [LabelState.CANCELLED]}
    links = {name: labels_url(state=states, **filters) for name, states in lists.items() if row[name] and has_lists}
    return {
        "month": row["month"],
        "texts": [row["shop__name"], row["carrier_code"], row["product_code"]],
        "figures": figures_of(row, links),
    }


def figures_of(row: Row, links: Mapping[str, str] = {}) -> list[tuple[str, Figure]]:
    names = ("sum_labels", "sum_parcels", "sum_grams", "sum_cancelled_labels")
    texts = (number(kilograms(row[name]), 3) if name.endswith("grams") else number(row[name]) for name in names)
    shown = (Figure(text, links.get(name, "")) for name, text in zip(names, texts, strict=True))
    return list(zip(map(str, TITLES[5:9]), shown, strict=True))


def cells(rows: Iterable[Row]) -> Iterator[Sequence[Cell]]:
    for row in rows:
        counts = (kilograms(row[name]) if name.endswith("grams") else row[name] for name in SUMS)
        yield [f"{row['month']:%Y-%m}", *(row[name] for name in GROUPS[1:]), *counts]


def kilograms(grams: int) -> Decimal:
    return Decimal(grams) / 1000


def moved_rows(form: FinanceForm, *, has_lists: bool) -> Iterator[dict[str, Any]]:
    """Sum each by its own day, parcels of imports too; with their lists for those who may see parcels."""
    found: dict[tuple[Any, ...], dict[str, int]] = {}
    for figures_of_days, sums in ((form.figures(), BOUGHT_PARCELS), (form.figures(DayFigure), MOVED_PARCELS)):
        for row in figures_of_days.annotate(month=TruncMonth("day")).values(*GROUPS_MOVED).annotate(**sums):
            group = tuple(row[name] for name in GROUPS_MOVED)
            found.setdefault(group, {}).update({name: row[name] for name in sums})
    titles = (gettext("Parcels bought"), gettext("Handed in"), pgettext("parcels", "Delivered"))
    for (month, name, shop_id, carrier), moved in sorted(found.items()):
        own, days = {"shop__id__exact": shop_id, "carrier": carrier}, (month, end_of_month(month))
        delivered = parcels_url(**own, status=TrackingStatus.DELIVERED.value, **period("delivered", *days))
        links = ("", parcels_url(**own, **period("handed_in", *days)), delivered)
        counts = [moved.get(each, 0) for each in (*BOUGHT_PARCELS, *MOVED_PARCELS)]
        shown = (Figure(number(n), link if n and has_lists else "") for n, link in zip(counts, links, strict=True))
        if any(counts):
            yield {"month": month, "texts": [name, carrier], "figures": list(zip(titles, shown, strict=True))}


def end_of_month(month: date) -> date:
    return (month.replace(day=28) + timedelta(days=4)).replace(day=1) - timedelta(days=1)

"""The queue of the staff's first page: what is to do, the oldest first, and what was done yesterday by each carrier."""

from collections.abc import Callable
from datetime import date, timedelta
from functools import wraps
from typing import Any

from django.core.exceptions import PermissionDenied
from django.db.models import Sum
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import pgettext

from carriers import CARRIERS
from labels.admin import figures as labels
from labels.admin.figures import labels_url
from labels.figures.counting import BOUGHT
from labels.figures.models import LabelFigure
from parcels.admin import figures as parcels
from parcels.admin.figures import parcels_url
from parcels.admin.parcels import may_change
from parcels.figures.models import DayFigure, Timing
from parcels.models import TrackingStatus
from shops.admin import figures as shops
from shops.staff import days, taking
from shops.staff.display_texts import number, percentage
from shops.staff.masking import may_see
from shops.staff.panels import Figure, Row, Table, created, in_order, may_view, period
from shops.staff.taking import NOTES, QueueRow

PARTS = (labels, parcels, shops)


def rows(request: HttpRequest) -> list[Row]:
    found = in_order([row for part in PARTS for row in part.rows(request)])
    if not may_see(request):
        for row in found:
            if row.taken:
                row.taken.notes = NOTES.masked(row.taken.notes, {})
    return found


def context(request: HttpRequest) -> dict[str, Any]:
    may_take = may_change(request)
    return {"queue": rows(request), "may_take": may_take, "colleagues": taking.colleagues() if may_take else []}


def of_first_page(do: Callable[..., None]) -> Callable[..., HttpResponse]:
    """Make a view that does what a form of the first page says, and leads back; so does a log-in in between."""

    @wraps(do)
    def view(request: HttpRequest, **facts: Any) -> HttpResponse:
        if request.method == "POST":
            do(request, **facts)
        return HttpResponseRedirect(reverse("admin:index"))

    return view


@of_first_page
def take(request: HttpRequest, name: str) -> None:
    """Take a row of the queue, let it go or hand it over, or leave a note on it."""
    if not may_change(request):
        raise PermissionDenied
    if name not in {row.name for row in rows(request)}:
        raise Http404("The queue has no such row.")
    QueueRow.objects.get_or_create(name=name)
    taking.act(request, QueueRow, name)


def yesterday(request: HttpRequest) -> Table | None:
    """Describe what each carrier did yesterday, as counted last."""
    if not may_view(request, "parcels", "parcel"):
        return None
    day = days.today() - timedelta(days=1)
    moved = DayFigure.objects.filter(day=day, carrier_code__in=list(CARRIERS)).order_by().values_list("carrier_code")
    counted = moved.annotate(*map(Sum, ("handed_in", "delivered", "promised", "on_time")))
    done: dict[str, list[int]] = {code: sums for code, *sums in counted}
    has_labels = may_view(request, "labels", "shippinglabel")
    bought = LabelFigure.objects.filter(day=day, state__in=BOUGHT).order_by().values_list("carrier_code")
    labels_bought = dict(bought.annotate(count=Sum("labels"))) if has_labels else {}
    moves = [_("Handed in"), pgettext("parcels", "Delivered"), _("Within promise")]
    titles = [_("Carrier"), *([_("Bought")] if has_labels else []), *moves]
    table = [(code, row_of(code, day, labels_bought.get(code, 0), done.get(code, [0] * 4))) for code in CARRIERS]
    cells = [(code, row if has_labels else row[1:]) for code, row in table]
    return Table(_("Yesterday"), titles, cells, _("Within promise: of those delivered of which a promise is known."))


def row_of(carrier: str, day: date, bought: int, done: list[int]) -> list[Figure]:
    handed_in, delivered, promised, on_time = done
    on_day = {"carrier": carrier, "status": TrackingStatus.DELIVERED.value, **period("delivered", day, day)}
    share = f" ({percentage(100 * on_time / promised, 0)})" if promised else ""
    return [
        Figure(number(bought), labels_url(carrier=carrier, state=list(BOUGHT), **created(day, day))),
        Figure(number(handed_in), parcels_url(carrier=carrier, **period("handed_in", day, day))),
        Figure(number(delivered), parcels_url(**on_day)),
        Figure(f"{number(on_time)}{share}", parcels_url(delivery=Timing.ON_TIME.value, **on_day)),
    ]

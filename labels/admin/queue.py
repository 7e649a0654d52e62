"""The labels' rows of the staff's queue."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Final

from django.db.models import Count, Min
from django.http import HttpRequest
from django.urls import reverse
from django.utils.translation import gettext as _

from carriers import CARRIERS
from labels import ids
from labels.admin.figures import labels_url
from labels.admin.filters import not_handed_in
from labels.admin.to_decide import NAME, undecided_count
from labels.models import LabelState, ShippingLabel
from shops.db import clock
from shops.staff.days import day_of, start_of
from shops.staff.display_texts import number
from shops.staff.panels import Figure, created, may_view
from shops.staff.queue import Row, counted

# A day's labels have until ten o'clock of the next to be handed in.
HANDED_IN_BY: Final = timedelta(hours=10)
GROUPS_SHOWN: Final = 5


def rows(request: HttpRequest) -> Iterator[Row]:
    """Make the rows of those who may see labels."""
    if may_view(request, "labels", "shippinglabel"):
        yield to_decide(request)
        yield refused()
        yield from map(waiting, CARRIERS)


def to_decide(request: HttpRequest) -> Row:
    count = undecided_count(request)
    open_labels = (ShippingLabel.objects.needing_decision(), ShippingLabel.objects.with_notice())
    oldest = [each.order_by().aggregate(at=Min("created_at"))["at"] for each in open_labels] if count else []
    since = min(filter(None, oldest), default=None)
    return Row("to_decide", _("Labels to decide"), reverse(f"admin:{NAME}"), count, since)


def refused() -> Row:
    """Count the orders of today that bought nothing; the largest groups by their reason and shop."""
    today = day_of(clock.now())
    failed = (
        ShippingLabel.objects.live().filter(state=LabelState.FAILED, id__gte=ids.id_prefix(start_of(today))).order_by()
    )
    groups = failed.values_list("error_code", "shop", "shop__name").annotate(count=Count("id"))
    own = {"state": LabelState.FAILED} | created(today, today)
    further = [
        Figure(f"{number(count)} {code} · {shop}", labels_url(reason=code, shop__id__exact=shop_id, **own))
        for code, shop_id, shop, count in groups.exclude(error_code="").order_by("-count")[:GROUPS_SHOWN]
    ]
    title = _("Orders refused today")
    return Row("refused", title, labels_url(**own), **counted(failed, "created_at"), further=further)


def waiting(carrier: str) -> Row:
    """Count the bought labels of one carrier that should be handed in by now."""
    first_not_late = day_of(clock.now() - HANDED_IN_BY)
    bought = ShippingLabel.objects.live().generated().filter(carrier_code=carrier, pk__in=not_handed_in())
    late = bought.filter(id__lt=ids.id_prefix(start_of(first_not_late)))
    until = (first_not_late - timedelta(days=1)).isoformat()
    is_billed = CARRIERS[carrier].bills_unused_labels
    note = _("Billed; can be cancelled until its first scan.") if is_billed else _("Costs nothing unless handed in.")
    title = _("Bought and not handed in: %(carrier)s") % {"carrier": carrier}
    link = labels_url(handed="no", carrier=carrier, created_to=until)
    return Row(f"not_handed_in-{carrier}", title, link, **counted(late, "created_at"), note=note)

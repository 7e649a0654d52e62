"""The labels' part of the staff's first page: figures, and the rows of the queue."""

from collections import Counter
from collections.abc import Iterator
from datetime import date, datetime, timedelta
from functools import partial
from typing import Final

from django.db.models import Count, Max, Min, Q, Sum
from django.http import HttpRequest
from django.urls import reverse
from django.utils.formats import date_format
from django.utils.translation import gettext

from carriers import CARRIERS
from carriers.circuit_breaker import CircuitState
from labels import ids
from labels.admin.filters import not_handed_in
from labels.admin.to_decide import NAME, undecided_count
from labels.figures.counting import BOUGHT
from labels.figures.models import LabelFigure
from labels.models import LabelState, ShippingLabel
from shops.contracts.clients import client
from shops.db import clock
from shops.staff import days
from shops.staff.days import day_of, last_days, start_of
from shops.staff.display_texts import number
from shops.staff.panels import Chart, Figure, Panel, Row, Series, Table, counted, created, list_url, may_view, moment

DAYS: Final = 30
DAYS_OF_FAILURES: Final = 7
CODES_SHOWN: Final = 10
GROUPS_SHOWN: Final = 5
# A day's labels have until ten o'clock of the next to be handed in.
HANDED_IN_BY: Final = timedelta(hours=10)
labels_url = partial(list_url, "labels", "shippinglabel")


def panels(request: HttpRequest) -> Iterator[Panel]:
    if may_view(request, "labels", "shippinglabel"):
        today = days.today()
        yield labels_a_day(today)
        yield failures_by_code(today)
        yield buying(today)


def labels_a_day(today: date) -> Chart:
    days = last_days(today, DAYS)
    figures = LabelFigure.objects.filter(day__gte=days[0], state__in=BOUGHT).order_by()
    rows = figures.values_list("day", "carrier_code").annotate(count=Sum("labels"))
    counts = {(day, carrier): count for day, carrier, count in rows}
    series = [
        Series(
            carrier,
            [counts.get((day, carrier), 0) for day in days],
            [labels_url(carrier=carrier, state=list(BOUGHT), **created(day, day)) for day in days],
        )
        for carrier in CARRIERS
    ]
    places = [date_format(day, "j N") for day in days]
    note = gettext("Bought, by the day of the order; labels cancelled since are among them.")
    return Chart(gettext("Labels a day"), gettext("Day"), places, series, note)


def failures_by_code(today: date) -> Chart:
    days = last_days(today, DAYS_OF_FAILURES)
    failed = LabelFigure.objects.filter(day__gte=days[0], state=LabelState.FAILED).order_by()
    counts = Counter(dict(failed.values_list("error_code").annotate(count=Sum("labels"))))
    most = counts.most_common(CODES_SHOWN)
    period = created(days[0], days[-1])
    links = [labels_url(state=LabelState.FAILED, reason=code, **period) if code else "" for code, _ in most]
    series = Series(gettext("failed"), [count for _, count in most], links)
    note = gettext("Orders of the last {days_of_failures} days that bought nothing.")
    places = [code or gettext("none") for code, _ in most]
    texts = (gettext("Failures by code"), gettext("Code"))
    return Chart(*texts, places, [series], note.format(days_of_failures=DAYS_OF_FAILURES), is_horizontal=True)


def buying(today: date) -> Table:
    """Purchases work: this process's circuit breakers, and the counts of all processes."""
    figures = LabelFigure.objects.filter(day__gte=last_days(today, DAYS)[0]).order_by()
    rows = figures.values_list("carrier_code").annotate(
        last=Max("last_finished_at", filter=Q(state__in=BOUGHT)),
        bought=Sum("labels", filter=Q(state__in=BOUGHT, day=today), default=0),
        failed=Sum("labels", filter=Q(state=LabelState.FAILED, day=today), default=0),
    )
    counted = {carrier: facts for carrier, *facts in rows}
    of_today = (gettext("Bought today"), gettext("Failed today"))
    columns = (gettext("Carrier"), gettext("Circuit breakers"), gettext("Last bought"), *of_today)
    shown = [(carrier, buying_row(carrier, today, *counted.get(carrier, (None, 0, 0)))) for carrier in CARRIERS]
    note = gettext("The circuit breakers are those of the process that made this page.")
    return Table(gettext("Buying labels"), columns, shown, note)


def buying_row(carrier: str, today: date, last: datetime | None, bought: int, failed: int) -> list[Figure]:
    on_day = {"carrier": carrier, **created(today, today)}
    return [
        circuit_breakers(carrier),
        Figure(moment(last)),
        Figure(number(bought), labels_url(state=list(BOUGHT), **on_day)),
        Figure(number(failed), labels_url(state=LabelState.FAILED, **on_day)),
    ]


def circuit_breakers(carrier: str) -> Figure:
    """Name the services whose circuit breaker is not closed."""
    states = {service: breaker.state for service, breaker in client(carrier, is_test=False).circuit_breakers.items()}
    failing = {service: state for service, state in states.items() if state != CircuitState.CLOSED}
    text = ", ".join(f"{gettext(service)} {gettext(state)}" for service, state in failing.items())
    return Figure(text or gettext(CircuitState.CLOSED), is_bad=bool(failing))


def rows(request: HttpRequest) -> Iterator[Row]:
    if may_view(request, "labels", "shippinglabel"):
        yield to_decide(request)
        yield refused()
        yield from map(waiting, CARRIERS)


def to_decide(request: HttpRequest) -> Row:
    count = undecided_count(request)
    open_labels = (ShippingLabel.objects.needing_decision(), ShippingLabel.objects.with_notice())
    oldest = [each.order_by().aggregate(at=Min("created_at"))["at"] for each in open_labels] if count else []
    since = min(filter(None, oldest), default=None)
    return Row("to_decide", gettext("Labels to decide"), reverse(f"admin:{NAME}"), count, since)


def refused() -> Row:
    """Count the orders of today that bought nothing; the largest groups by their reason and shop."""
    today = day_of(clock.now())
    ordered = ShippingLabel.objects.live().filter(id__gte=ids.id_prefix(start_of(today)))
    failed = ordered.filter(state=LabelState.FAILED).order_by()
    groups = failed.values_list("error_code", "shop", "shop__name").annotate(count=Count("id"))
    own = {"state": LabelState.FAILED} | created(today, today)
    further = [
        Figure(f"{number(count)} {code} · {shop}", labels_url(reason=code, shop__id__exact=shop_id, **own))
        for code, shop_id, shop, count in groups.exclude(error_code="").order_by("-count")[:GROUPS_SHOWN]
    ]
    title = gettext("Orders refused today")
    return Row("refused", title, labels_url(**own), **counted(failed, "created_at"), further=further)


def waiting(carrier: str) -> Row:
    """Count the bought labels of one carrier that should be handed in by now."""
    first_not_late = day_of(clock.now() - HANDED_IN_BY)
    bought = ShippingLabel.objects.live().generated().filter(carrier_code=carrier, pk__in=not_handed_in())
    late = bought.filter(id__lt=ids.id_prefix(start_of(first_not_late)))
    until = (first_not_late - timedelta(days=1)).isoformat()
    note = gettext("Costs nothing unless handed in.")
    if CARRIERS[carrier].bills_unused_labels:
        note = gettext("Billed; can be cancelled until its first scan.")
    title = gettext("Bought and not handed in: %(carrier)s") % {"carrier": carrier}
    link = labels_url(handed="no", carrier=carrier, created_to=until)
    return Row(f"not_handed_in-{carrier}", title, link, **counted(late, "created_at"), note=note)

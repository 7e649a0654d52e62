"""The parts of the staff's first page: the queue's rows, tiles, charts and tables, whose figures lead to lists."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from functools import partial
from textwrap import wrap
from typing import Any, ClassVar, Final

from django.db.models import Count, F, Min, QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils import formats, timezone
from django.utils.html import format_html
from django.utils.translation import gettext, ngettext

from shops.db import clock
from shops.staff import figures
from shops.staff.base import LISTED_AT_MOST
from shops.staff.display_texts import NOTHING, number
from shops.staff.taking import QueueRow

# Colours that are told apart in both themes.
COLOURS: Final = ("var(--color-primary-500)", "#f59e0b", "#14b8a6")
QUIET: Final = "#7c8594"  # read on both grounds
LINE_LENGTH: Final = 18  # characters beside a horizontal bar, on a narrow screen too


@dataclass(frozen=True)
class Figure:
    """A number or a short text, and the list that it leads to."""

    text: str
    link: str = ""
    is_bad: bool = False

    @property
    def html(self) -> str:
        """Render it; a template of its own for each of some thousand figures would take a second."""
        kind = "figures-bad" if self.is_bad else "figures-good"
        if self.link:
            return format_html('<a class="{}" href="{}">{}</a>', kind, self.link, self.text)
        return format_html('<span class="{}">{}</span>', kind, self.text)


@dataclass(frozen=True)
class Tile:
    template: ClassVar = "shops/figures/tile.html"
    title: str
    figure: Figure
    note: str
    further: Sequence[Figure] = ()


@dataclass(frozen=True)
class Table:
    template: ClassVar = "shops/figures/table.html"
    title: str
    columns: Sequence[str]
    rows: Sequence[tuple[str, Sequence[Figure]]]
    note: str


@dataclass(frozen=True)
class Series:
    """The values of one colour of a chart, in the order of its places, each with its list."""

    name: str
    values: Sequence[int]
    links: Sequence[str]


@dataclass(frozen=True)
class Chart:
    """Bars, stacked where there are several series; the same figures are its table."""

    template: ClassVar = "shops/figures/chart.html"
    title: str
    heading: str
    places: Sequence[str]
    series: Sequence[Series]
    note: str
    is_horizontal: bool = False

    @property
    def height(self) -> int:
        """Return the height in pixels; horizontal bars need as much as there are of them."""
        return 60 + 32 * len(self.places) if self.is_horizontal else 220

    @property
    def data(self) -> str:
        shape = {"maxBarThickness": 22, "borderRadius": 2}
        datasets = [
            {"label": each.name, "data": each.values, "links": each.links, "backgroundColor": colour} | shape
            for each, colour in zip(self.series, COLOURS, strict=False)
        ]
        places = [wrap(place.replace("_", " "), LINE_LENGTH) for place in self.places]
        return json.dumps({"labels": places if self.is_horizontal else self.places, "datasets": datasets})

    @property
    def options(self) -> str:
        """Return Chart.js's options; the theme sets the colours of the grid."""
        whole: dict[str, Any] = {"precision": 0, "color": QUIET}
        names: dict[str, Any] = {"autoSkip": not self.is_horizontal, "maxRotation": 0, "color": QUIET}
        value, name = ("x", "y") if self.is_horizontal else ("y", "x")
        scales = {
            value: {"stacked": True, "beginAtZero": True, "ticks": whole, "grid": {"tickWidth": 0}},
            name: {"stacked": True, "ticks": names, "grid": {"display": False}},
        }
        own = {"indexAxis": name, "maintainAspectRatio": False, "plugins": {"legend": {"display": False}}}
        return json.dumps({"animation": False, **own, "scales": scales})

    @property
    def columns(self) -> list[str]:
        return [self.heading, *(each.name for each in self.series)]

    @property
    def rows(self) -> list[tuple[str, list[Figure]]]:
        cells = zip(*([*zip(each.values, each.links, strict=True)] for each in self.series), strict=True)
        figures = ([Figure(number(value), link if value else "") for value, link in row] for row in cells)
        return list(zip(self.places, figures, strict=True))

    @property
    def is_empty(self) -> bool:
        return not any(value for each in self.series for value in each.values)


Panel = Tile | Table | Chart


def list_url(app: str, model: str, **filters: Any) -> str:
    """Return the address of a filtered list of live shops' rows; several values of a filter are a list."""
    return reverse(f"admin:{app}_{model}_changelist", query={"mode": "live", **filters})


def may_view(request: HttpRequest, app: str, model: str) -> bool:
    return any(request.user.has_perm(f"{app}.{action}_{model}") for action in ("view", "change"))


def period(name: str, first: date, last: date) -> dict[str, str]:
    """Return the filter of a period of days, by its parameter."""
    return {f"{name}_from": first.isoformat(), f"{name}_to": last.isoformat()}


created = partial(period, "created")


def moment(at: datetime | None) -> str:
    """Format a time, without its day if that is today."""
    if at is None:
        return NOTHING
    shown = timezone.localtime(at)
    is_today = shown.date() == timezone.localdate()
    return formats.date_format(shown, "H:i" if is_today else "DATETIME_FORMAT")


def lasting(time: timedelta) -> str:
    """Describe a duration in its largest unit."""
    minutes = max(int(time.total_seconds() // 60), 0)
    if days := minutes // (24 * 60):
        return ngettext("{days} day", "{days} days", days).format(days=days)
    if hours := minutes // 60:
        return ngettext("{hours} hour", "{hours} hours", hours).format(hours=hours)
    return gettext("{minutes} min").format(minutes=minutes)


def age_of(*kinds: str) -> dict[str, Any]:
    """Describe when figures were counted; the oldest of several kinds."""
    moments = [figures.counted_at(kind) for kind in kinds]
    oldest = min((at for at in moments if at), default=None) if all(moments) else None
    since = clock.now() - oldest if oldest else None
    is_stale = since is None or since > figures.STALE_AFTER
    return {"as_of": moment(oldest), "age": lasting(since) if since else "", "is_stale": is_stale}


@dataclass(frozen=True)
class Row:
    """One kind of work: how much there is, up to `LISTED_AT_MOST`, since when, and the list with all of it."""

    name: str
    title: str
    link: str
    count: int
    since: datetime | None = None
    note: str = ""
    further: Sequence[Figure] = ()
    taken: QueueRow | None = None

    @property
    def text(self) -> str:
        return capped(self.count)

    @property
    def age(self) -> str:
        return lasting(clock.now() - self.since) if self.since else ""


def capped(count: int) -> str:
    return f"{number(min(count, LISTED_AT_MOST))}{'+' if count > LISTED_AT_MOST else ''}"


def counted(rows: QuerySet[Any], since: Any) -> dict[str, Any]:
    """Count rows up to the cap of their list, and find the earliest time in a column: a date, or milliseconds."""
    some = rows.order_by().values(since_at=F(since) if isinstance(since, str) else since)[: LISTED_AT_MOST + 1]
    found = some.aggregate(count=Count("*"), since=Min("since_at"))
    at = found["since"]
    return found | {"since": datetime.fromtimestamp(at / 1000, UTC) if isinstance(at, int) else at}


def in_order(rows: Sequence[Row]) -> list[Row]:
    """Return the rows, the oldest work first and those without any last, each with who took it."""
    taken = QueueRow.objects.in_bulk([row.name for row in rows])
    latest = datetime.max.replace(tzinfo=UTC)
    named = (replace(row, taken=taken.get(row.name)) for row in rows)
    return sorted(named, key=lambda row: (not row.count, row.since or latest))

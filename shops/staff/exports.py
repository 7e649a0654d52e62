"""Exports of a list: what it shows and an accountant needs, as CSV or XLSX, each on record."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import methodcaller
from typing import Any, Final

from django.db.models import Model, QuerySet
from django.http import HttpRequest, HttpResponseBase, StreamingHttpResponse
from django.utils.translation import gettext

from carriers.data import rows_of
from shops.api.file_answers import FILE_HEADERS
from shops.db.querysets import after
from shops.personal_data import Part
from shops.staff.audit.models import Action
from shops.staff.audit.recording import acting, current_actor, record
from shops.staff.days import today
from shops.staff.display_texts import short_name
from shops.staff.spreadsheets import FORMATS, Cell, Reader

# Each page of rows is a statement of its own: no transaction is open while a slow client reads.
PAGE_SIZE: Final = 2000
Row = dict[str, Any]


@dataclass(frozen=True)
class Column:
    """A column of an export: its title, the field that it is made from, and how."""

    title: str
    source: str
    cell: Callable[[Any], Cell]

    def text(self, row: Row, masks: Mapping[str, Part]) -> Cell:
        """Return the cell of a row, of a masked value where there is a mask for it."""
        value = row[self.source]
        if self.source in masks:
            value = masks[self.source].masked(value, row)
        return None if value is None else self.cell(value)


# The cells of tables, by their names: a value as it is, a list, how long it is, or a member of an address.
CELLS: Final[dict[str, Callable[[Any], Cell]]] = {
    "": lambda value: value,
    "joined": " ".join,
    "count": len,
    **{name: methodcaller("get", name) for name in ("zip", "city", "countryCode")},
}


def read_columns(module: str, listed: str, /, **own: Callable[[Any], Cell]) -> tuple[Column, ...]:
    """Read a list's columns from `exports.csv` beside a module, which may have cells of its own."""
    rows = [row for row in rows_of("exports.csv", module) if row["list"] == listed]
    return tuple(Column(row["title"], row["field"], (CELLS | own)[row["cell"]]) for row in rows)


def columns_of(model: type[Model], shown: Iterable[Any]) -> list[Column]:
    """Make columns of the key and the fields among what a list shows."""
    fields = {field.name: field for field in model._meta.concrete_fields}
    key = model._meta.pk.attname
    names = dict.fromkeys([key, *(fields[name].attname for name in shown if name in fields)])
    titles = {name: str(fields[name].verbose_name) if name in fields else name for name in names}
    return [Column(short_name(title), name, CELLS[""]) for name, title in titles.items()]


def audited_filters(request: HttpRequest) -> dict[str, list[str]]:
    """Return the filters as the audit log keeps them: it holds no customer's data, so a search's words are left out."""
    filters: dict[str, list[str]] = {str(name): [str(each) for each in found] for name, found in request.GET.lists()}
    return filters | ({"q": ["(a search)"]} if filters.get("q", [""]) != [""] else {})


def answer(
    kind: str, *, name: str, titles: Sequence[str], rows: Iterable[Sequence[Cell]], filters: dict[str, list[str]]
) -> HttpResponseBase:
    """Answer with the file; its begin and its end are entries of the audit log, so a broken one is on record too."""
    kept, reader = FORMATS[kind], Reader.now()
    begun = record(Action.EXPORTED, list=name, format=kind, filters=filters)
    count = 0
    words = {True: gettext("yes"), False: gettext("no")}  # in the language of the request, which is over by then
    actor = current_actor.get()  # the answer is sent when the request's own context is over

    def counted() -> Iterator[Sequence[Cell]]:
        nonlocal count
        for row in rows:
            count += 1
            yield [words[cell] if isinstance(cell, bool) else cell for cell in row]

    def content() -> Iterator[bytes]:
        is_complete = False
        try:
            yield from kept.write(titles, counted(), reader)
            is_complete = True
        finally:
            with acting(actor):
                ended: dict[str, Any] = {"rows": count, "is_complete": is_complete, "begun": begun.id}
                record(Action.EXPORTED, list=name, format=kind, **ended)

    shown_as = f'attachment; filename="{name.rpartition(".")[2]}-{today()}.{kind}"'
    headers = FILE_HEADERS | {"Content-Disposition": shown_as}
    return StreamingHttpResponse(content(), content_type=kept.content_type, headers=headers)


def pages(
    queryset: QuerySet[Any],
    columns: Sequence[Column],
    record_page: Callable[[Sequence[Row]], None],
    *,
    first: Sequence[str] = (),
) -> Iterator[Row]:
    """Yield all rows, a page at a time, each from where the last ended: in the model's order and by key.

    They are sorted before that by the `first` columns, in which no row is null.
    """
    key = queryset.model._meta.pk.name
    order = [*dict.fromkeys([*first, *map(str, queryset.model._meta.ordering or [key])])]
    order += [] if key in {name.removeprefix("-") for name in order} else [key]
    names = dict.fromkeys([*(column.source for column in columns), *(name.removeprefix("-") for name in order)])
    rows = queryset.defer(None).select_related(None).order_by(*order).values(*names)
    page = list(rows[:PAGE_SIZE])
    while page:
        record_page(page)
        yield from page
        if len(page) < PAGE_SIZE:
            return
        page = list(rows.filter(after(page[-1], order))[:PAGE_SIZE])

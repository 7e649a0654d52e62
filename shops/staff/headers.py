"""Makes a list's headers once, and names each cell after its own.

Unfold up to 0.91 makes them again for each row, a tenth to a fifth of a page's time; later releases don't name cells,
which a phone shows without the headers.
"""

from collections.abc import Callable, Iterable, Iterator
from itertools import zip_longest
from typing import Any

from django.contrib.admin.views.main import ChangeList
from django.utils.html import escape
from django.utils.safestring import mark_safe
from django.utils.translation import gettext
from unfold.templatetags import unfold_list  # type: ignore[import-untyped]  # it ships no types

Headers = list[dict[str, Any]]


def once_a_list(make: Callable[[ChangeList], Iterable[dict[str, Any]]]) -> Callable[[ChangeList], Headers]:
    """Return a function that makes the headers of a list when they are first asked for."""

    def headers(listed: ChangeList) -> Headers:
        if "headers" not in vars(listed):
            vars(listed)["headers"] = [header | {"text": gettext(header["text"])} for header in make(listed)]
        made: Headers = vars(listed)["headers"]
        return made

    return headers


def named(make: Callable[..., Iterable[str]]) -> Callable[..., Iterator[str]]:
    """Return a function that makes a row's cells, each with its header's text."""

    def cells(listed: ChangeList, *arguments: Any) -> Iterator[str]:
        names = (header["text"] for header in unfold_list.result_headers(listed))
        for cell, name in zip_longest(make(listed, *arguments), names, fillvalue=""):
            start, end, rest = cell.partition(">")
            named_start = start if "data-label=" in start else f'{start} data-label="{escape(name)}"'
            yield mark_safe(f"{named_start}{end}{rest}")  # noqa: S308 - a cell, and escaped text

    return cells


def install() -> None:
    unfold_list.result_headers = once_a_list(unfold_list.result_headers)
    unfold_list.items_for_result = named(unfold_list.items_for_result)

"""Texts of stored values on the admin's pages; apart from `base`, which template tags can't import."""

from collections.abc import Callable
from datetime import datetime
from decimal import Decimal
from functools import lru_cache
from typing import Any

from django.contrib.admin.decorators import display
from django.template.loader import render_to_string
from django.utils import timezone
from django.utils.formats import date_format, number_format
from django.utils.html import format_html
from django.utils.translation import gettext
from django_stubs_ext import StrOrPromise

NOTHING = "-"  # stands for a missing value


def column(description: StrOrPromise, text: Callable[[Any], Any], ordering: str | None = None) -> Any:
    """Declare a column of an admin's list, or a read-only field of its pages, by what it says of a row."""

    @display(description=description, ordering=ordering)
    def shown(row: Any) -> Any:
        return text(row)

    return staticmethod(shown)


def short_name(choice: str) -> str:
    """Format a choice, in the reader's language: ``OUT_FOR_DELIVERY`` becomes ``Out for delivery``."""
    return gettext(choice.replace("_", " ").capitalize())


def words(value: Any) -> str:
    """Say a stored value as a person reads it: an object's members by name, a list's one after the other."""
    if isinstance(value, dict):
        return "; ".join(f"{name}: {words(each)}" for name, each in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(map(words, value)) or NOTHING
    if isinstance(value, bool):
        return gettext("yes") if value else gettext("no")
    return NOTHING if value in (None, "") else str(value)


def number(value: float | Decimal | str, decimals: int | None = None) -> str:
    """Round a number, and format it as the reader writes it."""
    rounded = value if decimals is None else f"{value:.{decimals}f}"  # number_format cuts digits off
    return number_format(rounded, decimals, force_grouping=True)


def percentage(value: float, decimals: int) -> str:
    """Format a share as the reader writes it."""
    return gettext("{number}%").format(number=number(value, decimals))


def time_tag(at: datetime, title: str) -> str:
    """Render a time in the reader's zone, with a tooltip."""
    text = date_format(timezone.localtime(at), "DATETIME_FORMAT")
    return format_html('<time datetime="{}" title="{}">{}</time>', at.isoformat(), title, text)


def badge(text: str, colour: str, title: str = "") -> str:
    """Render a coloured label of a choice, in the reader's language."""
    return rendered_badge(gettext(text), colour, gettext(title) if title else "")


@lru_cache
def rendered_badge(text: str, colour: str, title: str) -> str:
    """Render it once, as a list has the same few in each of its rows."""
    context = {"text": text, "type": colour, "label_title": title}
    return render_to_string("unfold/helpers/label.html", context)

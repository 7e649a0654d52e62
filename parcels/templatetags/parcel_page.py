"""How staff see a parcel's values: a time as a time, a status in colour, a picture only from the web."""

import json
from datetime import UTC, datetime
from typing import Any

from django import template
from django.template.loader import render_to_string
from django.utils.formats import date_format
from django.utils.html import format_html

from parcels.models import TrackingStatus
from shops.admin.wording import NOTHING, short_name

COLOURS = {
    TrackingStatus.FULFILLED: "default",
    TrackingStatus.IN_TRANSIT: "info",
    TrackingStatus.OUT_FOR_DELIVERY: "primary",
    TrackingStatus.DELIVERED: "success",
    TrackingStatus.DELIVERY_FAILURE: "danger",
    TrackingStatus.WAITING_FOR_PICKUP: "warning",
    TrackingStatus.RETURN_TO_SENDER: "warning",
    TrackingStatus.RETURNED_TO_SENDER: "warning",
    TrackingStatus.EXCEPTION: "danger",
}

register = template.Library()


@register.filter
def colour(status: str | None) -> str:
    return COLOURS.get(TrackingStatus(status), "default") if status in COLOURS else "default"


@register.simple_tag
def status_label(status: str | None) -> str:
    """Name a status in its colour; what it means is its tooltip."""
    if not status:
        return NOTHING
    context = {
        "text": short_name(status),
        "type": colour(status),
        "label_title": dict(TrackingStatus.choices).get(status, status),
    }
    return render_to_string("unfold/helpers/label.html", context)


@register.filter
def moment(time_ms: int | None) -> datetime | None:
    """Turn Unix milliseconds into a time in UTC."""
    return None if time_ms is None else datetime.fromtimestamp(time_ms / 1000, UTC)


@register.simple_tag
def time(time_ms: int | None) -> str:
    """Write Unix milliseconds as a time with its zone; seconds and the number itself are in the tooltip."""
    at = moment(time_ms)
    if at is None:
        return NOTHING
    return format_html(
        '<time datetime="{}" title="{} · {} ms">{}</time>',
        at.isoformat(),
        at.isoformat(sep=" ", timespec="milliseconds"),
        time_ms,
        date_format(at, "DATETIME_FORMAT"),
    )


@register.filter
def web_address(url: str) -> str:
    """Pass an http or https address, and nothing else: ``javascript:`` and ``data:`` become empty."""
    return url if url.startswith(("https://", "http://")) else ""


@register.filter
def as_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2)

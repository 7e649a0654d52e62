"""Formats a parcel's values on the admin's pages: times, coloured statuses, pictures' addresses."""

import json
from datetime import datetime
from typing import Any, Final

from django import template
from django.conf import settings
from django.utils import timezone
from django.utils.translation import gettext_noop

from carriers.data import rows_of
from parcels.models import Parcel, TrackingStatus
from parcels.tracking import events
from shops.staff.display_texts import NOTHING, badge, short_name, time_tag

# By status: its colour, and its name in the texts for shops in French.
STATUSES: Final = {row["status"]: row for row in rows_of("statuses.csv", __file__)}
# What `late_label` reads of a parcel.
LATE_FIELDS: Final = ("estimated_delivery_date_window", "delivery_date", "is_withdrawn", "last_status")

register = template.Library()


@register.filter
def colour(status: str | None) -> str:
    return STATUSES[status]["colour"] if status in STATUSES else "default"


@register.simple_tag
def status_label(status: str | None) -> str:
    """Render a status as a coloured label, with its meaning as the tooltip."""
    if not status:
        return NOTHING
    return badge(short_name(status), colour(status), dict(TrackingStatus.choices).get(status, status))


@register.filter
def moment(time_ms: int | None) -> datetime | None:
    """Convert Unix milliseconds to a time in UTC."""
    return None if time_ms is None else events.moment(time_ms)


def promised_until(parcel: Parcel) -> datetime | None:
    return moment((parcel.estimated_delivery_date_window or {}).get("maximumDeliveryDate"))


def is_comparable(parcel: Parcel) -> bool:
    """Return whether figures compare a parcel with its promise: it has its delivery's time, and a status."""
    is_delivered = parcel.last_status == TrackingStatus.DELIVERED
    return not parcel.is_withdrawn and is_delivered == (parcel.delivery_date is not None)


@register.simple_tag
def late_label(parcel: Parcel) -> str:
    """Mark a parcel that is past its promise, or was delivered late; by this host's clock, as a list has many."""
    until, at = promised_until(parcel), moment(parcel.delivery_date) or timezone.now()
    return badge(gettext_noop("Late"), "danger") if until and at > until and is_comparable(parcel) else ""


@register.simple_tag
def time(time_ms: int | None) -> str:
    """Render Unix milliseconds as a time; the tooltip has the seconds and the number itself."""
    at = moment(time_ms)
    if at is None:
        return NOTHING
    exact = timezone.localtime(at).isoformat(sep=" ", timespec="milliseconds")
    return time_tag(at, f"{exact} · {time_ms} ms")


@register.filter
def picture_address(url: str) -> str:
    """Return the address of a picture on a host of ADMIN_PICTURE_HOSTS, and empty text for any other."""
    listed = tuple(f"https://{host}/" for host in settings.ADMIN_PICTURE_HOSTS)
    return url if url.startswith(listed) else ""


@register.filter
def as_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2)

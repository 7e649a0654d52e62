"""The facts of a parcel's page as a dossier: late or not, one story of all sources, and a text for the shop."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Final

from django.conf import settings
from django.utils.formats import date_format
from django.utils.translation import gettext as _
from django.utils.translation import override

from parcels.models import Parcel, TrackingNumber
from parcels.templatetags.parcel_page import STATUSES, is_comparable, moment, promised_until
from shops.db import clock
from shops.staff.days import STAFF_TIME_ZONE
from shops.staff.display_texts import short_name
from shops.staff.panels import lasting

# Parcel, order, status and its time, promise: no customer's data.
COPIES: Final = {
    "fr": ("Colis {number} (commande {order}) : {status}", "depuis le {at}", "prévu le {end}"),
    "en": ("Parcel {number} (order {order}): {status}", "since {at}", "expected by {end}"),
}


@dataclass
class Happening:
    """One event of a parcel, whether its number's carrier, the shop's import or both reported it."""

    event: dict[str, Any]
    numbers: list[str] = field(default_factory=list)
    place: str = ""
    is_listed: bool = True


def story(parcel: Parcel, numbers: Iterable[TrackingNumber]) -> list[Happening]:
    """Merge the parcel's events with what its carriers reported: equal code and time are one, the newest first."""
    found: dict[tuple[str | None, int], Happening] = {}
    further: list[Happening] = []  # of one code and time, and told as something else
    for event in parcel.events:
        known = found.setdefault((event["carrierStatusCode"], event["createdAt"]), Happening(event))
        if (known.event["status"], known.event["label"]) != (event["status"], event["label"]):
            further.append(Happening(event))
    for number in numbers:
        for scan in number.events:
            event = {"status": scan["status"], "createdAt": scan["at"], "label": scan["text"]}
            event["carrierStatusCode"] = scan["code"]
            happening = found.setdefault((scan["code"], scan["at"]), Happening(event))
            happening.numbers.append(number.number)
            happening.place = happening.place or scan["place"]
            happening.is_listed = happening.is_listed and scan["is_listed"]
    return sorted([*found.values(), *further], key=lambda each: -each.event["createdAt"])


def promise(parcel: Parcel) -> tuple[str, bool]:
    """Describe the delivery that was promised; the second value is whether the parcel is late."""
    end = promised_until(parcel)
    delivered_at = moment(parcel.delivery_date)
    if end is None:
        return _("No delivery date was promised."), False
    if parcel.is_withdrawn:
        return _("Withdrawn with its label."), False
    if not is_comparable(parcel):
        return ("" if delivered_at else _("Delivered; when is not known.")), False
    past = (delivered_at or clock.now()) - end
    if delivered_at:
        late = _("Delivered late, %(time)s after its promise.") % {"time": lasting(past)}
        return (late, True) if past > timedelta(0) else (_("Delivered within its promise."), False)
    if past > timedelta(0):
        return _("Late: past its promise for %(time)s.") % {"time": lasting(past)}, True
    return _("Not late: promised within %(time)s.") % {"time": lasting(-past)}, False


def copies(parcel: Parcel) -> dict[str, str]:
    """Return a text for the shop by its language: it names nobody."""
    times = moment(parcel.last_status_updated_at), promised_until(parcel)
    made = {}
    for language, (title, since, until) in COPIES.items():
        status = parcel.last_status or ""
        with override(language if language == "fr" else settings.LANGUAGE_CODE):
            days = [date_format(each.astimezone(STAFF_TIME_ZONE), "DATE_FORMAT") if each else "" for each in times]
            name = short_name(status or "not_yet_seen")
        if language == "fr":
            name = STATUSES[status]["french"] if status in STATUSES else "non encore suivi"
        lines = [title.format(number=parcel.tracking_id, order=parcel.order_number or parcel.order_id, status=name)]
        lines += [text.format(at=days[0], end=days[1]) for text, day in zip((since, until), days, strict=True) if day]
        made[language] = "\n".join(lines)
    return made

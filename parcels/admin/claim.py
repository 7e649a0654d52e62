"""The file for a claim at the carrier: a PDF with addresses, contents and value, and all that happened."""

from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from django.utils.formats import date_format
from django.utils.translation import gettext as _

from carriers.http.messages import UnreadableError
from parcels.admin.dossier import Happening, promise, story
from parcels.admin.proofs import gathered, merged
from parcels.models import Parcel, TrackingNumber
from parcels.templatetags.parcel_page import moment
from shops.db import clock
from shops.staff.days import zone
from shops.staff.display_texts import number
from shops.staff.text_pdf import as_pdf

ADDRESS = ("name", "firstName", "lastName", "company", "address1", "address2", "zip", "city", "countryCode", "phone")


def claim(parcel: Parcel) -> bytes:
    """Make the file, the carrier's proofs of delivery behind it where it gives any now."""
    numbers = list(TrackingNumber.objects.filter(parcel=parcel.pk))
    files, told = gathered(parcel, numbers)
    text = as_pdf(text_of(parcel, numbers, told))
    with suppress(UnreadableError):
        return merged([text, *files]) if files else text
    return as_pdf(text_of(parcel, numbers, _("The carrier's proof cannot be read.")))


def proof(parcel: Parcel) -> bytes:
    """Return the carrier's proofs of delivery, empty where it gives none now."""
    files, _told = gathered(parcel, list(TrackingNumber.objects.filter(parcel=parcel.pk)))
    with suppress(UnreadableError):
        return merged(files) if files else b""
    return b""


def text_of(parcel: Parcel, numbers: list[TrackingNumber], told: str) -> Iterator[str]:
    """Yield the lines; values are in euros."""
    yield "# " + _("Claim: parcel %(number)s") % {"number": ", ".join(parcel.tracking_numbers) or parcel.tracking_id}
    yield f"{parcel.carrier_display_name or parcel.carrier_code} {parcel.carrier_product or ''}"
    yield _("Order %(order)s of %(shop)s") % {"order": parcel.order_number or parcel.order_id, "shop": parcel.shop}
    yield promise(parcel, clock.now())[0]
    yield _("Handed in: %(at)s") % {"at": at(parcel.handed_in_at)}
    yield _("Times and days are those of %(zone)s.") % {"zone": zone()}
    yield ""
    yield "# " + _("Sender")
    yield from address(parcel.shop.sender_address or {"name": parcel.shop.name})
    yield ""
    yield "# " + _("Recipient")
    yield from address(parcel.destination)
    yield ""
    yield "# " + _("Contents")
    for item in parcel.line_items:
        yield f"{item['quantity']} x {item['name']} ({item['sku'] or '-'}): {number(item['price'], 2)} EUR"
    total = sum(item["quantity"] * item["price"] for item in parcel.line_items)
    yield _("Value: %(total)s EUR") % {"total": number(total, 2)}
    yield ""
    yield "# " + _("Events")
    for each in reversed(story(parcel, numbers)):
        yield happened(each)
    yield ""
    yield "# " + _("Proof of delivery")
    delivered = _("The carrier reported the delivery at %(at)s.") % {"at": at(parcel.delivery_date)}
    yield delivered if parcel.delivery_date else _("The carrier has reported no delivery.")
    yield told


def address(given: dict[str, Any]) -> Iterator[str]:
    has_name = bool(given.get("name"))
    skipped = {"firstName", "lastName"} if has_name else set()
    yield from (str(given[name]) for name in ADDRESS if given.get(name) and name not in skipped)


def happened(each: Happening) -> str:
    event = each.event
    parts = [at(event["createdAt"]), event["carrierStatusCode"], event["label"], each.place, ", ".join(each.numbers)]
    return " - ".join(str(part) for part in parts if part)


def at(time_ms: int | None) -> str:
    time = moment(time_ms)
    return date_format(time.astimezone(zone()), "DATETIME_FORMAT") if time else "-"

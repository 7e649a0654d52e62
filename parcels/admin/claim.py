"""The file for a claim at the carrier: a PDF with all that happened, and the carrier's proofs of delivery."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from typing import Any, Final

from django.conf import settings
from django.utils.formats import date_format
from django.utils.translation import gettext as _

from carriers import CARRIERS, pdf
from carriers.client import Service
from carriers.errors import CarrierError
from carriers.http.transport import UnreadableError
from parcels.admin.dossier import Happening, promise, story
from parcels.models import Parcel, TrackingNumber
from parcels.templatetags.parcel_page import moment
from shops.contracts.accounts import others_of
from shops.contracts.bulkhead import NotAskedError
from shops.contracts.conversation import contract_with, conversation
from shops.contracts.encryption import UnreadableSecretError
from shops.staff.days import STAFF_TIME_ZONE
from shops.staff.display_texts import number
from shops.staff.text_pdf import Heading, as_pdf

ADDRESS = ("name", "firstName", "lastName", "company", "address1", "address2", "zip", "city", "countryCode", "phone")
# What an app above knows of a parcel's own sender: functions that return an address, or nothing.
SENDERS: Final[list[Callable[[Parcel], dict[str, Any] | None]]] = []


def sender_of(parcel: Parcel) -> dict[str, Any] | None:
    """Return the sender that an app above knows, if any."""
    return next(filter(None, (known(parcel) for known in SENDERS)), None)


def claim(parcel: Parcel) -> bytes:
    """Make the file, the carrier's proofs of delivery behind it where it gives any now."""
    numbers = list(TrackingNumber.objects.filter(parcel=parcel.pk))
    files, proof = gathered(parcel, numbers)
    text = as_pdf(text_of(parcel, numbers, proof))
    with suppress(UnreadableError):
        return merged([text, *files]) if files else text
    return as_pdf(text_of(parcel, numbers, _("The carrier's proof cannot be read.")))


def proof(parcel: Parcel) -> bytes:
    """Return the carrier's proofs of delivery, empty where it gives none now."""
    files, _proof = gathered(parcel, list(TrackingNumber.objects.filter(parcel=parcel.pk)))
    with suppress(UnreadableError):
        return merged(files) if files else b""
    return b""


def text_of(parcel: Parcel, numbers: list[TrackingNumber], proof: str) -> Iterator[str]:
    """Yield the lines; values are in euros."""
    named = ", ".join(parcel.tracking_numbers) or parcel.tracking_id
    yield Heading(_("Claim: parcel %(number)s") % {"number": named})
    yield f"{parcel.carrier_display_name or parcel.carrier_code} {parcel.carrier_product or ''}"
    yield _("Order %(order)s of %(shop)s") % {"order": parcel.order_number or parcel.order_id, "shop": parcel.shop}
    yield promise(parcel)[0]
    yield _("Handed in: %(at)s") % {"at": at(parcel.handed_in_at)}
    yield _("Times and days are those of %(zone)s.") % {"zone": STAFF_TIME_ZONE}
    delivered = _("The carrier has reported no delivery.")
    if parcel.delivery_date:
        delivered = _("The carrier reported the delivery at %(at)s.") % {"at": at(parcel.delivery_date)}
    sections = (
        (_("Sender"), address(sender_of(parcel) or parcel.shop.sender_address or {"name": parcel.shop.name})),
        (_("Recipient"), address(parcel.destination)),
        (_("Contents"), contents(parcel.line_items)),
        (_("Events"), map(happened, reversed(story(parcel, numbers)))),
        (_("Proof of delivery"), (delivered, proof)),
    )
    for title, lines in sections:
        yield from ("", Heading(title), *lines)


def contents(items: list[dict[str, Any]]) -> Iterator[str]:
    """Yield the items and their value; a label's parcel has none, and its value is not known."""
    for item in items:
        yield f"{item['quantity']} x {item['name']} ({item['sku'] or '-'}): {number(item['price'], 2)} EUR"
    total = sum(item["quantity"] * item["price"] for item in items)
    value = _("Value: %(total)s EUR") % {"total": number(total, 2)}
    yield value if items else _("The shop has named no items.")


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
    return date_format(time.astimezone(STAFF_TIME_ZONE), "DATETIME_FORMAT") if time else "-"


def may_exist(parcel: Parcel, numbers: Iterable[TrackingNumber]) -> bool:
    return parcel.delivery_date is not None and any(map(is_proved, numbers))


def is_proved(number: TrackingNumber) -> bool:
    """Return whether its carrier can be asked for proofs."""
    carrier = CARRIERS.get(number.carrier_code)
    return carrier is not None and carrier.proves_deliveries


def proof_of(number: TrackingNumber) -> bytes | None:
    """Ask with each account of the shop's contract, as the parcel may have been bought on any.

    Raise CarrierError, NotAskedError or UnreadableSecretError.
    """
    contract = contract_with(number.shop_id, number.carrier_code)
    for credentials in (contract.credentials, *others_of([contract])[contract.shop_id]):
        with conversation(contract, credentials, Service.CANCELLATION, about=number.label or None) as talk:
            if proof := talk.carrier.proof_of_delivery(number.number, talk.credentials):
                return proof
    return None


def merged(files: Sequence[bytes]) -> bytes:
    return pdf.rewritten(files, settings.CARRIER_TIMEOUT)


def gathered(parcel: Parcel, numbers: Sequence[TrackingNumber]) -> tuple[list[bytes], str]:
    """Return the proofs of a delivered parcel, and in words what became of the question."""
    if not may_exist(parcel, numbers):
        return [], ""
    try:
        found = [proof for number in filter(is_proved, numbers) if (proof := proof_of(number))]
    except (CarrierError, NotAskedError, UnreadableSecretError):
        return [], _("The carrier could not be asked for its proof.")
    return found, _("The carrier's proof follows.") if found else _("The carrier has no proof of it.")

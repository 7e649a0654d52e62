"""The columns of parcels that hold customers' data."""

from collections.abc import Mapping
from typing import Final

from django.db.models import Model
from django.utils.translation import get_language, gettext

from carriers.tracking import meanings
from parcels.models import Parcel, TrackingNumber, TrackingStatus, UnlistedEventCode
from parcels.tracking.timeline import TIMELINE_FIELDS
from shops.personal_data import Beside, Columns, Each, Kind, Members, Value, WebAddress, named
from shops.staff.taking import NOTES


def standard(event: Beside) -> str:
    """Word an event in the reader's language by the carriers' tables of codes, unless its status is not the table's."""
    known = meanings().get(event.get("carrierStatusCode") or event.get("code", ""))
    status = event.get("status")
    if known is None or (status and known.status and status != known.status):
        return ""
    wording = known.texts[0] if (get_language() or "").startswith("fr") else known.meaning
    return wording or (gettext(TrackingStatus(known.status).label) if known.status else "")


NAME, CONTACT, ADDRESS = Value(Kind.NAME), Value(Kind.CONTACT), Value(Kind.ADDRESS)
TEXT, LIST = Value(Kind.FREE_TEXT), Value(Kind.FREE_TEXT, ())
FREE, POSITION = Value(Kind.FREE_TEXT, None), Value(Kind.ADDRESS, None)
TOWN = Value(Kind.ADDRESS, is_masked=False)
CARRIERS_TEXT = Value(Kind.CARRIER_TEXT, standard=standard)

DESTINATION = Members(
    named("firstName lastName name company", NAME)
    | named("address1 zip", ADDRESS)
    | named("address2 latitude longitude", POSITION)
    | {"city": TOWN, "phone": CONTACT},
    others="province provinceCode country countryCode isPickupPoint".split(),
)
LINE_ITEM = Members(
    {"name": TEXT, "imageUrl": WebAddress(Kind.FREE_TEXT), "metadata": FREE},
    others="lineItemId sku quantity price productId".split(),
)
EVENTS = Each(
    Members(
        {"label": CARRIERS_TEXT, "notifications": LIST},
        others="status createdAt carrierStatusCode isNotificationSkipped".split(),
    )
)
LAST_STATUS = Members({"description": CARRIERS_TEXT}, others=("code", "date"))
TIMELINE = Members({"events": EVENTS, "carrier_last_status": LAST_STATUS}, others=TIMELINE_FIELDS)
CARRIER_EVENTS = Each(
    Members({"text": CARRIERS_TEXT, "place": ADDRESS}, others="code at status is_listed kept_until rank".split())
)

COLUMNS: Final[Mapping[type[Model], Columns]] = {
    Parcel: {
        "destination": DESTINATION,
        "line_items": Each(LINE_ITEM),
        "events": EVENTS,
        "carrier_last_status": LAST_STATUS,
        "customer_email": Value(Kind.CONTACT, None),
        "previous_emails": Value(Kind.CONTACT, ()),
        "customer_locale": FREE,
        "gift_config": FREE,
        "cross_sell_recommendations": LIST,
        "search_words": Value(Kind.SEARCH),
        "notes": NOTES,
        "reported": Members({"story": TIMELINE}, others=("importedAt", "updatedAt")),
    },
    TrackingNumber: {"events": CARRIER_EVENTS},
    UnlistedEventCode: {"text": Value(Kind.CARRIER_TEXT)},
}

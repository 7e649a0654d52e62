"""A parcel as beta's timeline service writes it."""

from typing import Any

from carriers.sandbox.journeys import PARTNER, TEXTS
from carriers.sandbox.parcel import Purchase
from carriers.sandbox.travel import Happening, Way

# The step that an event reaches; all others leave it where it is.
REACHED = {
    "announced": 0,
    "handed in": 1,
    "first depot": 2,
    "last depot": 3,
    "with the driver": 4,
    "to the pickup point": 4,
    "at the pickup point": 4,
    "delivered": 5,
    "collected": 5,
    "back at the sender": 5,
}
STEPS = ("Annoncé", "Pris en charge", "En cours d'acheminement", "Arrivé", "En cours de livraison", "Livré")
PARTNERS = "P"  # before a parcel's number: the partner's reference
ACTIVE, INACTIVE, DISABLED = "STEP_STATUS_ACTIVE", "STEP_STATUS_INACTIVE", "STEP_STATUS_DISABLED"
SITES: tuple[dict[str, Any], ...] = (
    {"siteCode": "690070", "siteName": "SANDBOX LYON", "siteZipCode": "69007"},
    {"siteCode": "692690", "siteName": "SANDBOX PLATEFORME", "siteZipCode": 69125},  # a number here, as recorded
)


def partner_reference(parcel: Purchase) -> str | None:
    """Return the number that the partner abroad knows the parcel by, None for one that stays at home."""
    return f"{PARTNERS}{parcel.tracking_number}" if parcel.journey == PARTNER else None


def parcel_json(parcel: Purchase, way: Way, language: str) -> dict[str, Any]:
    """Return the parcel's block, personal data in it as the carrier adds them."""
    events = [_event(rank, happening, language) for rank, happening in enumerate(way.happened)]
    reference = partner_reference(parcel)
    return {
        "parcelNumber": parcel.tracking_number,
        "customerParcelReference": parcel.reference,
        "service": {"productCode": parcel.product_code},
        "step": _steps(way.happened),
        # One event comes as an object, several in no order.
        "event": events[0] if len(events) == 1 else [*events[1::2], *events[::2]],
        "removalPoint": None,
        "infoInter": {
            "partnerName": "SANDBOX PARTNER" if reference else None,
            "partnerNetwork": None,
            "partnerReference": reference,
            "partnerTrackingUrl": None,
        },
        "consigneeInformation": {
            "name": "SANDBOX DURAND",
            "address": "18 impasse SANDBOX",
            "phone": "0601020304",
            "mail": "durand@sandbox.example",
        },
    }


def _event(rank: int, happening: Happening, language: str) -> dict[str, Any]:
    text = TEXTS[happening.step.event][language]
    site = SITES[rank % 2] if rank else {}
    return {"date": _local(happening), "code": happening.step.codes["beta"], "labelLong": text, **site}


def _steps(happened: list[Happening]) -> list[dict[str, Any]]:
    at = {REACHED[one.step.event]: _local(one) for one in happened if one.step.event in REACHED}
    highest = max(at, default=-1)
    return [
        {
            "id": id_,
            "labelShort": label,
            "status": _step_status(id_, highest),
            **({"date": at[id_]} if id_ in at else {}),
        }
        for id_, label in enumerate(STEPS)
    ]


def _step_status(id_: int, highest: int) -> str:
    if id_ <= highest:
        return ACTIVE
    return DISABLED if id_ == len(STEPS) - 1 else INACTIVE


def _local(happening: Happening) -> str:
    """Return the local time of Paris, without an offset."""
    return happening.at.replace(tzinfo=None).isoformat(timespec="milliseconds")

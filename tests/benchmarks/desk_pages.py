"""The staff's pages that the desk's benchmark visits, by name."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from urllib.parse import urlencode

from tests.benchmarks.parcels import numbers
from tests.drills.shop import SHOP

LABELS, PARCELS = "/admin/labels/shippinglabel/", "/admin/parcels/parcel/"
PARCEL_FILTERS: dict[str, dict[str, object]] = {
    "page 2": {"p": 2},
    "the last page": {"p": 20},
    "the oldest first": {"o": 7},
    "of a large shop": {"shop__id__exact": SHOP},
    "of a small shop": {"shop__id__exact": "small"},
    "of a small shop, its last page": {"shop__id__exact": "small", "p": 20},
    "of a shop without any": {"shop__id__exact": "none"},
    "by carrier": {"carrier": "alpha"},
    "by a rare carrier": {"carrier": "other"},
    "by a carrier that none has": {"carrier": "none"},
    "by status": {"status": "EXCEPTION"},
    "by status, the last page": {"status": "EXCEPTION", "p": 20},
    "by status, the oldest first": {"status": "EXCEPTION", "o": 7},
    "by a rare status": {"status": "DELIVERY_FAILURE"},
    "by a status that none has": {"status": "none"},
    "by two statuses": {"status": ["EXCEPTION", "DELIVERY_FAILURE"]},
    "by a rare status and none": {"status": ["DELIVERY_FAILURE", "none"]},
    "without news for 3 days": {"silent": 3},
    "without news for 14 days": {"silent": 14},
    "delivered on time": {"delivery": "on_time"},
    "delivered late": {"delivery": "late"},
    "of today": {"when": "today"},
    "of this month": {"when": "month"},
    "of no day": {"created_from": "2001-01-01", "created_to": "2001-01-01"},
    "status, large shop": {"status": "EXCEPTION", "shop__id__exact": SHOP},
    "status, small shop": {"status": "EXCEPTION", "shop__id__exact": "small"},
    "rare status, large shop": {"status": "DELIVERY_FAILURE", "shop__id__exact": SHOP},
    "rare status, small shop": {"status": "DELIVERY_FAILURE", "shop__id__exact": "small"},
    "no status, small shop": {"status": "none", "shop__id__exact": "small"},
    "carrier, small shop": {"carrier": "alpha", "shop__id__exact": "small"},
    "carrier, status": {"carrier": "alpha", "status": "EXCEPTION"},
    "carrier, rare status": {"carrier": "alpha", "status": "DELIVERY_FAILURE"},
    "rare carrier, status": {"carrier": "other", "status": "EXCEPTION"},
    "carrier, without news for 14 days": {"carrier": "beta", "silent": 14},
    "small shop, without news for 14 days": {"shop__id__exact": "small", "silent": 14},
    "status, without news for 14 days": {"status": "EXCEPTION", "silent": 14},
    "small shop, delivered late": {"shop__id__exact": "small", "delivery": "late"},
    "carrier, delivered late": {"carrier": "alpha", "delivery": "late"},
    "status, of today": {"status": "EXCEPTION", "when": "today"},
    "rare status, of this month": {"status": "DELIVERY_FAILURE", "when": "month"},
}
LABEL_FILTERS: dict[str, dict[str, object]] = {
    "page 2": {"p": 2},
    "the last page": {"p": 25},
    "of a large shop": {"shop__id__exact": SHOP},
    "of a small shop": {"shop__id__exact": "small"},
    "by reason": {"reason": "ALPHA_ADDRESS_REJECTED"},
    "by a reason that none has": {"reason": "ALPHA_CREDENTIALS_REJECTED"},
    "by carrier": {"carrier": "alpha"},
    "by product": {"product": "alpha-18"},
    "by a product that none has": {"product": "relais"},
    "by state": {"state": "label_generated"},
    "failed": {"state": "failed"},
    "cancelled": {"state": "cancelled"},
    "by a state that none has": {"state": "incomplete"},
    "by two states": {"state": ["failed", "unknown"]},
    "by all states but one": {"state": ["label_generated", "failed", "cancelled", "unknown"]},
    "of today": {"when": "today"},
    "of this month": {"when": "month"},
    "of no day": {"created_from": "2001-01-01", "created_to": "2001-01-01"},
    "not handed in": {"handed": "no"},
    "not handed in, carrier": {"handed": "no", "carrier": "alpha"},
    "not handed in, small shop": {"handed": "no", "shop__id__exact": "small"},
    "failed, of a small shop": {"state": "failed", "shop__id__exact": "small"},
    "cancelled, of a small shop": {"state": "cancelled", "shop__id__exact": "small"},
    "cancelled, carrier": {"state": "cancelled", "carrier": "beta"},
    "product, small shop": {"product": "alpha-18", "shop__id__exact": "small"},
    "product, state": {"product": "alpha-18", "state": "failed"},
    "product, cancelled": {"product": "alpha-18", "state": "cancelled"},
    "reason, small shop": {"reason": "ALPHA_ADDRESS_REJECTED", "shop__id__exact": "small"},
    "carrier, large shop, this month": {"carrier": "alpha", "shop__id__exact": SHOP, "when": "month"},
}


def pages(parcels: int, labels: int) -> dict[str, str]:
    """Return the addresses of the pages, by name."""
    days_ago_40 = (datetime.now(UTC) - timedelta(days=40)).date().isoformat()
    one_day: dict[str, object] = {"created_from": days_ago_40, "created_to": days_ago_40}
    return {
        "first page": "/admin/",
        "parcels": PARCELS,
        **{f"parcels: {name}": address(PARCELS, values) for name, values in PARCEL_FILTERS.items()},
        "parcels: of one day": address(PARCELS, one_day),
        "parcels: searched by number": address(PARCELS, {"q": numbers(parcels // 2)[0]}),
        "labels": LABELS,
        **{f"labels: {name}": address(LABELS, values) for name, values in LABEL_FILTERS.items()},
        "labels: failed, of one day": address(LABELS, {"state": "failed"} | one_day),
        "labels: searched by order": address(LABELS, {"q": f"L{labels // 2}"}),
        "labels to decide": f"{LABELS}to-decide/",
        "finance": "/admin/labels/labelfigure/",
        "a parcel": f"{PARCELS}B{parcels // 2:09d}/change/",
        **{f"search: {name}": address("/admin/search/", {"q": text}) for name, text in texts(parcels, labels)},
    }


def address(path: str, values: Mapping[str, object]) -> str:
    return f"{path}?{urlencode(values, doseq=True)}"


def texts(parcels: int, labels: int) -> list[tuple[str, str]]:
    """Return the texts for the search box, with what they are."""
    number, label = numbers(parcels // 2)[0], labels // 2
    return [
        ("tracking number", number),
        ("tracking number, lower case", number.lower()),
        ("beginning of it, many", number[:6]),
        ("order number", f"#{parcels // 3}"),
        ("order number, without #", f"{parcels // 3}"),
        ("order id", f"{5_400_000_000 + parcels // 3}"),
        ("order id of a label", f"l{label}"),
        ("parcel id", f"B{parcels // 2:09d}"),
        ("label's number", f"8R{label:011d}"),
        ("a tenth's last name", "Martin"),
        ("a tenth's first name, accents left out", "zoe"),
        ("first and last name", "zoe martin"),
        ("last name of one", f"LEFEVRE{label}Y"),
        ("beginning of a last name", f"lefèvre{label // 100}"),
        ("name and postal code", "martin 75011"),
        ("postal code", "75011"),
        ("phone, national", f"06 {label:08d}"),
        ("phone, international", f"+33 (0)6{label:08d}"),
        ("phone of many parcels", "+33 6 00 00 10 00"),
        ("e-mail", f"person{label}@mail.example"),
        ("e-mail, upper case", f"PERSON{label}@MAIL.EXAMPLE"),
        ("beginning of an e-mail", f"person{label // 100}"),
        ("beginning of all e-mails", "customer"),
        ("no hit: number", "ZZ9999999ZZ"),
        ("no hit: digits", "99999999999999"),
        ("no hit: name", "Nobody Atall"),
        ("no hit: e-mail", "nobody@nowhere.example"),
        ("no hit: phone", "+49 30 1234567"),
    ]

"""Erases a customer from the labels; the record of the purchase stays.

Kept, as it was paid for: the label's and the order's identifiers, tracking numbers, product, weights, state, times,
error codes and the addresses' countries; and a sender that is the shop's own address. Erased: the rest of the
addresses with phone and e-mail, the references (free text), the pickup point (where somebody fetches their parcels),
the free text of the customs declaration, the carrier's texts about the order, and the PDF, which shows all of it.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from datetime import timedelta
from typing import Any

import orjson
from django.db.models import QuerySet

from labels.models import OVER, STORED, ShippingLabel
from labels.pdfs import storage
from labels.slips import making
from shops.db import clock
from shops.db.batches import batches

# A key is kept for this long, erased or not: a repeated request must not buy again.
KEY_PROMISE = timedelta(hours=24)


def labels_of(shop_id: str, email: str, order_ids: Iterable[str]) -> list[str]:
    """Find a customer's labels: sent to their e-mail, in any case of ASCII letters, or made for one of their orders.

    The search by e-mail reads all labels of the shop: it is rare, and an index for it would cost every purchase.
    """
    own = ShippingLabel.objects.for_shop(shop_id).order_by()
    found = set(own.filter(recipient__email__iexact=email).values_list("id", flat=True))
    for orders in batches(set(order_ids) - {""}):
        found.update(own.filter(order_id__in=orders).values_list("id", flat=True))
    return sorted(found)


def not_over(label_ids: Sequence[str]) -> list[str]:
    """Select the labels whose purchase has not ended: it is worked on, asked about or to be decided."""
    return [
        label_id
        for ids in batches(label_ids)
        for label_id in ShippingLabel.objects.filter(id__in=ids).exclude(state__in=OVER).values_list("id", flat=True)
    ]


def with_pdf(label_ids: Sequence[str]) -> Iterator[ShippingLabel]:
    """Yield the labels whose PDF is stored."""
    for ids in batches(label_ids):
        kept = ShippingLabel.objects.filter(id__in=ids, state__in=STORED, pdf_removed_at=None)
        yield from kept.only("id")


def remove_pdf(label: ShippingLabel) -> int:
    """Remove a label's PDF and those of its deposit slips, then record it: the next run repeats what was cut off.

    Raise StorageError. Return 1, or 0 where another process recorded it meanwhile.
    """
    making.remove_pdfs(label)
    storage.remove(label)
    return ShippingLabel.objects.filter(id=label.id, pdf_removed_at=None).update(pdf_removed_at=clock.now())


def erase(label_ids: Sequence[str]) -> int:
    """Anonymise the labels that are over, within the caller's transaction; return their number."""
    over = ShippingLabel.objects.over().order_by("id").select_for_update(of=("self",))
    erased = 0
    for ids in batches(label_ids):
        erased += anonymise(over.filter(id__in=ids))
        past_promise = ShippingLabel.objects.over().filter(id__in=ids, finished_at__lt=clock.now() - KEY_PROMISE)
        past_promise.update(idempotency_key=None, body_digest="")
    return erased


def anonymise(rows: QuerySet[ShippingLabel]) -> int:
    """Erase the people from these rows, which are over and locked; return the number of rows.

    Two rows' remaining addresses are nearly always equal, so there is a statement for each remainder, not each row.
    """
    alike: defaultdict[bytes, list[str]] = defaultdict(list)
    for label in rows.select_related("shop").only("recipient", "sender", "customs", "shop__sender_address"):
        alike[orjson.dumps(remainder(label))].append(label.id)
    now = clock.now()
    notes: dict[str, Any] = dict.fromkeys(("reference", "pickup_point_code", "error_message", "search_words"), "")
    notes |= {"parcel_references": [], "warnings": [], "pickup_point": None}
    for addresses, ids in alike.items():
        rows_alike = ShippingLabel.objects.filter(id__in=ids)
        rows_alike.update(**orjson.loads(addresses), **notes, addresses_removed_at=now)
    return sum(map(len, alike.values()))


def remainder(label: ShippingLabel) -> dict[str, Any]:
    """Return what is left of a label's addresses and customs, without an address that stays whole."""
    addresses = {"recipient": label.recipient}
    if label.sender != label.shop.sender_address:
        addresses["sender"] = label.sender
    left: dict[str, Any] = {field: without_person(address) for field, address in addresses.items()}
    return left if label.customs is None else left | {"customs": without_text(label.customs)}


def without_person(address: dict[str, str]) -> dict[str, str]:
    return {name: value if name == "countryCode" else "" for name, value in address.items()}


def without_text(customs: dict[str, Any]) -> dict[str, Any]:
    """Keep the declaration's figures and codes; what was typed may name or describe the customer."""
    items = [item | {"description": ""} for item in customs["items"]]
    return customs | {"items": items, "invoiceNumber": "", "eori": "", "comments": ""}

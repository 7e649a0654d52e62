"""Takes a customer out of the labels; the purchase stays.

Kept: the label's and the order's identifiers, tracking numbers, product, weights, state, times, error codes and the
addresses' countries: what was bought and is paid for. A sender stays where it is the shop's own address. Everything
else of the addresses goes, with phone and e-mail, the reference (free text), the pickup point (where somebody fetches
their parcels), what the carrier wrote about the order, and the PDF, which shows all of it.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from datetime import timedelta

import orjson
from django.db.models import QuerySet
from django.utils import timezone

from labels import storage
from labels.models import OVER, LabelState, ShippingLabel
from shops.db.batches import batches

# A key is promised for this long, erased or not: a repeated request must not buy again.
KEY_PROMISE = timedelta(hours=24)


def labels_of(shop_id: str, email: str, order_ids: Iterable[str]) -> list[str]:
    """Find a customer's labels: sent to their e-mail, in any case of ASCII letters, or made for one of their orders.

    Looking for the e-mail reads all labels of the shop: that is rare, and an index for it would cost every purchase.
    """
    own = ShippingLabel.objects.for_shop(shop_id).order_by()
    found = set(own.filter(recipient__email__iexact=email).values_list("id", flat=True))
    for orders in batches(set(order_ids) - {""}):
        found.update(own.filter(order_id__in=orders).values_list("id", flat=True))
    return sorted(found)


def not_over(label_ids: Sequence[str]) -> list[str]:
    """Give those whose purchase is still worked on, asked about or to be decided."""
    return [
        label_id
        for ids in batches(label_ids)
        for label_id in ShippingLabel.objects.filter(id__in=ids).exclude(state__in=OVER).values_list("id", flat=True)
    ]


def with_pdf(label_ids: Sequence[str]) -> Iterator[ShippingLabel]:
    """Give those whose PDF is kept."""
    for ids in batches(label_ids):
        kept = ShippingLabel.objects.filter(id__in=ids, state=LabelState.GENERATED, pdf_removed_at=None)
        yield from kept.only("id")


def remove_pdf(label: ShippingLabel) -> int:
    """Remove a label's PDF, and then write it down: whoever is killed in between does it again. Raise StorageError.

    Return 1, or 0 where another process wrote it down meanwhile.
    """
    storage.remove(label)
    return ShippingLabel.objects.filter(id=label.id, pdf_removed_at=None).update(pdf_removed_at=timezone.now())


def erase(label_ids: Sequence[str]) -> int:
    """Take the people out of those that are over, within the caller's transaction; return how many that were."""
    over = ShippingLabel.objects.over().order_by("id").select_for_update(of=("self",))
    erased = 0
    for ids in batches(label_ids):
        erased += anonymise(over.filter(id__in=ids))
        past_promise = ShippingLabel.objects.over().filter(id__in=ids, finished_at__lt=timezone.now() - KEY_PROMISE)
        past_promise.update(idempotency_key=None, body_digest="")
    return erased


def anonymise(rows: QuerySet[ShippingLabel]) -> int:
    """Take the people out of these rows, which are over and locked; return how many that were.

    What is left of two addresses is nearly always the same, so there is a statement for each remainder, not each row.
    """
    alike: defaultdict[bytes, list[str]] = defaultdict(list)
    for label in rows.select_related("shop").only("recipient", "sender", "shop__sender_address"):
        alike[orjson.dumps(remainder(label))].append(label.id)
    now = timezone.now()
    notes = {"reference": "", "pickup_point_code": "", "error_message": ""}
    for addresses, ids in alike.items():
        rows_alike = ShippingLabel.objects.filter(id__in=ids)
        rows_alike.update(**orjson.loads(addresses), **notes, addresses_removed_at=now)
    return sum(map(len, alike.values()))


def remainder(label: ShippingLabel) -> dict[str, dict[str, str]]:
    """Give what is left of a label's addresses, but for one that stays whole."""
    addresses = {"recipient": label.recipient}
    if label.sender != label.shop.sender_address:
        addresses["sender"] = label.sender
    return {field: without_person(address) for field, address in addresses.items()}


def without_person(address: dict[str, str]) -> dict[str, str]:
    return {name: value if name == "countryCode" else "" for name, value in address.items()}

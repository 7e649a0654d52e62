"""Erases a customer from the labels; the record of the purchase stays.

`labels.personal_data.columns` says which columns are personal, and what is left of each. Kept, as it was paid for: the
label's and the order's identifiers, tracking numbers, product, weights, state, times, error codes and the addresses'
countries; and a sender that is the shop's own address.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from itertools import chain
from time import sleep
from typing import Any, Final

import orjson
from django.db.models import F, Q, QuerySet

from labels.models import OVER, STORED, DepositSlip, ShippingLabel, ShippingLabelQuerySet
from labels.pdfs import receipts, storage
from labels.personal_data.columns import KEYS, LABEL, REFUSAL
from labels.slips import making
from parcels.tracking.events import milliseconds
from shops.db import clock
from shops.db.bulk import batches
from shops.db.querysets import rows_with
from shops.personal_data import Traces, left_of

# A key is kept for this long, erased or not: a repeated request must not buy again.
KEY_PROMISE = timedelta(hours=24)
WITHOUT_KEYS: Final = {name: key.left for name, key in KEYS.items()}
# A label whose receipt was blanked: its id, and what each change of it changes.
Blanked = tuple[str, str, datetime]


def labels_of(shop_id: str, email: str) -> list[Traces]:
    """Find the labels sent to or from this e-mail, in any case of ASCII letters.

    It reads all labels of the shop: that is rare, and an index for it would cost every purchase.
    """
    own = ShippingLabel.objects.for_shop(shop_id).order_by()
    return traces(own.filter(Q(recipient__email__iexact=email) | Q(sender__email__iexact=email)))


def labels_with(
    shop_id: str, *, ids: Iterable[str] = (), order_ids: Iterable[str] = (), numbers: Iterable[str] = ()
) -> list[Traces]:
    """Find the labels with these ids, those of these orders, and those with one of these numbers."""
    own, found = ShippingLabel.objects.for_shop(shop_id).order_by(), []
    for some in batches(ids):
        found += traces(own.filter(id__in=some))
    for some in batches(order_ids):
        found += traces(own.filter(order_id__in=some))
    for some in batches(numbers):
        found += traces(own.with_tracking_number(*some))
    return found


def traces(labels: QuerySet[ShippingLabel]) -> list[Traces]:
    rows = labels.values_list("id", "order_id", "created_at", "tracking_numbers")
    return [
        Traces(label_id, order_id, frozenset(numbers), milliseconds(created_at))
        for label_id, order_id, created_at, numbers in rows
    ]


def not_over(label_ids: Sequence[str]) -> list[str]:
    """Select the labels whose purchase has not ended: it is worked on, asked about or to be decided."""
    return list(rows_with(label_ids, ShippingLabel.objects.exclude(state__in=OVER).values_list("id", flat=True)))


def with_pdf(label_ids: Sequence[str]) -> Iterator[ShippingLabel]:
    return rows_with(label_ids, ShippingLabel.objects.filter(state__in=STORED, pdf_removed_at=None).only("id"))


def require_storage(label_ids: Sequence[str]) -> None:
    """Raise StorageError where a PDF is to be removed from a folder that is not there: a write would make it."""
    if label := next(with_pdf(label_ids), None):
        storage.is_stored(label.pdf_key)


def remove_pdf(label: ShippingLabel) -> int:
    """Remove a label's PDF and those of its deposit slips, then record it: the next run repeats what was cut off.

    Raise StorageError. Return 1, or 0 where another process recorded it meanwhile.
    """
    making.remove_pdfs(label)
    storage.delete(label.pdf_key)
    removed = ShippingLabel.objects.filter(id=label.id, pdf_removed_at=None).update(pdf_removed_at=clock.now())
    making.remove_pdfs(label)  # of slips that were asked for before that
    return removed


def erase(label_ids: Sequence[str]) -> int:
    """Anonymise the labels that are over, within the caller's transaction; return their number."""
    over = ShippingLabel.objects.over().order_by("id").select_for_update(of=("self",))
    erased = 0
    for ids in batches(label_ids):
        erased += anonymise(over.filter(id__in=ids))
        past = ShippingLabel.objects.over().filter(id__in=ids, finished_at__lt=clock.now() - KEY_PROMISE)
        past.update(**WITHOUT_KEYS)
    return erased


def await_receipts(label_ids: Sequence[str]) -> None:
    """Let processes that are at work on these labels, or just were, store PDFs and write receipts.

    It waits for as long as a receipt is tried.
    """
    since = clock.now() - timedelta(seconds=receipts.TIMEOUT_S)
    leased = ShippingLabel.objects.filter(leased_until__gt=since).values_list("id", flat=True)
    if any(rows_with(label_ids, leased)):
        sleep(receipts.TIMEOUT_S)


def blank_receipts(label_ids: Iterable[str], blanked: Collection[Blanked] = ()) -> set[Blanked]:
    """Leave in the receipts of labels that are over what an erasure leaves of their rows. Raise StorageError.

    Return the labels as they were, so that of a second run those alone are written that have changed meanwhile.
    """
    found = set()
    for label in rows_with(label_ids, ShippingLabel.objects.over().select_related("shop")):
        found.add(seen := (label.id, label.state, label.leased_until))
        if seen in blanked:
            continue
        is_past = label.finished_at is not None and label.finished_at < clock.now() - KEY_PROMISE
        for name, left in (remainder(label) | (WITHOUT_KEYS if is_past else {})).items():
            setattr(label, name, left)
        label.addresses_removed_at = label.addresses_removed_at or clock.now()
        receipts.write(label)
    return found


def past_promise() -> ShippingLabelQuerySet:
    """Find the labels without addresses whose key or digest is kept no longer: a key, if they were erased on request.

    The label of such a request was younger than the promise, else its key went at once; age removes none so young.
    """
    is_over = Q(idempotency_key=None) | Q(addresses_removed_at__lt=F("finished_at") + KEY_PROMISE)
    erased = ShippingLabel.objects.over().filter(is_over, addresses_removed_at__isnull=False)
    return erased.filter(finished_at__lt=clock.now() - KEY_PROMISE).exclude(**WITHOUT_KEYS)


def anonymise(rows: QuerySet[ShippingLabel]) -> int:
    """Erase the people from these rows, which are over and locked, and from their slips; return the number of rows.

    What is left of two rows is nearly always equal, so there is a statement for each remainder, not each row.
    """
    alike: defaultdict[bytes, list[str]] = defaultdict(list)
    for label in rows.select_related("shop").only(*LABEL, "shop__sender_address"):
        alike[orjson.dumps(remainder(label))].append(label.id)
    now = clock.now()
    for left, ids in alike.items():
        ShippingLabel.objects.filter(id__in=ids).update(**orjson.loads(left), addresses_removed_at=now)
    for ids in batches(chain.from_iterable(alike.values())):
        DepositSlip.objects.listing(*ids).exclude(refusal="").update(refusal=REFUSAL.left)
    return sum(map(len, alike.values()))


def remainder(label: ShippingLabel) -> dict[str, Any]:
    """Return what is left of a label's columns, without a sender that is the shop itself."""
    left = left_of(LABEL, label)
    if label.sender == label.shop.sender_address:
        del left["sender"]
    return left

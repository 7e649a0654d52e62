"""Compares the labels' table with the storage, a month at a time: what is in the one and not in the other.

Both change meanwhile, so whatever looks wrong is looked at once more by itself before it is told.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import groupby

from labels import storage
from labels.ids import id_prefix
from labels.models import LabelState, ShippingLabel

BATCH_SIZE = 1_000
FIELDS = ("id", "shop", "state", "created_at", "pdf_secret", "pdf_removed_at")
PDF_NAME = re.compile(r"/label-([0-9A-Z]{15})\.pdf\Z")

NO_PDF = "no PDF"  # the label is there for the shop, and its PDF is not
NO_ROW = "no row"  # a PDF that no label is known to, as after the database was restored to an earlier time
NOT_FINISHED = "not finished"  # the PDF is there, and the purchase is not known to have come so far
NOT_REMOVED = "not removed"  # the PDF is there although it was removed by its age or on request


@dataclass(frozen=True)
class Finding:
    """A difference of one of the four kinds; `what` is a label with its shop, or a name in the storage."""

    kind: str
    what: str


def check(since: datetime) -> Iterator[Finding]:
    """Give every difference, from the month of `since` on. Raise StorageError."""
    first = month_of(since)
    months = [month for month in storage.months() if month >= first]
    for month, labels in groupby(labels_since(since), lambda label: month_of(label.created_at)):
        yield from compare(labels, storage.names(month))
        if month in months:
            months.remove(month)
    for month in months:  # no label is known of
        yield from compare([], storage.names(month))


def month_of(moment: datetime) -> str:
    return f"{moment:%Y/%m}"


def labels_since(moment: datetime) -> Iterator[ShippingLabel]:
    """Give labels in the order of their ids, which is that of time, without ever holding more than a batch."""
    # An id is made a moment before the time of creation that it goes with.
    last = id_prefix(int((moment - timedelta(minutes=1)).timestamp() * 1000))
    while batch := list(ShippingLabel.objects.filter(id__gt=last).order_by("id").only(*FIELDS)[:BATCH_SIZE]):
        yield from (label for label in batch if label.created_at >= moment)
        last = batch[-1].id


def compare(labels: Iterable[ShippingLabel], names: set[str]) -> Iterator[Finding]:
    """Compare a month's labels with the names in the storage, which are used up."""
    for label in labels:
        if is_kept(label) and label.pdf_key not in names:
            yield from without_pdf(label.id)
        elif is_kept(label):
            names.remove(label.pdf_key)
    for name in sorted(names):
        yield from without_label(name)


def is_kept(label: ShippingLabel) -> bool:
    return label.state == LabelState.GENERATED and label.pdf_removed_at is None


def without_pdf(label_id: str) -> Iterator[Finding]:
    """Look once more at a label whose PDF was not among the names."""
    label = ShippingLabel.objects.only(*FIELDS).get(id=label_id)
    if is_kept(label) and not storage.is_stored(label.pdf_key):
        yield Finding(NO_PDF, described(label))


def without_label(name: str) -> Iterator[Finding]:
    """Look once more at a name in the storage that no label was known by."""
    match = PDF_NAME.search(name)
    label = ShippingLabel.objects.only(*FIELDS).filter(id=match[1]).first() if match else None
    is_expected = label is not None and label.pdf_key == name and (is_kept(label) or label.state == LabelState.RECEIVED)
    if is_expected or not storage.is_stored(name):
        return
    if label is None or label.pdf_key != name:
        yield Finding(NO_ROW, name)
    elif label.pdf_removed_at:
        yield Finding(NOT_REMOVED, name)
    else:
        yield Finding(NOT_FINISHED, described(label))


def described(label: ShippingLabel) -> str:
    return f"{label.id} of shop {label.shop_id}, {label.state}"

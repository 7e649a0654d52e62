"""Compares the tables of labels and slips with the storage, a month at a time, and yields every difference.

Both change meanwhile, so every difference is looked at once more before it is reported.
"""

import re
from collections.abc import Iterable, Iterator
from datetime import datetime
from itertools import groupby
from pathlib import PurePosixPath

from labels.ids import LABEL_ID, id_prefix, id_time
from labels.models import DepositSlip, LabelState, ShippingLabel
from labels.pdfs import recovery, storage
from labels.slips.models import ROOT as SLIPS

BATCH_SIZE = 1_000
FIELDS = ("id", "shop", "state", "pdf_removed_at")
LABELS_NAME = re.compile(rf"/({LABEL_ID.pattern})\.(?:pdf|json)\Z")

NO_PDF = "no PDF"  # the shop can retrieve the label, and its PDF is gone
NO_ROW = "no row"  # a PDF without its label, as after the database was restored to an earlier time
NOT_FINISHED = "not finished"  # the PDF is stored, and the row says that the purchase has not come so far
NOT_RECORDED = "not recorded"  # bought while the database was away: the storage has what the row does not say yet
NOT_REMOVED = "not removed"  # the PDF is stored, and the row says that it was removed by its age or on request


# A difference: its kind of these five, and what it is about, a label with its shop or a name in the storage.
Difference = tuple[str, str]


def check(since: datetime) -> Iterator[Difference]:
    """Yield every difference, from the month of `since` on. Raise StorageError."""
    months = {month for month in storage.months() if month >= month_of(since)}
    for month, labels in groupby(labels_since(since), lambda label: month_of(id_time(label.id))):
        yield from compare(labels, month)
        months.discard(month)
    for month in sorted(months):  # those without any label
        yield from compare([], month)
    for month in storage.months(SLIPS):
        if month >= month_of(since):
            yield from compare_slips(storage.entries(f"{SLIPS}/{month}"))


def compare_slips(files: Iterable[tuple[str, datetime]]) -> Iterator[Difference]:
    """Yield the PDFs that are no deposit slip's any more: they show recipients."""
    for name, _ in files:
        slip = DepositSlip.objects.filter(id=PurePosixPath(name).stem).defer("pdf").first()
        is_expected = slip is not None and slip.has_pdf
        if not is_expected and storage.is_stored(name):
            yield NOT_REMOVED if slip else NO_ROW, name


def month_of(moment: datetime) -> str:
    return f"{moment:%Y/%m}"


def labels_since(moment: datetime) -> Iterator[ShippingLabel]:
    """Yield labels in the order of their ids, which is that of time, and hold no more than a batch."""
    last = id_prefix(moment)
    while batch := list(ShippingLabel.objects.filter(id__gt=last).order_by("id").only(*FIELDS)[:BATCH_SIZE]):
        yield from batch
        last = batch[-1].id


def compare(labels: Iterable[ShippingLabel], month: str) -> Iterator[Difference]:
    """Compare a month's labels with the names in the storage."""
    names = {name for name, _ in storage.entries(f"{storage.ROOT}/{month}")}
    for label in labels:
        if is_kept(label) and label.pdf_key not in names:
            latest = ShippingLabel.objects.only(*FIELDS).get(id=label.id)
            if is_kept(latest) and not storage.is_stored(latest.pdf_key):
                yield NO_PDF, described(latest)
        elif label.has_pdf:
            names.discard(label.pdf_key)
    for name in sorted(names):
        yield from without_label(name)


def is_kept(label: ShippingLabel) -> bool:
    return label.state == LabelState.GENERATED and label.pdf_removed_at is None


def without_label(name: str) -> Iterator[Difference]:
    """Look once more at a name in the storage that no label has."""
    match = LABELS_NAME.search(name)
    label = ShippingLabel.objects.only(*FIELDS).filter(id=match[1]).first() if match else None
    is_expected = label is not None and label.pdf_key == name and label.has_pdf
    if is_expected or not storage.is_stored(name):
        return
    if label is None or name not in (label.pdf_key, recovery.facts_key(label)):
        yield NO_ROW, name
    elif name != label.pdf_key:
        yield NOT_RECORDED, described(label)
    elif label.pdf_removed_at:
        yield NOT_REMOVED, name
    else:
        yield NOT_FINISHED, described(label)


def described(label: ShippingLabel) -> str:
    return f"{label.id} of shop {label.shop_id}, {label.state}"

"""Receipts of purchases: each label's row as it was last known, encrypted, in the storage of the PDFs.

One is written when the label is reserved, before the carrier is asked, and another with each later state: in its place,
but of a bought label in the next line, which costs less. After the database was restored to an earlier moment,
`labels.lifecycle.from_receipts` makes the rows again from them.
"""

import logging
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from pathlib import PurePosixPath
from typing import Any, Final

from django.db.models import BinaryField, DecimalField, Field

from labels.ids import LABEL_ID, id_time
from labels.models import LabelState, ShippingLabel
from labels.pdfs import storage
from shops.contracts.encryption import UnreadableSecretError, decrypt, encrypt
from shops.db.bulk import BATCH_SIZE, chunks

ROOT: Final = "receipts"
TIMEOUT_S: Final = 3.0  # an order waits no longer for a storage that is silent
MADE_ANEW: Final = ("search_words",)
COLUMNS: Final[list[Field[Any, Any]]] = [
    column for column in ShippingLabel._meta.concrete_fields if column.name not in MADE_ANEW
]
AS_TEXT: Final = [column for column in COLUMNS if isinstance(column, BinaryField | DecimalField)]
logger = logging.getLogger("labels.receipts")


def name(label_id: str) -> str:
    return f"{ROOT}/{id_time(label_id):%Y/%m}/{label_id}"


def try_to_write(label: ShippingLabel) -> None:
    """Write a label's receipt. A storage that is down stops nothing: a restore can't bring this state back then."""
    try:
        write(label, is_added=label.state == LabelState.GENERATED)
    except storage.StorageError as error:
        logger.warning("receipt not written", extra={"label": label.id, "reason": str(error)})


def write(label: ShippingLabel, *, is_added: bool = False) -> None:
    """Write a label's receipt in place of earlier ones, or add it to them. Raise StorageError."""
    facts = {column.attname: getattr(label, column.attname) for column in COLUMNS}
    # JSON has neither bytes nor decimals.
    facts |= {each.attname: each.value_to_string(label) for each in AS_TEXT if facts[each.attname] is not None}
    to_storage = storage.add if is_added else storage.write
    to_storage(name(label.id), encrypt(facts, row_id=label.id).encode(), storage.deadline(TIMEOUT_S))


def read(label_id: str) -> ShippingLabel | None:
    """Return a label as its receipt has it, None without one. Raise StorageError or UnreadableSecretError."""
    content = storage.read(name(label_id))
    if content is None:
        return None
    lines = content.rpartition(b"\n")[0].split()  # without one that was cut off; a first one has no line feed
    facts = decrypt((lines or [content])[-1].decode(), row_id=label_id)
    known = {column.attname: column.to_python(facts[column.attname]) for column in COLUMNS if column.attname in facts}
    return ShippingLabel(**known)


def read_since(moment: datetime) -> Iterator[tuple[str, ShippingLabel | None]]:
    """Yield the labels whose receipt was written since, as that has them, in the order of these times.

    None where no key opens it. Raise StorageError.
    """
    found = [(written_at, PurePosixPath(path).name) for path, written_at in storage.entries(ROOT)]
    # Others are what an interrupted copy of the storage has left beside them.
    label_ids = [each for written_at, each in sorted(found) if written_at >= moment and LABEL_ID.fullmatch(each)]

    def read_one(label_id: str) -> tuple[str, ShippingLabel | None]:
        try:
            return label_id, read(label_id)
        except UnreadableSecretError:
            return label_id, None

    with ThreadPoolExecutor(storage.READERS) as pool:
        for some in chunks(label_ids, BATCH_SIZE):
            yield from pool.map(read_one, some)


def remove_old(before: datetime) -> dict[str, datetime]:
    """Remove the receipts that were last written before this. Raise StorageError.

    Return when the others were, those of labels as old or of the same month.
    """
    left = {}
    for month in storage.months(ROOT):
        if month <= f"{before:%Y/%m}":
            for path, written_at in storage.entries(f"{ROOT}/{month}"):
                if written_at < before:
                    storage.delete(path)
                else:
                    left[PurePosixPath(path).name] = written_at
    return left

"""The journal of erasures, in the storage of the PDFs: a restored database repeats those that it lost.

An entry has keyed digests of the parcels and labels that were erased, and no name: only who has CREDENTIALS_KEYS and
the database can tell which they are.
"""

import hmac
from collections import defaultdict
from collections.abc import Iterable, Iterator
from datetime import datetime
from hashlib import sha256
from pathlib import PurePosixPath
from typing import Final

import orjson
from django.conf import settings
from django.db.models import Q

from labels.ids import LABEL_ID, new_label_id
from labels.models import ShippingLabel
from labels.pdfs import storage
from parcels.models import Parcel
from shops.db import clock

ROOT: Final = "erasures"
PURPOSE: Final = b"journal of erasures"


def digest(key: str, shop_id: str, row_id: str) -> str:
    derived = hmac.digest(key.encode(), PURPOSE, sha256)
    return hmac.new(derived, f"{shop_id} {row_id}".encode(), sha256).hexdigest()


def note(shop_id: str, row_ids: Iterable[str]) -> None:
    """Add an erasure of these parcels and labels. Raise StorageError."""
    key, now = settings.CREDENTIALS_KEYS[0], clock.now()
    entry = {"shop": shop_id, "at": now, "digests": [digest(key, shop_id, each) for each in row_ids]}
    storage.write(f"{ROOT}/{now:%Y/%m}/{new_label_id(now)}.json", orjson.dumps(entry))


def to_repeat() -> Iterator[tuple[str, list[str], list[str]]]:
    """Yield each shop's erased parcels and labels that are there again, by no import since; raise StorageError."""
    for shop_id, erased_at in by_shop().items():
        kept = Q(are_texts_erased=False) | Q(customer_email__gt="")  # an import brought him back once before
        parcels = Parcel.objects.for_shop(shop_id).filter(kept).order_by().values_list("id", "imported_at")
        over = ShippingLabel.objects.for_shop(shop_id).over().filter(addresses_removed_at=None)
        labels = over.order_by().values_list("id", "created_at")
        parcel_ids, label_ids = (
            [row_id for row_id, since in rows.iterator() if was_erased(shop_id, row_id, since, erased_at)]
            for rows in (parcels, labels)
        )
        if parcel_ids or label_ids:
            yield shop_id, parcel_ids, label_ids


def was_erased(shop_id: str, row_id: str, since: datetime | None, erased_at: dict[str, datetime]) -> bool:
    digests = (digest(key, shop_id, row_id) for key in settings.CREDENTIALS_KEYS)
    times = [erased_at[each] for each in digests if each in erased_at]
    return bool(times) and (since is None or since < max(times))


def by_shop() -> dict[str, dict[str, datetime]]:
    """Return each shop's digests with the last time that each was erased at. Raise StorageError."""
    found: defaultdict[str, dict[str, datetime]] = defaultdict(dict)
    for name, _ in sorted(storage.entries(ROOT)):
        is_ours = LABEL_ID.fullmatch(PurePosixPath(name).stem)  # not what an interrupted copy of the storage has left
        entry = orjson.loads((is_ours and storage.read(name)) or b"null")
        if entry:
            found[entry["shop"]] |= dict.fromkeys(entry["digests"], datetime.fromisoformat(entry["at"]))
    return found

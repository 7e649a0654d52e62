"""The import of parcels: NDJSON, validated line by line, written in batches, all or nothing."""

from codecs import BOM_UTF8
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from itertools import islice
from typing import IO, Any

import orjson
from django.db import reset_queries, transaction
from django.utils import timezone
from rest_framework.serializers import ValidationError

from parcels.models import Parcel, ParcelNumber
from parcels.serializers import ImportedParcelSerializer
from shops.serializer_fields import describe_faults

BATCH_SIZE = 500
MAX_LINE_BYTES = 4 * 1024 * 1024
# An update never moves a parcel to another shop.
UPDATED_FIELDS = [f.name for f in Parcel._meta.concrete_fields if f.name not in {"id", "shop"}]

Line = tuple[int, bytes]
NumberedParcel = tuple[int, Parcel]


class BadLineError(Exception):
    """A line that cannot be imported; its text names the invalid field."""


class NothingImportedError(Exception):
    """A strict import met bad lines and changed nothing."""


def read_lines(file: IO[bytes]) -> Iterator[Line]:
    """Number the lines of a file from 1; a longer line is cut after `MAX_LINE_BYTES` and one more byte."""
    number = 0
    while line := file.readline(MAX_LINE_BYTES + 1):
        number += 1
        yield number, line
        while len(line) > MAX_LINE_BYTES and not line.endswith(b"\n"):
            line = file.readline(MAX_LINE_BYTES + 1)


@dataclass
class ParcelImport:
    """One run for one shop. Each bad line is reported with its number when it is met."""

    shop_id: str
    report: Callable[[int, str], None]
    is_strict: bool = True
    imported: int = 0
    bad: int = 0
    started_at: datetime = field(default_factory=timezone.now)
    serializer: ImportedParcelSerializer = field(default_factory=ImportedParcelSerializer)

    def run(self, lines: Iterable[Line]) -> int:
        """Insert or update the parcels of `lines` in one transaction; return how many parcels that were.

        Raise NothingImportedError after the last line if the run is strict and a line was bad.
        """
        parcels = self.valid_parcels(lines)
        with transaction.atomic():
            while batch := list(islice(parcels, BATCH_SIZE)):
                self.import_batch(batch)
                reset_queries()  # with DEBUG on, Django keeps every statement, so the whole file
            if self.bad and self.is_strict:
                raise NothingImportedError
        return self.imported

    def valid_parcels(self, lines: Iterable[Line]) -> Iterator[NumberedParcel]:
        for number, raw in lines:
            line = raw.removeprefix(BOM_UTF8) if number == 1 else raw
            if not line.strip():
                continue
            try:
                yield number, self.parse(line)
            except BadLineError as error:
                self.refuse(number, str(error))

    def refuse(self, number: int, reason: str) -> None:
        self.bad += 1
        self.report(number, reason)

    def parse(self, line: bytes) -> Parcel:
        """Build a parcel from a line; raise BadLineError."""
        if len(line) > MAX_LINE_BYTES:
            raise BadLineError(f"is longer than {MAX_LINE_BYTES} bytes.")
        try:
            values: dict[str, Any] = self.serializer.run_validation(orjson.loads(line))
        except orjson.JSONDecodeError as error:
            raise BadLineError(f"is not valid JSON: {error.msg}, at column {error.colno}.") from None
        except ValidationError as error:
            raise BadLineError(describe_faults(error.detail)) from None
        return Parcel(**values, shop_id=self.shop_id, imported_at=self.started_at)

    def import_batch(self, batch: list[NumberedParcel]) -> None:
        """Write a batch; an id that another shop owns, or has taken meanwhile, is a bad line."""
        while batch:
            owners, repeated = self.known(batch)
            for number, parcel in batch:
                if parcel.id in owners:
                    self.refuse(number, "id: belongs to another shop.")
            # In the order of ids, so that concurrent imports do not deadlock.
            parcels = {p.id: p for _, p in sorted(batch, key=lambda each: each[1].id) if p.id not in owners}
            if (self.bad and self.is_strict) or not parcels:
                return
            if self.write(parcels):
                self.imported += len(parcels) - len(repeated)
                return
            batch = [(number, parcel) for number, parcel in batch if parcel.id in parcels]

    def known(self, batch: list[NumberedParcel]) -> tuple[set[str], set[str]]:
        """Return the batch's ids that another shop owns, and those that this run has already imported."""
        rows = Parcel.objects.filter(id__in={parcel.id for _, parcel in batch})
        foreign, repeated = set(), set()
        for parcel_id, shop_id, imported_at in rows.values_list("id", "shop", "imported_at"):
            if shop_id != self.shop_id:
                foreign.add(parcel_id)
            elif imported_at == self.started_at:
                repeated.add(parcel_id)
        return foreign, repeated

    def write(self, parcels: dict[str, Parcel]) -> bool:
        """Insert or update; roll back and return False if another shop took one of the ids meanwhile."""
        with transaction.atomic():
            Parcel.objects.bulk_create(
                parcels.values(), update_conflicts=True, unique_fields=["id"], update_fields=UPDATED_FIELDS
            )
            if Parcel.objects.filter(id__in=parcels).exclude(shop=self.shop_id).exists():
                transaction.set_rollback(True)
                return False
            ParcelNumber.objects.filter(parcel__in=parcels).delete()
            ParcelNumber.objects.bulk_create(number for parcel in parcels.values() for number in numbers_of(parcel))
        return True


def numbers_of(parcel: Parcel) -> Iterator[ParcelNumber]:
    """Yield the numbers that a parcel is found by, each once."""
    for number in dict.fromkeys([parcel.tracking_id, *parcel.tracking_numbers]):
        yield ParcelNumber(shop_id=parcel.shop_id, number=number, parcel=parcel, created_at=parcel.created_at)

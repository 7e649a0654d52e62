"""The import of parcels: NDJSON, validated line by line, written in batches, all or nothing."""

import gc
import json
from codecs import BOM_UTF8
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import datetime
from typing import IO, Any

import orjson
from django.db import reset_queries, transaction
from rest_framework.serializers import ValidationError

from parcels.importing.numbers import lock_imports
from parcels.importing.writing import TakenError, replace_labels_meanwhile, write
from parcels.models import Parcel
from parcels.serializers import ImportedParcelSerializer
from parcels.tracking.shop_report import merge_with_stored
from shops.api.compiled import RefusedError, compile_field
from shops.api.field_faults import describe_faults
from shops.db import clock
from shops.db.bulk import chunks, instance

BATCH_SIZE = 1000
MAX_LINE_BYTES = 4 * 1024 * 1024
ZEROS = bytes.maketrans(b"123456789", b"0" * 9)
LONG_NUMBER = b"0" * 19  # of which orjson makes a float without a word if it has more than 64 bits

SERIALIZER = ImportedParcelSerializer()
read_parcel = compile_field(SERIALIZER)

Line = tuple[int, bytes]
Values = dict[str, Any]  # of a parcel's row


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
    is_silent: bool = False
    imported: int = 0
    bad: int = 0
    started_at: datetime = field(default_factory=clock.now)

    def run(self, lines: Iterable[Line]) -> int:
        """Insert or update the parcels of `lines` in one transaction; return the number of parcels.

        Raise NothingImportedError after the last line if the run is strict and a line was bad.
        """
        with transaction.atomic(), without_collector():
            lock_imports(self.shop_id)
            for batch in chunks(self.valid_parcels(lines), BATCH_SIZE):
                self.import_batch(batch)
                reset_queries()  # with DEBUG on, Django keeps every statement, so the whole file
                gc.collect(1)  # what the batch's queries left
            if self.bad and self.is_strict:
                raise NothingImportedError
            if self.imported:
                replace_labels_meanwhile(self.shop_id, self.started_at, is_silent=self.is_silent)
        return self.imported

    def valid_parcels(self, lines: Iterable[Line]) -> Iterator[tuple[int, Values]]:
        for number, raw in lines:
            line = raw.removeprefix(BOM_UTF8) if number == 1 else raw
            if not line.strip():
                continue
            try:
                values = valid(parsed(line))
            except orjson.JSONDecodeError as error:
                self.refuse(number, f"is not valid JSON: {error.msg}, at column {error.colno}.")
            except ValidationError as error:
                self.refuse(number, describe_faults(error.detail))
            else:
                yield number, values

    def refuse(self, number: int, reason: str) -> None:
        self.bad += 1
        self.report(number, reason)

    def import_batch(self, batch: list[tuple[int, Values]]) -> None:
        """Write a batch; an id that another shop owns, or has taken meanwhile, is a bad line."""
        while True:
            owners = dict(Parcel.objects.filter(id__in={each["id"] for _, each in batch}).values_list("id", "shop"))
            for number, values in batch:
                if owners.get(values["id"], self.shop_id) != self.shop_id:
                    self.refuse(number, "id: belongs to another shop.")
            batch = [each for each in batch if owners.get(each[1]["id"], self.shop_id) == self.shop_id]
            if (self.bad and self.is_strict) or not batch:
                return
            own = {"shop_id": self.shop_id, "imported_at": self.started_at}
            parcels = once_each(instance(Parcel, **values, **own) for _, values in batch)
            with suppress(TakenError):
                known = owners.keys() & parcels
                self.imported += write(self.shop_id, parcels, known, self.started_at, is_silent=self.is_silent)
                return


@contextmanager
def without_collector() -> Iterator[None]:
    """Stop the garbage collector, which would look at all living objects again and again."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def parsed(line: bytes) -> Any:
    """Parse strict JSON, with all digits of an integer; raise orjson.JSONDecodeError or ValidationError."""
    if len(line) > MAX_LINE_BYTES:
        raise ValidationError(f"is longer than {MAX_LINE_BYTES} bytes.")
    value = orjson.loads(line)
    if LONG_NUMBER not in line.translate(ZEROS):
        return value
    try:
        return json.loads(line)
    except RecursionError:
        raise ValidationError("is nested too deeply.") from None


def valid(data: Any) -> Values:
    """Return a parcel's values; raise ValidationError with all faults."""
    try:
        values: Values = read_parcel(data)
    except RefusedError:
        values = SERIALIZER.run_validation(data)
    return values


def once_each(parcels: Iterable[Parcel]) -> dict[str, Parcel]:
    """Return each parcel once: the later of two, unless it would turn the status of the earlier one back.

    They are in the order of ids, so that concurrent imports do not deadlock.
    """
    found: dict[str, Parcel] = {}
    for parcel in parcels:
        if parcel.id in found:
            merge_with_stored(parcel, found[parcel.id])
        found[parcel.id] = parcel
    return {parcel_id: found[parcel_id] for parcel_id in sorted(found)}

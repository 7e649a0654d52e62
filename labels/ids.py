"""Identifiers of labels, in the order of time."""

import re
import secrets
from datetime import UTC, datetime, timedelta

from django.utils.http import int_to_base36

BASE = 36  # of the digits 0 to Z
LABEL_ID_LENGTH = 15
TIME_LENGTH = 8  # digits: milliseconds until the year 2114
EPOCH = datetime(2025, 1, 1, tzinfo=UTC)
MILLISECOND = timedelta(milliseconds=1)
LABEL_ID = re.compile(r"[0-9A-Z]{15}")


def new_label_id(moment: datetime | None = None) -> str:
    """Make 15 upper-case letters and digits, in the order of time: short enough for the carriers' reference."""
    length = LABEL_ID_LENGTH - TIME_LENGTH
    return id_prefix(moment or datetime.now(UTC)) + digits(secrets.randbelow(BASE**length), length)


def id_prefix(moment: datetime) -> str:
    """Return the start of all ids made in this millisecond; ids made later are greater, up to the last of all."""
    return digits(min(max((moment - EPOCH) // MILLISECOND, 0), BASE**TIME_LENGTH - 1), TIME_LENGTH)


def digits(number: int, length: int) -> str:
    return int_to_base36(number).upper().zfill(length)


def id_time(label_id: str) -> datetime:
    """Return the millisecond that an id was made in, in UTC."""
    return EPOCH + int(label_id[:TIME_LENGTH], BASE) * MILLISECOND

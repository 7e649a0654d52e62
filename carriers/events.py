"""Tracking events as carriers write them, read within bounds: codes, times, texts and places."""

import csv
import re
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Final, NamedTuple

from carriers.products import PARIS
from carriers.redaction import Redactor
from carriers.tracking import Status, TrackingEvent

# Many times a real history; of a longer one the newest are kept.
MAX_EVENTS: Final = 500
MAX_PLACE_LENGTH: Final = 100
# An event that is dated later than this was not observed; it would stay the newest for ever.
MAX_AHEAD: Final = timedelta(days=1)
MAX_EXPECTED_AHEAD: Final = timedelta(days=366)
FIRST_YEAR: Final = 2000

_NUMBER: Final = re.compile(r"[A-Za-z0-9]{1,35}")
_CODE: Final = re.compile(r"[A-Za-z0-9_-]{1,16}")
_CONTACT: Final = re.compile(r"[^\s@]{1,64}@[^\s@]+|(?<!\w)\+?[0-9](?:[ .-]?[0-9]){8,}(?!\w)")
_MAX_RAW_LENGTH: Final = 2000

Codes = Mapping[str, Status | None]


class Meaning(NamedTuple):
    """The entry of an event's code in a carrier's own table: in words, where it has some, and as a status.

    `texts` are those that it is known to come with, in French.
    """

    meaning: str
    texts: tuple[str, ...]
    status: Status | None


def read_meanings(path: Path) -> dict[str, Meaning]:
    """Return a carrier's table of event codes."""
    with path.open(newline="", encoding="utf-8") as file:
        return {row["code"]: _meaning(row) for row in csv.DictReader(file)}


def _meaning(row: Mapping[str, str]) -> Meaning:
    status = Status(row["status"]) if row["status"] else None
    texts = (row.get("texts") or "").split("|")
    return Meaning((row.get("meaning") or "").capitalize(), tuple(texts), status)


def statuses_of(table: Mapping[str, Meaning]) -> Codes:
    """Return the status of each code, None for one that changes nothing."""
    return MappingProxyType({code: meaning.status for code, meaning in table.items()})


@cache
def meanings() -> Mapping[str, Meaning]:
    """Return all carriers' codes; no two of them have one in common."""
    paths = sorted(Path(__file__).parent.glob("*/event_codes.csv"))
    return {code: meaning for path in paths for code, meaning in read_meanings(path).items()}


def meaning_of(code: str) -> Meaning | None:
    return meanings().get(code)


def number_of(text: str) -> str:
    """Return a tracking number as the carriers write it, empty if it cannot be one."""
    number = "".join(text.split())
    return number.upper() if _NUMBER.fullmatch(number) else ""


def code_of(text: str) -> str:
    """Return an event's code, empty if it cannot be one."""
    code = text.strip()
    return code if _CODE.fullmatch(code) else ""


def moment_of(text: str) -> datetime | None:
    """Return an ISO 8601 time in UTC, to the millisecond; None if it is malformed, in the distant past or ahead.

    A time without an offset is local time in Paris. The hour that the end of summer time repeats is taken to be the
    first of the two, as nothing tells them apart.
    """
    try:
        moment = datetime.fromisoformat(text.strip())
        moment = (moment if moment.tzinfo else moment.replace(tzinfo=PARIS)).astimezone(UTC)
    except (ValueError, OverflowError):
        return None
    if moment.year < FIRST_YEAR or moment > datetime.now(UTC) + MAX_AHEAD:
        return None
    return moment.replace(microsecond=moment.microsecond // 1000 * 1000)


def expected_of(text: str, *formats: str) -> datetime | None:
    """Return an announced local time in Paris, None if it is malformed, in the distant past or over a year ahead."""
    for form in formats:
        try:
            moment = datetime.strptime(text, form).replace(tzinfo=PARIS)
        except ValueError:
            continue
        is_sane = moment.year >= FIRST_YEAR and moment < datetime.now(UTC) + MAX_EXPECTED_AHEAD
        return moment if is_sane else None
    return None


def text_of(raw: str, redactor: Redactor) -> str:
    """Return an event's text in one line, without personal data, addresses of e-mail and long numbers."""
    return redactor.text(_CONTACT.sub("***", raw[:_MAX_RAW_LENGTH]))


def place_of(*parts: str, redactor: Redactor) -> str:
    """Return an event's place, such as a postal code and a depot's name."""
    return text_of(" ".join(filter(None, parts)), redactor)[:MAX_PLACE_LENGTH].rstrip()


def in_order(events: Iterable[TrackingEvent]) -> tuple[TrackingEvent, ...]:
    """Return the newest events, oldest first; equal times keep their order."""
    return tuple(sorted(events, key=lambda event: event.happened_at)[-MAX_EVENTS:])

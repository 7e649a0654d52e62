"""The statuses of a parcel, the events that carriers report, and the base class of their tracking clients."""

import re
from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from functools import cache, partial
from typing import ClassVar, Final, NamedTuple

from carriers.client import Client, Limits, Observer, Service
from carriers.data import rows_of
from carriers.http.transport import Answer, Request, Transport
from carriers.products import DISPLAY_NAMES, PARIS
from carriers.redaction import MAX_RAW_LENGTH, Redactor
from carriers.shipment import Credentials
from carriers.text import clean_number

# Far above a parcel with hundreds of events.
MAX_ANSWER_BYTES: Final = 1024 * 1024
# Many times a real history; of a longer one the newest are kept.
MAX_EVENTS: Final = 500
MAX_PLACE_LENGTH: Final = 100
# An event that is dated later than this was not observed; it would stay the newest for ever.
MAX_AHEAD: Final = timedelta(days=1)
MAX_EXPECTED_AHEAD: Final = timedelta(days=366)
FIRST_YEAR: Final = 2000
_CODE: Final = re.compile(r"[A-Za-z0-9_-]{1,16}")
_CONTACT: Final = re.compile(r"[^\s@]{1,64}@[^\s@]+|(?<!\w)\+?[0-9](?:[ .-]?[0-9]){8,}(?!\w)")


class Status(StrEnum):
    FULFILLED = "FULFILLED"
    IN_TRANSIT = "IN_TRANSIT"
    OUT_FOR_DELIVERY = "OUT_FOR_DELIVERY"
    DELIVERED = "DELIVERED"
    DELIVERY_FAILURE = "DELIVERY_FAILURE"
    WAITING_FOR_PICKUP = "WAITING_FOR_PICKUP"
    RETURN_TO_SENDER = "RETURN_TO_SENDER"
    RETURNED_TO_SENDER = "RETURNED_TO_SENDER"
    EXCEPTION = "EXCEPTION"


@dataclass(frozen=True)
class TrackingEvent:
    """One event of one tracking number: code, text, time and place, nothing personal.

    `status` is what the carrier's table says of the code, None if it changes nothing. `is_listed` is false for a code
    that the table lacks. `kept_until` is when a parcel that arrived at a pickup point goes back, where that is known.
    """

    tracking_number: str
    code: str
    happened_at: datetime  # aware
    text: str
    place: str = ""
    status: Status | None = None
    is_listed: bool = True
    kept_until: datetime | None = None


@dataclass(frozen=True)
class TrackingAnswer:
    """All that a carrier reports of a tracking number, its events oldest first; equal times keep the carrier's order.

    `is_known` is false for a number that the carrier does not know (yet). The expected delivery, where the carrier
    names one, is between two moments.
    """

    tracking_number: str
    is_known: bool
    events: tuple[TrackingEvent, ...] = ()
    expected_from: datetime | None = None
    expected_until: datetime | None = None


class Tracker(Client):
    """A client of a carrier's tracking service, with a circuit breaker and connections of its own."""

    services = (Service.TRACKING,)
    needs_contract: ClassVar[bool]  # true if it is asked with the credentials of the shop's contract

    def __init__(
        self,
        url: str,
        limits: Limits | None = None,
        transport: Transport | None = None,
        observer: Observer | None = None,
    ) -> None:
        limits = limits or Limits()
        own = transport or Transport(pool_size=limits.pool_size, max_answer_bytes=MAX_ANSWER_BYTES)
        super().__init__(limits, own, observer)
        self._url = url

    def track(self, tracking_number: str, credentials: Credentials | None = None) -> TrackingAnswer:
        """Ask for one tracking number; one that cannot be a carrier's is unknown without a question.

        Raises CarrierUnavailable for an outage, a 429 and an answer that can't be read, CredentialsRejected for
        credentials that the carrier refuses; no other exception.
        """
        credentials, number = credentials or Credentials(), clean_number(tracking_number)
        request = self._question(number, credentials)
        if not number:
            return TrackingAnswer(tracking_number, is_known=False)
        return self._ask(request, credentials, partial(self._read, number=number, asked=tracking_number))

    @abstractmethod
    def _question(self, number: str, credentials: Credentials) -> Request:
        """Return the request; raises CredentialsRejected for credentials that cannot be sent."""

    @staticmethod
    @abstractmethod
    def _read(answer: Answer, *, number: str, asked: str) -> TrackingAnswer:
        """Return what is known of the number, by the name that it was `asked` for."""


class Meaning(NamedTuple):
    """The entry of an event's code in a carrier's own table: in words, where it has some, and as a status.

    `texts` are those that it is known to come with, in French.
    """

    meaning: str
    texts: tuple[str, ...]
    status: Status | None


def read_meanings(carrier: str) -> dict[str, Meaning]:
    """Return a carrier's table of event codes."""
    return {
        row["code"]: Meaning(
            (row.get("meaning") or "").capitalize(),
            tuple((row.get("texts") or "").split("|")),
            Status(row["status"]) if row["status"] else None,
        )
        for row in rows_of(f"{carrier}/event_codes.csv")
    }


@cache
def meanings() -> Mapping[str, Meaning]:
    """Return all carriers' codes; no two of them have one in common."""
    return {code: meaning for carrier in DISPLAY_NAMES for code, meaning in read_meanings(carrier).items()}


def event_of(number: str, raw: Callable[[str], str], names: Sequence[str], redactor: Redactor) -> TrackingEvent | None:
    """Return an event without its status, None without a code or a time.

    `names` are those of its code, time, text, and of its place's postal code and name; `raw` reads them.
    """
    code, time, text, *place = map(raw, names)
    happened_at = moment_of(time)
    if not _CODE.fullmatch(code.strip()) or happened_at is None:
        return None
    where = text_of(" ".join(filter(None, place)), redactor)[:MAX_PLACE_LENGTH].rstrip()
    return TrackingEvent(number, code.strip(), happened_at, text_of(text, redactor), where)


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
    return redactor.text(_CONTACT.sub("***", raw[:MAX_RAW_LENGTH]))


def in_order(events: Iterable[TrackingEvent]) -> tuple[TrackingEvent, ...]:
    """Return the newest events, oldest first; equal times keep their order."""
    return tuple(sorted(events, key=lambda event: event.happened_at)[-MAX_EVENTS:])

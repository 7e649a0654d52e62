"""alpha's tracking service: the history of a parcel, for which it needs no credentials."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from itertools import islice
from typing import Final
from xml.etree.ElementTree import Element

from anyascii import anyascii

from carriers.alpha.answers import success_of
from carriers.alpha.client import HEADERS, LANGUAGE, NAMESPACES
from carriers.alpha.parties import CARRIER
from carriers.alpha.refusals import TRACKING_REFUSALS
from carriers.errors import CarrierUnavailable
from carriers.http import soap
from carriers.http.transport import Answer, Request, UnreadableError
from carriers.redaction import Redactor
from carriers.shipment import Credentials
from carriers.text import clean_number
from carriers.tracking import (
    MAX_EVENTS,
    Status,
    Tracker,
    TrackingAnswer,
    TrackingEvent,
    event_of,
    expected_of,
    in_order,
    read_meanings,
)

TRACK: Final = "trackSkybillV2"
EVENT: Final = ("code", "eventDate", "eventLabel", "zipCode", "officeLabel")
# Statuses by which the pages in front of the service answer a robot; it has no credentials to refuse.
TURNED_AWAY: Final = (401, 403, 429)
TO_POINT: Final = "RB"
STILL_THERE: Final = (None, Status.DELIVERED)  # statuses of what happens at the point

# The names of details, in the language asked, that hold a date. All others may hold personal data.
REDELIVERY: Final = "date de relivraison"
APPOINTMENT_START: Final = "debut creneau rdv"
APPOINTMENT_END: Final = "fin creneau rdv"
DAY_FORMAT: Final = "%d/%m/%Y"
MINUTE_FORMATS: Final = ("%d/%m/%Y %H:%M", "%d/%m/%Y %H:%M:%S")
DAY: Final = timedelta(days=1)
MAX_DETAILS: Final = 50  # of an event
MAX_PEOPLE: Final = 50

_TABLE: Final = read_meanings(CARRIER)
CODES: Final = {code: known.status for code, known in _TABLE.items()}
_PERSON: Final = re.compile(r"nom|destinataire|receptionnaire|consignee")
_WORD: Final = re.compile(r"\w+")


Window = tuple[datetime | None, datetime | None]
NO_WINDOW: Final[Window] = (None, None)


def _words(text: str) -> tuple[str, ...]:
    return tuple(_WORD.findall(anyascii(text[:200]).lower()))


# The status of each text that a code is known to come with, by its words.
_TEXTS: Final = {_words(text): known.status for known in _TABLE.values() if known.status for text in known.texts}


class AlphaTracker(Tracker):
    """Asks alpha for the history of a parcel, with which no shop's contract has to do."""

    name = CARRIER
    needs_contract = False

    def _question(self, number: str, credentials: Credentials) -> Request:
        fields = (("language", LANGUAGE), ("skybillNumber", number))
        body = soap.envelope(TRACK, NAMESPACES["tracking_url"], fields)
        return Request(TRACK, self._url, body, HEADERS, Redactor(Credentials()), CarrierUnavailable)

    @staticmethod
    def _read(answer: Answer, *, number: str, asked: str) -> TrackingAnswer:
        if answer.status in TURNED_AWAY:
            problem = f"its tracking service answered HTTP {answer.status}"
            raise CarrierUnavailable(CARRIER, problem, is_carrier_failing=True)
        history = success_of(answer, TRACKING_REFUSALS).find("listEventInfoComp")
        if history is None:
            return TrackingAnswer(asked, is_known=False)
        if clean_number(soap.text(history, "skybillNumber")) not in ("", number):
            raise UnreadableError("the answer is about another parcel")
        elements = soap.records(history, "events")
        redactor = Redactor(Credentials(), personal=_people(elements))
        found = [(event, element) for element in elements if (event := _event(element, asked, redactor))]
        if elements and not found:
            raise UnreadableError("no event of the answer can be read")
        # The event that is said to be the parcel's state is the last of those at its time.
        found.sort(key=lambda pair: (pair[0].happened_at, soap.is_true(pair[1], "highPriority")))
        windows = (window for _, element in reversed(found) if (window := _window(element)))
        expected_from, expected_until = next(windows, NO_WINDOW)
        events = tuple(_without_late_arrivals(event for event, _ in found))
        return TrackingAnswer(asked, bool(events), in_order(events), expected_from, expected_until)


def _event(element: Element, number: str, redactor: Redactor) -> TrackingEvent | None:
    event = event_of(number, partial(soap.text, element), EVENT, redactor)
    if event is None or event.code not in CODES:
        return event and replace(event, is_listed=False)
    # Partners abroad reuse codes: a text that is known to be another code's counts. Any other proves nothing.
    return replace(event, status=_TEXTS.get(_words(soap.text(element, "eventLabel")), CODES[event.code]))


def _without_late_arrivals(events: Iterator[TrackingEvent]) -> Iterator[TrackingEvent]:
    """Take the status from a parcel's way to the pickup point where that is reported after its arrival there."""
    is_at_point = False
    for event in events:
        is_late = is_at_point and event.code == TO_POINT and event.status is CODES[TO_POINT]
        counted = replace(event, status=None) if is_late else event
        is_at_point = counted.status is Status.WAITING_FOR_PICKUP or (is_at_point and counted.status in STILL_THERE)
        yield counted


def _details(element: Element) -> dict[str, str]:
    """Return the details by their names, in small letters without accents."""
    details = element.findall("infoCompList")[:MAX_DETAILS]
    return {anyascii(soap.text(detail, "name")[:100]).lower(): soap.text(detail, "value") for detail in details}


def _people(elements: Sequence[Element]) -> Iterator[str]:
    """Yield the details that may name a person: those whose name speaks of one."""
    details = (detail for element in elements[-MAX_EVENTS:] for detail in _details(element).items())
    yield from islice((value[:200] for name, value in details if _PERSON.search(name)), MAX_PEOPLE)


def _window(element: Element) -> Window | None:
    """Return the delivery that an event announces, empty if its dates are malformed, None without any."""
    details = _details(element)
    if REDELIVERY in details:
        start = expected_of(details[REDELIVERY], DAY_FORMAT)
        return (start, start + DAY - timedelta(seconds=1)) if start else NO_WINDOW
    if not {APPOINTMENT_START, APPOINTMENT_END} & details.keys():
        return None
    start, end = (expected_of(details.get(name, ""), *MINUTE_FORMATS) for name in (APPOINTMENT_START, APPOINTMENT_END))
    return (start, end) if start and end and start <= end else NO_WINDOW

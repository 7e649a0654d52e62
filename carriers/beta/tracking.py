"""beta's timeline service: the history of a parcel, asked with the shop's contract."""

from calendar import SATURDAY
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from typing import Any, Final

from anyascii import anyascii

from carriers.beta.answers import OK, REFUSED_CREDENTIALS, document_of, objects_of, string_of
from carriers.beta.messages import query
from carriers.beta.parties import CARRIER, check_credentials, login, own_number
from carriers.beta.refusals import TRACKING_REFUSALS
from carriers.errors import CarrierError, CarrierUnavailable, CredentialsRejected
from carriers.http.transport import Answer, Request, UnreadableError
from carriers.products import PARIS
from carriers.redaction import Redactor
from carriers.shipment import Credentials
from carriers.text import clean_number
from carriers.tracking import Status, Tracker, TrackingAnswer, TrackingEvent, event_of, in_order, read_meanings

TIMELINE: Final = "timelineCompany"
EVENT: Final = ("code", "date", "labelLong", "siteZipCode", "siteName")
LANGUAGE: Final = "fr_FR"
FOUND: Final = "0"
# Not this contract's (104), too old (103) and malformed (101) are about one number only, as unknown (105) is: to stop
# a shop's tracking for them would be wrong.
UNKNOWN: Final = frozenset({"101", "103", "104", "105"})
CODES: Final = {code: known.status for code, known in read_meanings(CARRIER).items()}
ACTIVE: Final = "STEP_STATUS_ACTIVE"
STEPS: Final = {
    "0": Status.FULFILLED,
    "1": Status.IN_TRANSIT,
    "2": Status.IN_TRANSIT,
    "3": Status.IN_TRANSIT,
    "4": Status.OUT_FOR_DELIVERY,
    "5": Status.DELIVERED,
}
MAX_PERSONAL_VALUES: Final = 50
# A parcel waits so many days, Monday to Saturday, at a post office.
AT_POST_OFFICE: Final = "AARBPR"
POST_OFFICE: Final = "bureau de poste"
WORKING_DAYS: Final = 10
DAY: Final = timedelta(days=1)

Json = Mapping[str, Any]


class BetaTracker(Tracker):
    """Asks beta for the history of a parcel of the shop's contract."""

    name = CARRIER
    needs_contract = True

    def _question(self, number: str, credentials: Credentials) -> Request:
        check_credentials(credentials)
        body = login(credentials) | own_number(credentials, "login") | {"parcelNumber": number, "lang": LANGUAGE}
        return query(TIMELINE, self._url, body, Redactor(credentials))

    @staticmethod
    def _read(answer: Answer, *, number: str, asked: str) -> TrackingAnswer:
        if answer.status == 429 or answer.status >= 500:  # noqa: PLR2004 - HTTP's own numbers
            raise _failed(answer)
        try:
            document = document_of(answer.body)
        except UnreadableError:
            # A page in front of the service that turns a robot away says nothing about the credentials.
            if answer.status in REFUSED_CREDENTIALS:
                raise _failed(answer) from None
            raise
        first = next(iter(objects_of(document, "status")), {})
        code, text = string_of(first, "code"), string_of(first, "message")
        if code in UNKNOWN:
            return TrackingAnswer(asked, is_known=False)
        if code != FOUND:
            raise _refusal(code, text, answer)
        if answer.status != OK:
            raise UnreadableError("the answer is not one to this request")
        parcel = document.get("parcel")
        if parcel is None:
            return TrackingAnswer(asked, is_known=False)
        if not isinstance(parcel, dict) or number not in _numbers(parcel):
            raise UnreadableError("the answer is about another parcel")
        return TrackingAnswer(asked, is_known=True, events=_events(parcel, asked))


def _failed(answer: Answer) -> CarrierUnavailable:
    problem = f"its tracking service answered HTTP {answer.status}"
    return CarrierUnavailable(CARRIER, problem, is_carrier_failing=True)


def _refusal(code: str, text: str, answer: Answer) -> CarrierError:
    refusal, redactor = TRACKING_REFUSALS.get(code), answer.request.redactor
    shown, said = redactor.code(code), redactor.text(text)
    if refusal:
        return refusal.error_of(CARRIER, code=shown, text=said)
    if answer.status in REFUSED_CREDENTIALS:
        problem = f"its tracking service answered HTTP {answer.status}"
        return CredentialsRejected(CARRIER, problem, carrier_code=shown, carrier_text=said)
    if not code:
        raise UnreadableError("the answer has no status")
    # A single request may cause an undocumented code, so it does not count towards the circuit breaker.
    problem = f"the tracking service's code {shown} is not documented"
    return CarrierUnavailable(CARRIER, problem, carrier_code=shown, carrier_text=said)


def _numbers(parcel: Json) -> tuple[str, ...]:
    """Return the parcel's number and the partner's, by which it can be asked for, too."""
    abroad = parcel.get("infoInter")
    partner = string_of(abroad, "partnerReference") if isinstance(abroad, dict) else ""
    return clean_number(string_of(parcel, "parcelNumber")), clean_number(partner)


def _events(parcel: Json, number: str) -> tuple[TrackingEvent, ...]:
    raw = objects_of(parcel, "event")
    redactor = Redactor(Credentials(), personal=_personal(parcel))
    found = [event for item in raw if (event := _event(item, number, redactor))]
    if raw and not found:
        raise UnreadableError("no event of the answer can be read")
    events = list(in_order(found))
    # The steps tell of the parcel as it is now, so of the newest event that may have changed it.
    for rank, event in reversed(list(enumerate(events))):
        if not event.is_listed:
            events[rank] = replace(event, status=_step(parcel))
        if event.status or not event.is_listed:
            break
    return tuple(events)


def _event(item: Json, number: str, redactor: Redactor) -> TrackingEvent | None:
    event = event_of(number, partial(string_of, item), EVENT, redactor)
    if event is None:
        return None
    status = CODES.get(event.code)
    end = kept_until(event.code, status, event.text, event.happened_at)
    return replace(event, status=status, is_listed=event.code in CODES, kept_until=end)


def _step(parcel: Json) -> Status | None:
    """Return the status of the highest active step."""
    active = (step for step in objects_of(parcel, "step") if step.get("status") == ACTIVE)
    ids = {string_of(step, "id") or string_of(step, "stepId") for step in active}
    return STEPS[max(ids & STEPS.keys())] if ids & STEPS.keys() else None


def _personal(parcel: Json) -> Iterator[str]:
    """Yield the texts about the consignee, which an event's text may repeat."""
    left = [parcel.get("consigneeInformation")]
    for _ in range(MAX_PERSONAL_VALUES):
        value = left.pop() if left else None
        if isinstance(value, dict):
            left += value.values()
        elif isinstance(value, list):
            left += value
        elif isinstance(value, str):
            yield value[:200]


def kept_until(code: str, status: Status | None, text: str, arrived_at: datetime) -> datetime | None:
    """Return when a parcel at a post office goes back, at the local time in Paris that it arrived at.

    Public holidays are not known. None elsewhere, as the days of other points are unknown.
    """
    is_at_post_office = code == AT_POST_OFFICE or POST_OFFICE in anyascii(text).lower()
    if status is not Status.WAITING_FOR_PICKUP or not is_at_post_office:
        return None
    local, days = arrived_at.astimezone(PARIS), WORKING_DAYS
    while days:
        local += DAY
        days -= local.weekday() <= SATURDAY
    return local.astimezone(arrived_at.tzinfo)

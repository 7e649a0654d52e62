"""beta's timeline service: a parcel's steps and events, for its own contract."""

import re
import time
from typing import Any

from carriers.sandbox.beta import accounts
from carriers.sandbox.beta.answers import CodeError
from carriers.sandbox.beta.json_request import MalformedError, read_request
from carriers.sandbox.beta.timeline_answer import PARTNERS, parcel_json, partner_reference
from carriers.sandbox.data import error_texts
from carriers.sandbox.fault_registry import Operation
from carriers.sandbox.faults import Fault
from carriers.sandbox.http import Request, Response, json_response
from carriers.sandbox.journeys import LANGUAGES
from carriers.sandbox.parcel import Purchase
from carriers.sandbox.state import State

TIMELINE = "timelineCompany"
FOUND, MALFORMED, TOO_OLD, FOREIGN, UNKNOWN, FAILURE = 0, 101, 103, 104, 105, 1000
MESSAGES = error_texts("beta tracking")
NUMBER = re.compile(r"[A-Z0-9]{11,35}", re.ASCII)
MAGIC_NUMBER = re.compile(r"6A9999999(\d{4})", re.ASCII)  # a number that asks for an error: 6A99999990105 is error 105
OLDEST_S = 90 * 24 * 3600.0
FIELDS = ("parcelNumber", "lang", "ip", "login", "password", "apiKey")
FAILURE_STATUS = 500

Fields = dict[str, str]


def answer_timeline(state: State, request: Request) -> Response:
    try:
        fields = dict.fromkeys(FIELDS, "") | read_request(request, dict.fromkeys(FIELDS, str))
        return _perform(state, fields, _account(fields))
    except MalformedError:
        return _refused(MALFORMED)
    except CodeError as error:
        return _refused(error.code)


def _account(fields: Fields) -> str:
    """Return the contract as the ledger names it; an API key goes before a login, which may come along with it."""
    accounts.check(accounts.name_of(fields))
    return accounts.account_name(fields["login"], fields["apiKey"])


def _perform(state: State, fields: Fields, account: str) -> Response:
    number, language = fields["parcelNumber"], fields["lang"]
    purchase = _purchase(state, number)

    def do(_: Fault) -> Response:
        parcel = _visible(purchase, number, language, account)
        found = parcel_json(parcel, state.ledger.way(parcel), language)
        return _answer(FOUND, found, language)

    reference = purchase.reference if purchase else ""
    return state.perform(Operation("beta", TIMELINE, reference), do, _faulty)


def _purchase(state: State, number: str) -> Purchase | None:
    """Find a parcel by its own number or by its partner's reference."""
    found = state.ledger.purchase("beta", number.removeprefix(PARTNERS))
    return found if found and number in (found.tracking_number, partner_reference(found)) else None


def _visible(purchase: Purchase | None, number: str, language: str, account: str) -> Purchase:
    """Return the parcel if the contract may see it; CodeError if not."""
    if language not in LANGUAGES or not NUMBER.fullmatch(number):
        raise CodeError(MALFORMED)
    if (magic := MAGIC_NUMBER.fullmatch(number)) and int(magic[1]) in MESSAGES:
        raise CodeError(int(magic[1]))
    if purchase is None or purchase.findable_at_s > time.time():
        raise CodeError(UNKNOWN)
    if purchase.account not in ("", account):
        raise CodeError(FOREIGN)
    if time.time() - purchase.made_at_s > OLDEST_S:
        raise CodeError(TOO_OLD)
    return purchase


def _answer(code: int, parcel: dict[str, Any] | None, language: str = "fr_FR", status: int = 200) -> Response:
    said = MESSAGES.get(code, "undocumented error")
    return json_response({"lang": language, "status": [{"code": str(code), "message": said}], "parcel": parcel}, status)


def _refused(code: int) -> Response:
    return _answer(code, None)


def _faulty(name: str) -> Response:
    """Return the refusal for an error code; shapes of the label service's errors are a failure here."""
    return _refused(int(name)) if name.isdigit() else _answer(FAILURE, None, status=FAILURE_STATUS)

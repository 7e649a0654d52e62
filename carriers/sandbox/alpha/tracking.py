"""alpha's tracking service: finds parcels by reference, cancels a parcel, lists a parcel's events."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from carriers.sandbox.alpha import service, soap, tables
from carriers.sandbox.alpha.history import events, is_taken_in_charge, short_events
from carriers.sandbox.alpha.validation import validate_credentials
from carriers.sandbox.fault_registry import Operation
from carriers.sandbox.journeys import LANGUAGES

if TYPE_CHECKING:
    from carriers.sandbox.fault_registry import Injection
    from carriers.sandbox.http import Request, Response
    from carriers.sandbox.ledger import Purchase
    from carriers.sandbox.state import Handler, State

MOST_FOUND = 10
SEARCH, CANCEL, TRACK = "trackWithSenderRef", "cancelSkybill", "trackSkybillV2"
SYSTEM_ERROR, UNKNOWN, COLLECTED = 1, 2, 3
# One text for both causes.
UNKNOWN_TEXT = "the parcel is not this contract's, or not registered yet"


def answer_tracking(state: State, request: Request) -> Response:
    return service.dispatch(state, request, tables.TRACKING, {SEARCH: _search, CANCEL: _cancel, TRACK: _track})


def _search(state: State, message: soap.Message) -> Response:
    account, password, language, reference = message.texts("accountNumber", "password", "language", "sendersRef")
    validate_credentials(account, password)
    _require(language=language, sendersRef=reference)

    def search(_: Injection) -> Response:
        found = _visible(state, SEARCH, reference, account)
        return _succeeded(
            SEARCH, [("listParcel", _parcel(state, purchase, language)) for purchase in found[:MOST_FOUND]]
        )

    return _perform(state, SEARCH, reference, search)


def _cancel(state: State, message: soap.Message) -> Response:
    account, password, language, number = message.texts("accountNumber", "password", "language", "skybillNumber")
    validate_credentials(account, password)
    _require(language=language, skybillNumber=number)
    purchase = state.ledger.purchase("alpha", number)
    reference = purchase.reference if purchase else ""

    def cancel(_: Injection) -> Response:
        if purchase not in _visible(state, CANCEL, reference, account):
            return _not_cancelled(UNKNOWN, UNKNOWN_TEXT)
        if purchase and (state.ledger.is_collected("alpha", number) or is_taken_in_charge(state.ledger.way(purchase))):
            return _not_cancelled(COLLECTED, "the parcel is taken in charge")
        state.ledger.cancel("alpha", number)
        # A success has no message here.
        return soap.response(tables.TRACKING, CANCEL, [("errorCode", "0"), ("statusCode", "0")])

    return _perform(state, CANCEL, reference, cancel)


def _not_cancelled(code: int, message: str) -> Response:
    content: soap.Tree = [("errorCode", str(code)), ("errorMessage", message), ("statusCode", "0")]
    return soap.response(tables.TRACKING, CANCEL, content)


def _visible(state: State, operation: str, reference: str, account: str) -> list[Purchase]:
    """Return the parcels that the service knows by now; the fault `unfound` makes it slower."""
    unfound = state.faults.pick_named("unfound", operation)
    age_s = unfound.delay_s if unfound else 0
    return state.ledger.find_visible(carrier="alpha", reference=reference, account=account, age_s=age_s)


def _track(state: State, message: soap.Message) -> Response:
    """List a parcel's events, none for a number that is unknown; no credentials are needed."""
    language, number = message.texts("language", "skybillNumber")
    if language not in LANGUAGES or not number:
        raise soap.RefusalError(SYSTEM_ERROR, tables.MESSAGES[SYSTEM_ERROR])
    purchase = state.ledger.purchase("alpha", number)

    def track(_: Injection) -> Response:
        is_known = purchase is not None and purchase.findable_at_s <= time.time()
        listed = events(state.ledger.way(purchase), language) if purchase and is_known else []
        return _succeeded(TRACK, [("listEventInfoComp", [*listed, ("skybillNumber", number)])])

    return _perform(state, TRACK, purchase.reference if purchase else "", track)


def _perform(state: State, name: str, reference: str, do: Handler) -> Response:
    return service.perform(state, tables.TRACKING, Operation("alpha", name, reference), do)


def _succeeded(operation: str, content: list[tuple[str, soap.Tree]]) -> Response:
    return service.succeeded(tables.TRACKING, operation, content)


def _require(**values: str) -> None:
    for name, value in values.items():
        if not value:
            raise soap.RefusalError(31, f"empty value: {name}")


def _parcel(state: State, purchase: Purchase, language: str) -> list[tuple[str, soap.Tree]]:
    return [("skybillNumber", purchase.tracking_number), *short_events(state.ledger.way(purchase), language)]

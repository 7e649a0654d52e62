"""alpha's tracking service: finds parcels by reference, cancels a parcel, lists a parcel's events."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from carriers.sandbox.alpha import service, soap, tables
from carriers.sandbox.alpha.validation import validate_credentials
from carriers.sandbox.countries import PARIS
from carriers.sandbox.fault_registry import Operation

if TYPE_CHECKING:
    from carriers.sandbox.fault_registry import Injection
    from carriers.sandbox.http import Request, Response
    from carriers.sandbox.ledger import Purchase
    from carriers.sandbox.state import Handler, State

MOST_FOUND = 10
SEARCH, CANCEL, TRACK = "trackWithSenderRef", "cancelSkybill", "trackSkybillV2"
UNKNOWN, COLLECTED = 2, 3
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
        return _succeeded(SEARCH, [("listParcel", _parcel(purchase)) for purchase in found[:MOST_FOUND]])

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
        if state.ledger.is_collected("alpha", number):
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
    language, number = message.texts("language", "skybillNumber")
    _require(language=language, skybillNumber=number)
    purchase = state.ledger.purchase("alpha", number)

    def track(_: Injection) -> Response:
        events = [_event(purchase)] if purchase else []
        return _succeeded(TRACK, [("listEventInfoComp", [*events, ("skybillNumber", number)])])

    return _perform(state, TRACK, purchase.reference if purchase else "", track)


def _perform(state: State, name: str, reference: str, do: Handler) -> Response:
    return service.perform(state, tables.TRACKING, Operation("alpha", name, reference), do)


def _succeeded(operation: str, content: list[tuple[str, soap.Tree]]) -> Response:
    return service.succeeded(tables.TRACKING, operation, content)


def _require(**values: str) -> None:
    for name, value in values.items():
        if not value:
            raise soap.RefusalError(31, f"empty value: {name}")


def _parcel(purchase: Purchase) -> list[tuple[str, soap.Tree]]:
    return [("skybillNumber", purchase.tracking_number), _event(purchase)]


def _event(purchase: Purchase) -> tuple[str, soap.Tree]:
    """Return the one event of a parcel that was only announced."""
    made_at = datetime.fromtimestamp(purchase.made_at_s, PARIS).isoformat(timespec="seconds")
    return "events", [("code", "DC"), ("eventDate", made_at), ("eventLabel", "SANDBOX: announced")]

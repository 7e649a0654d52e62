"""alpha's tracking service: finds parcels by reference, cancels a parcel, lists its events, proves its delivery."""

import base64
import time
from datetime import datetime

from reportlab.lib.pagesizes import A4

from carriers.sandbox.alpha import service, soap, tables
from carriers.sandbox.alpha.history import events, is_taken_in_charge, short_events
from carriers.sandbox.alpha.validation import validate_credentials
from carriers.sandbox.countries import PARIS
from carriers.sandbox.fault_registry import Injection, Operation
from carriers.sandbox.http import Request, Response
from carriers.sandbox.journeys import LANGUAGES
from carriers.sandbox.page import NOTICE, REGULAR, Page
from carriers.sandbox.parcel import Purchase
from carriers.sandbox.state import Handler, State

MOST_FOUND = 10
DELIVERED = ("delivered", "collected")
SEARCH, CANCEL, TRACK, PROVE = "trackWithSenderRef", "cancelSkybill", "trackSkybillV2", "searchPOD"
SYSTEM_ERROR, UNKNOWN, COLLECTED = 1, 2, 3
# One text for both causes.
UNKNOWN_TEXT = "the parcel is not this contract's, or not registered yet"


def answer_tracking(state: State, request: Request) -> Response:
    return service.dispatch(
        state, request, tables.TRACKING, {SEARCH: _search, CANCEL: _cancel, TRACK: _track, PROVE: _prove}
    )


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


def _prove(state: State, message: soap.Message) -> Response:
    """Answer with a PDF of the delivery once there was one."""
    names = ("accountNumber", "password", "language", "skybillNumber", "pdf")
    account, password, language, number, pdf = message.texts(*names)
    validate_credentials(account, password)
    _require(language=language, skybillNumber=number, pdf=pdf)
    purchase = state.ledger.purchase("alpha", number)
    reference = purchase.reference if purchase else ""

    def prove(_: Injection) -> Response:
        is_theirs = purchase and purchase.account in ("", account)
        way = state.ledger.way(purchase) if purchase and is_theirs else None
        delivered = way and next((each for each in way.happened if each.step.event in DELIVERED), None)
        if not delivered:
            return _succeeded(PROVE, [("podPresente", "false"), ("statusCode", "0")])
        pod = base64.b64encode(proof(number, delivered.at_s)).decode()
        return _succeeded(PROVE, [("formatPOD", "PDF"), ("pod", pod), ("podPresente", "true"), ("statusCode", "0")])

    return _perform(state, PROVE, reference, prove)


def proof(number: str, at_s: float) -> bytes:
    page = Page(A4, f"Proof of delivery {number}")
    lines = [NOTICE, "Preuve de livraison", number, f"{datetime.fromtimestamp(at_s, PARIS):%d/%m/%Y %H:%M}"]
    page.lines((20, 270), lines, (REGULAR, 12), 170)
    page.turn()
    return page.finished()


def _perform(state: State, name: str, reference: str, do: Handler) -> Response:
    return service.perform(state, tables.TRACKING, Operation("alpha", name, reference), do)


def _succeeded(operation: str, content: soap.Elements) -> Response:
    return service.succeeded(tables.TRACKING, operation, content)


def _require(**values: str) -> None:
    for name, value in values.items():
        if not value:
            raise soap.RefusalError(31, f"empty value: {name}")


def _parcel(state: State, purchase: Purchase, language: str) -> soap.Elements:
    return [("skybillNumber", purchase.tracking_number), *short_events(state.ledger.way(purchase), language)]

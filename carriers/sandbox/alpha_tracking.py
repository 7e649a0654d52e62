"""alpha's tracking service: the search by reference, the cancelling of a parcel, and a parcel's events."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from carriers.sandbox import alpha_tables as tables
from carriers.sandbox import soap
from carriers.sandbox.alpha import DONE, answer_soap, refusal_of, refused
from carriers.sandbox.alpha_rules import PARIS, check_credentials
from carriers.sandbox.fault_registry import Operation

if TYPE_CHECKING:
    from collections.abc import Callable

    from carriers.sandbox.exchange import Answer, Request
    from carriers.sandbox.fault_registry import Play
    from carriers.sandbox.ledger import Purchase
    from carriers.sandbox.state import Depot

MOST_FOUND = 10
SEARCH, CANCEL, TRACK = "trackWithSenderRef", "cancelSkybill", "trackSkybillV2"
NOT_THIS_CONTRACTS = 2


def answer_tracking(depot: Depot, request: Request) -> Answer:
    return answer_soap(depot, request, tables.TRACKING, {SEARCH: _search, CANCEL: _cancel, TRACK: _track})


def _search(depot: Depot, message: soap.Message) -> Answer:
    account, password, language, reference = message.texts("accountNumber", "password", "language", "sendersRef")
    check_credentials(account, password)
    _check_given(language=language, sendersRef=reference)

    def find(_play: Play | None) -> Answer:
        unfound = depot.faults.pick_apart("unfound")
        found = depot.ledger.find_visible(
            carrier="alpha", reference=reference, account=account, age_s=unfound.delay_s if unfound else 0
        )
        parcels: list[tuple[str, soap.Tree]] = [("listParcel", _parcel(purchase)) for purchase in found[:MOST_FOUND]]
        return _done(SEARCH, parcels)

    return _perform(depot, SEARCH, reference, find)


def _cancel(depot: Depot, message: soap.Message) -> Answer:
    account, password, language, number = message.texts("accountNumber", "password", "language", "skybillNumber")
    check_credentials(account, password)
    _check_given(language=language, skybillNumber=number)
    purchase = depot.ledger.purchase("alpha", number)
    reference = purchase.reference if purchase else ""

    def cancel(_play: Play | None) -> Answer:
        visible = depot.ledger.find_visible(carrier="alpha", reference=reference, account=account)
        if purchase not in visible:
            return refused(tables.TRACKING, CANCEL, NOT_THIS_CONTRACTS, "parcel not found")
        depot.ledger.cancel("alpha", number)
        return _done(CANCEL, [])

    return _perform(depot, CANCEL, reference, cancel)


def _track(depot: Depot, message: soap.Message) -> Answer:
    language, number = message.texts("language", "skybillNumber")
    _check_given(language=language, skybillNumber=number)
    purchase = depot.ledger.purchase("alpha", number)

    def track(_play: Play | None) -> Answer:
        events = [_event(purchase)] if purchase else []
        return _done(TRACK, [("listEventInfoComp", [*events, ("skybillNumber", number)])])

    return _perform(depot, TRACK, purchase.reference if purchase else "", track)


def _perform(depot: Depot, name: str, reference: str, do: Callable[[Play | None], Answer]) -> Answer:
    return depot.perform(Operation("alpha", name, reference), do, refusal_of(tables.TRACKING, name))


def _done(operation: str, content: list[tuple[str, soap.Tree]]) -> Answer:
    head: list[tuple[str, soap.Tree]] = [("errorCode", "0"), ("errorMessage", DONE)]
    return soap.response(tables.TRACKING, operation, head + content)


def _check_given(**values: str) -> None:
    for name, value in values.items():
        if not value:
            raise soap.RefusalError(31, f"empty value: {name}")


def _parcel(purchase: Purchase) -> list[tuple[str, soap.Tree]]:
    return [("skybillNumber", purchase.tracking_number), _event(purchase)]


def _event(purchase: Purchase) -> tuple[str, soap.Tree]:
    """Return the one event of a parcel that was only announced."""
    made_at = datetime.fromtimestamp(purchase.made_at_s, PARIS).isoformat(timespec="seconds")
    return "events", [("code", "DC"), ("eventDate", made_at), ("eventLabel", "SANDBOX: announced")]

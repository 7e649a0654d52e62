"""The sandbox's own endpoints: the ledger, the faults, and how parcels travel."""

import json
import math
import time
from collections.abc import Callable, Iterable
from typing import Any

from carriers.sandbox.data import content
from carriers.sandbox.faults import BOTH, ArmedFault, fault_named
from carriers.sandbox.http import Json, MalformedError, Request, Response, json_response, shaped
from carriers.sandbox.journeys import HOME, JOURNEYS
from carriers.sandbox.parcel import Change, Purchase
from carriers.sandbox.pickup_points import POINTS
from carriers.sandbox.state import State

MOST_STEPS = 100
OLDEST_S = 1e9
SHAPES = content("control_shapes.json")


def answer_control(state: State, request: Request) -> Response:
    handler = _HANDLERS.get((request.method, request.path))
    if handler is None:
        return json_response({"error": "no such endpoint; GET / lists them"}, 404)
    try:
        return handler(state, request) or json_response({})
    except MalformedError as error:
        return json_response({"error": str(error)}, error.status)


def _rows(state: State, request: Request) -> list[dict[str, Any]]:
    filters = {name: request.query.get(name) for name in ("carrier", "reference")}
    return [_row(state, purchase) for purchase in state.ledger.find(**filters)]


def _row(state: State, purchase: Purchase) -> dict[str, Any]:
    return purchase.as_json(is_cancelled=purchase.key in state.ledger.cancelled)


def _answer_parcel(state: State, request: Request) -> Response:
    number = request.query.get("tracking_number", "")
    for carrier in BOTH:
        parcel, purchase = state.ledger.parcel(carrier, number), state.ledger.purchase(carrier, number)
        if parcel and purchase:
            return json_response({**_row(state, purchase), **parcel.as_json()})
    raise MalformedError("no such parcel", 404)


def _answer_points(_: State, request: Request) -> Response:
    filters = {name: request.query[name] for name in ("carrier", "country", "status") if name in request.query}
    rows = (point.as_json() for point in POINTS)
    return json_response([row for row in rows if filters.items() <= row.items()])


def _arm(state: State, request: Request) -> Response:
    armed = read_armed_fault(_loaded(request))
    state.faults.arm(armed)
    return json_response({"fault": armed.fault.name, "is_made": armed.fault.is_made}, 201)


def read_armed_fault(given: Any) -> ArmedFault:
    """Read a fault from JSON; MalformedError says what is wrong with it."""
    given = shaped(given, SHAPES["fault"])
    carrier = given.get("carrier")
    if carrier not in (None, *BOTH):
        raise MalformedError("carrier: alpha, beta or null")
    fault = fault_named(str(given.pop("fault", "")), carrier)
    if fault is None:
        raise MalformedError("fault: this carrier has none of that name")
    return ArmedFault(fault, **given)


def _change(state: State, request: Request) -> Response:
    """Send a parcel on another journey from here on, or let it take its next steps now."""
    given, parcel = _parcel_of(state, request, BOTH)
    journey, steps = "", given.get("steps", 1)
    if request.operation == "journey":
        journey, steps = _journey(given), 0
    elif not 1 <= steps <= MOST_STEPS:
        raise MalformedError(f"steps: a number from 1 to {MOST_STEPS}")
    state.ledger.change(parcel, Change(time.time(), journey, steps))
    return json_response({"events": [happening.step.event for happening in state.ledger.way(parcel).happened]})


def _enter(state: State, request: Request) -> Response:
    """Enter parcels that were sold elsewhere, one or a list of them."""
    given = _loaded(request)
    entered = [_foreign(state, item) for item in (given if isinstance(given, list) else [given])]
    state.ledger.register(entered)
    return json_response({"count": len(entered)}, 201)


def _parcel_of(state: State, request: Request, carriers: Iterable[str]) -> tuple[Json, Purchase]:
    """Return a request's body and the parcel that it names."""
    given: Json = shaped(_loaded(request), SHAPES["parcel"])
    if "tracking_number" not in given:
        raise MalformedError("tracking_number: expected")
    found = (state.ledger.purchase(carrier, given["tracking_number"]) for carrier in carriers)
    parcel = next((parcel for parcel in found if parcel), None)
    if parcel is None:
        raise MalformedError("no such parcel", 404)
    return given, parcel


def _loaded(request: Request) -> Any:
    try:
        return json.loads(request.body)
    except (ValueError, RecursionError):
        raise MalformedError("JSON is expected") from None


def _journey(given: Json) -> str:
    journey: str = given.get("journey", "")
    if journey not in JOURNEYS:
        raise MalformedError(f"journey: one of {', '.join(JOURNEYS)}")
    return journey


def _foreign(state: State, item: Any) -> Purchase:
    given = shaped(item, SHAPES["parcel"])
    carrier, number = given.get("carrier", ""), given.get("tracking_number")
    if carrier not in BOTH or not number:
        raise MalformedError("carrier: alpha or beta, and tracking_number: expected")
    if state.ledger.purchase(carrier, number):
        raise MalformedError("tracking_number: there is such a parcel", 409)
    age_s, pace = given.get("age_s", 0), given.get("pace", state.ledger.pace)
    if not (0 <= age_s <= OLDEST_S and 0 < pace < math.inf):
        raise MalformedError(f"pace: above 0, age_s: from 0 to {OLDEST_S:g}")
    made_at_s = time.time() - age_s
    times = {"made_at_s": made_at_s, "findable_at_s": made_at_s, "pace": float(pace)}
    return Purchase(carrier=carrier, tracking_number=number, journey=_journey({"journey": HOME} | given), **times)


_HANDLERS: dict[tuple[str, str], Callable[[State, Request], Response | None]] = {
    ("GET", "/ledger"): lambda state, request: json_response(_rows(state, request)),
    ("GET", "/ledger/count"): lambda state, request: json_response({"count": len(_rows(state, request))}),
    ("GET", "/ledger/parcel"): _answer_parcel,
    ("GET", "/points"): _answer_points,
    ("POST", "/control/collect"): lambda state, request: state.ledger.collected.add(
        _parcel_of(state, request, ["alpha"])[1].key
    ),
    ("POST", "/control/journey"): _change,
    ("POST", "/control/advance"): _change,
    ("POST", "/control/parcel"): _enter,
    ("GET", "/control/requests"): lambda state, _: json_response(state.counts()),
    ("GET", "/control/faults"): lambda state, _: json_response(state.faults.armed()),
    ("POST", "/control/faults"): _arm,
    ("DELETE", "/control/faults"): lambda state, _: state.faults.clear(),
    ("POST", "/control/reset"): lambda state, _: state.reset(),
}
CONTROL_PATHS = {path for _, path in _HANDLERS}

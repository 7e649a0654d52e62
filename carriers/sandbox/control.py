"""The sandbox's own endpoints: the ledger, the faults, and how parcels travel."""

import json
from collections.abc import Callable
from typing import Any

from carriers.sandbox.control_page import control_page
from carriers.sandbox.fault_registry import read_armed_fault
from carriers.sandbox.faults import BOTH
from carriers.sandbox.http import Request, Response, json_response, text_response
from carriers.sandbox.pickup_points import POINTS
from carriers.sandbox.state import State
from carriers.sandbox.travel_control import answer_advance, answer_foreign, answer_journey

CONTROL_PATHS = (
    "/ledger",
    "/ledger/count",
    "/ledger/parcel",
    "/points",
    "/control/faults",
    "/control/collect",
    "/control/journey",
    "/control/advance",
    "/control/parcel",
    "/control/reset",
    "/control/requests",
)


def answer_page(state: State, request: Request) -> Response:
    return text_response(control_page(request.server_url, state.ledger.pace))


def answer_control(state: State, request: Request) -> Response:
    routes: dict[tuple[str, str], Callable[[], Response]] = {
        ("GET", "/ledger"): lambda: json_response(_rows(state, request)),
        ("GET", "/ledger/count"): lambda: json_response({"count": len(_rows(state, request))}),
        ("GET", "/ledger/parcel"): lambda: _parcel(state, request.query.get("tracking_number", "")),
        ("GET", "/points"): lambda: json_response(_points(request)),
        ("POST", "/control/collect"): lambda: _collect(state, request),
        ("POST", "/control/journey"): lambda: answer_journey(state, request),
        ("POST", "/control/advance"): lambda: answer_advance(state, request),
        ("POST", "/control/parcel"): lambda: answer_foreign(state, request),
        ("GET", "/control/requests"): lambda: json_response(state.counts()),
        ("GET", "/control/faults"): lambda: json_response(state.faults.armed()),
        ("POST", "/control/faults"): lambda: _arm(state, request),
        ("DELETE", "/control/faults"): lambda: _done(state.faults.clear),
        ("POST", "/control/reset"): lambda: _done(state.reset),
    }
    route = routes.get((request.method, request.path))
    return route() if route else json_response({"error": "no such endpoint; GET / lists them"}, 404)


def _rows(state: State, request: Request) -> list[dict[str, Any]]:
    filters = {name: request.query.get(name) for name in ("carrier", "reference")}
    return [
        row.as_json(is_cancelled=state.ledger.is_cancelled(row.carrier, row.tracking_number))
        for row in state.ledger.find(**filters)
    ]


def _parcel(state: State, number: str) -> Response:
    for carrier in BOTH:
        parcel, row = state.ledger.parcel(carrier, number), state.ledger.purchase(carrier, number)
        if parcel and row:
            is_cancelled = state.ledger.is_cancelled(carrier, number)
            return json_response({**row.as_json(is_cancelled=is_cancelled), **parcel.as_json()})
    return json_response({"error": "no such parcel"}, 404)


def _points(request: Request) -> list[dict[str, Any]]:
    filters = {name: request.query[name] for name in ("carrier", "country", "status") if name in request.query}
    rows = (point.as_json() for point in POINTS)
    return [row for row in rows if filters.items() <= row.items()]


def _collect(state: State, request: Request) -> Response:
    try:
        number = json.loads(request.body)["tracking_number"]
    except (ValueError, KeyError, TypeError):
        return json_response({"error": "tracking_number: expected"}, 400)
    if state.ledger.purchase("alpha", str(number)) is None:
        return json_response({"error": "no such parcel"}, 404)
    state.ledger.collect("alpha", number)
    return json_response({})


def _done(act: Callable[[], None]) -> Response:
    act()
    return json_response({})


def _arm(state: State, request: Request) -> Response:
    try:
        armed = read_armed_fault(json.loads(request.body))
    except ValueError as error:
        return json_response({"error": str(error)}, 400)
    state.faults.arm(armed)
    return json_response({"fault": armed.fault.name, "is_made": armed.fault.is_made}, 201)

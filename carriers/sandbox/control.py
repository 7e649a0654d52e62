"""The sandbox's own endpoints: the ledger, the faults, and the page that explains both."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from carriers.sandbox.fault_registry import read_armed_fault
from carriers.sandbox.faults import BOTH, fault_table
from carriers.sandbox.http import json_response, text_response
from carriers.sandbox.pickup_points import POINTS

if TYPE_CHECKING:
    from collections.abc import Callable

    from carriers.sandbox.http import Request, Response
    from carriers.sandbox.state import State

CONTROL_PATHS = (
    "/ledger",
    "/ledger/count",
    "/ledger/parcel",
    "/points",
    "/control/faults",
    "/control/collect",
    "/control/reset",
    "/control/requests",
)
PAGE = """\
Carrier sandbox: stands in for the carriers alpha and beta. Labels bought here are real PDFs that ship nothing
and cost nothing.

Start
  manage.py carrier_sandbox [--host H] [--port P]
  python -m carriers.sandbox [--host H] [--port P] [--ledger FILE]     without Django; FILE keeps the ledger

Settings that connect the service
  ALPHA_URL={url}/alpha/shipping
  ALPHA_TRACKING_URL={url}/alpha/tracking
  ALPHA_POINTS_URL={url}/alpha/points
  BETA_URL={url}/beta/2.0
  BETA_POINTS_URL={url}/beta/points

Carriers
  POST   /alpha/shipping    alpha's shipping service (SOAP): shippingMultiParcelV4,
                            getReservedSkybillWithTypeAndModeAuth (by the reservation's number)
  POST   /alpha/tracking    alpha's tracking service (SOAP): trackWithSenderRef, cancelSkybill, trackSkybillV2
  POST   /alpha/points      alpha's pickup points (SOAP): recherchePointChronopost, ...Inter, ...InterParService,
                            rechercheDetailPointChronopost, ...Inter
  POST   /beta/2.0/...      beta's label service (JSON): generateLabel, checkGenerateLabel; the same
                            under /beta/3.1, its newer version; and generateBordereauByParcelsNumbers
  POST   /beta/points/...   beta's pickup points (JSON): findRDVPointRetraitAcheminement,
                            findPointRetraitAcheminementByID
  Requests are validated as strictly as the carriers' documents say. Labels are PDFs only: alpha's mode Z2D
  and beta's ZPL formats are refused.

Ledger
  GET    /ledger            the purchases; filters: ?carrier= and ?reference= (alpha's shipperRef,
                            beta's orderNumber)
  GET    /ledger/count      the number of parcels bought, with the same filters
  GET    /ledger/parcel     one parcel, ?tracking_number=: the request (without credentials), the printed texts,
                            the customs form, the fields that send it to the wrong depot (misrouted_by)
  A parcel that is ordered to a pickup point under another name or address than the point's own is sold, as the
  carriers do, and is "misrouted": true.

Pickup points
  GET    /points            the directory; filters: ?carrier=, ?country= and ?status= (open, holiday, holiday_later,
                            inactive, full)
  To provoke an error of the service, look up alpha's point F0601 (error 601) or beta's 990124 (error 124).

Control
  POST   /control/faults    arm a fault: {{"fault": "hang", "carrier": "alpha", "operation": "shippingMultiParcelV4",
                            "reference": "...", "rank": 2, "count": 1, "delay_s": 3}}
                            Only fault is required. By default it meets every carrier, operation, reference and
                            rank (of a linked parcel), stays armed, and has the delay of the table.
  GET    /control/faults    list the armed faults; one with a count is disarmed after that many uses
  DELETE /control/faults    disarm all faults
  POST   /control/collect   {{"tracking_number": "..."}}: alpha takes the parcel in charge, a cancellation is answered 3
  POST   /control/reset     clear purchases, faults and counts, and break off requests that wait
  GET    /control/requests  count the requests to each path; /redirected is the target of redirects

Credentials
  alpha takes any account of 8 digits with any password of 6 digits; beta takes any contract number with any
  password, or any API key without the other two. Refused are:
    alpha  password 000000, or an account that ends in 000030   error 30
           an account that ends in 000029                       error 29
           an account that ends in 000033                       error 33, product not on the contract
           an account that ends in 000133, 000233 or 000333     error 33, wrong accesColis account number, wrong
                                                                accesColis password, wrong identWebPro password
    beta   a contract number or API key that ends in 30000, 30007, 30008, 30009 or 30700   that error

Faults
  Order with the reference "FAULT <name>", for example "FAULT HANG". <name> is a fault of the table or an error
  code of the carrier: "FAULT 33" (alpha), "FAULT 30204", "FAULT R18" (ROUTING_18) or "FAULT IV106"
  (GEO_ROUTING_IV106) (beta). "FAULT 2 <name>" fails only the second of beta's linked parcels,
  which go overseas; elsewhere each parcel is a first. Case does not matter.
  A request that breaks the carrier's rules is refused before any fault. An armed fault goes before a reference,
  the oldest first; it may name an error code as well. accept and unfound can only be armed.

{faults}
"""


def answer_page(_: State, request: Request) -> Response:
    return text_response(PAGE.format(url=request.server_url, faults=fault_table()))


def answer_control(state: State, request: Request) -> Response:
    routes: dict[tuple[str, str], Callable[[], Response]] = {
        ("GET", "/ledger"): lambda: json_response(_rows(state, request)),
        ("GET", "/ledger/count"): lambda: json_response({"count": len(_rows(state, request))}),
        ("GET", "/ledger/parcel"): lambda: _parcel(state, request.query.get("tracking_number", "")),
        ("GET", "/points"): lambda: json_response(_points(request)),
        ("POST", "/control/collect"): lambda: _collect(state, request),
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

"""The sandbox's own endpoints: the ledger to read, faults to arm, and the page that explains it all."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from carriers.sandbox.exchange import json_answer, text_answer
from carriers.sandbox.fault_registry import armed_from
from carriers.sandbox.faults import fault_table

if TYPE_CHECKING:
    from collections.abc import Callable

    from carriers.sandbox.exchange import Answer, Request
    from carriers.sandbox.state import Depot

CONTROL_PATHS = ("/ledger", "/ledger/count", "/control/faults", "/control/reset", "/control/requests")
PAGE = """\
Carrier sandbox: plays the carriers alpha and beta. Nothing bought here is ever shipped or billed.

Endpoints on {url}
         /alpha/shipping    alpha's shipping service (SOAP): shippingMultiParcelV4,
                            getReservedSkybillWithTypeAndModeAuth
         /alpha/tracking    alpha's tracking service (SOAP): trackWithSenderRef, cancelSkybill, trackSkybillV2
         /beta/2.0          beta's base URL: /generateLabel, /checkGenerateLabel; /beta/3.1 is its newer version
  GET    /ledger            what was bought, narrowed by ?carrier= and ?reference= (alpha's
                            shipperRef, beta's orderNumber)
  GET    /ledger/count      how many parcels that is, with the same filters
  POST   /control/faults    arm a fault: {{"fault": "hang", "carrier": "alpha", "operation": "...",
                            "reference": "...", "rank": 2, "count": 1, "delay_s": 3}}; all but fault may be
                            left out: any carrier, operation, reference and parcel, for ever, its own delay
  GET    /control/faults    the faults that are still armed: one with a count goes when it was met so often
  DELETE /control/faults    disarm them all
  POST   /control/reset     forget purchases, faults and counts, break off what hangs
  GET    /control/requests  how many requests each path has received; /redirected is where redirects lead
  Labels are PDFs: alpha's mode Z2D and beta's ZPL formats are refused.

Credentials
  alpha takes any account of 8 digits with any password of 6 digits; beta any contract number with any
  password, or any API key and neither of the two. Refused are:
    alpha  password 000000, or an account that ends in 000030   error 30
           an account that ends in 000033                       error 33, product not on the contract
    beta   a contract number or API key that ends in 30000, 30007, 30008, 30009 or 30700   that error

Faults
  Send the reference "FAULT <name>" with a shipment, for example "FAULT HANG"; with several parcels for beta
  "FAULT 2 <name>" fails the second. A name is one of the table's or an error code of the carrier, for
  example "FAULT 33" (alpha), "FAULT 30204" (beta), "FAULT ROUTING" (beta).
  A request that breaks the carrier's rules is refused for that first.

{faults}
"""


def answer_page(url: str) -> Answer:
    return text_answer(PAGE.format(url=url, faults=fault_table()))


def answer_control(depot: Depot, request: Request) -> Answer:
    routes: dict[tuple[str, str], Callable[[], Answer]] = {
        ("GET", "/ledger"): lambda: json_answer(_rows(depot, request)),
        ("GET", "/ledger/count"): lambda: json_answer({"count": len(_rows(depot, request))}),
        ("GET", "/control/requests"): lambda: json_answer(depot.counts()),
        ("GET", "/control/faults"): lambda: json_answer(depot.faults.waiting()),
        ("POST", "/control/faults"): lambda: _arm(depot, request),
        ("DELETE", "/control/faults"): lambda: _done(depot.faults.clear),
        ("POST", "/control/reset"): lambda: _done(depot.reset),
    }
    route = routes.get((request.method, request.path))
    return route() if route else json_answer({"error": "no such endpoint; GET / lists them"}, 404)


def _rows(depot: Depot, request: Request) -> list[dict[str, Any]]:
    filters = {name: request.query.get(name) for name in ("carrier", "reference")}
    return [
        row.as_json(is_cancelled=depot.ledger.is_cancelled(row.carrier, row.tracking_number))
        for row in depot.ledger.find(**filters)
    ]


def _done(act: Callable[[], None]) -> Answer:
    act()
    return json_answer({})


def _arm(depot: Depot, request: Request) -> Answer:
    try:
        armed = armed_from(json.loads(request.body))
    except ValueError as error:
        return json_answer({"error": str(error)}, 400)
    depot.faults.arm(armed)
    return json_answer({"fault": armed.fault.name, "is_made": armed.fault.is_made}, 201)

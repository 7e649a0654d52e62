"""The control endpoints that move parcels: another journey, some steps at once, parcels that were sold elsewhere."""

import json
import math
import time
from typing import Any

from carriers.sandbox.faults import BOTH
from carriers.sandbox.http import Request, Response, json_response
from carriers.sandbox.journeys import HOME, JOURNEYS
from carriers.sandbox.parcel import Purchase
from carriers.sandbox.state import State
from carriers.sandbox.travel import Change

MOST_STEPS = 100
OLDEST_S = 1e9
_FOREIGN: dict[str, tuple[type, ...]] = {
    "carrier": (str,), "tracking_number": (str,), "journey": (str,), "age_s": (int, float), "pace": (int, float),
}  # fmt: skip


class TravelError(ValueError):
    """A request to one of these endpoints is malformed, or names a parcel that is not there."""

    def __init__(self, message: str, status: int = 400) -> None:
        super().__init__(message)
        self.status = status


def answer_journey(state: State, request: Request) -> Response:
    """Send a parcel on another journey from here on."""
    return _changed(state, request, lambda content: Change(time.time(), journey=_journey(content)))


def answer_advance(state: State, request: Request) -> Response:
    """Let a parcel take its next steps now."""
    return _changed(state, request, lambda content: Change(time.time(), steps=_steps(content)))


def answer_foreign(state: State, request: Request) -> Response:
    """Enter parcels that were sold elsewhere, one or a list of them."""
    try:
        content = _read(request)
        entered = [_foreign(state, item) for item in (content if isinstance(content, list) else [content])]
    except TravelError as error:
        return json_response({"error": str(error)}, error.status)
    state.ledger.register(entered)
    return json_response({"count": len(entered)}, 201)


def _changed(state: State, request: Request, change_of: Any) -> Response:
    try:
        content = _read(request)
        parcel = _parcel(state, content)
        state.ledger.change(parcel, change_of(content))
    except TravelError as error:
        return json_response({"error": str(error)}, error.status)
    return json_response({"events": [happening.step.event for happening in state.ledger.way(parcel).happened]})


def _read(request: Request) -> Any:
    try:
        return json.loads(request.body)
    except (ValueError, RecursionError):
        raise TravelError("JSON is expected") from None


def _parcel(state: State, content: Any) -> Purchase:
    number = content.get("tracking_number") if isinstance(content, dict) else None
    if not isinstance(number, str):
        raise TravelError("tracking_number: expected")
    found = (state.ledger.purchase(carrier, number) for carrier in BOTH)
    parcel = next((parcel for parcel in found if parcel), None)
    if parcel is None:
        raise TravelError("no such parcel", 404)
    return parcel


def _journey(content: dict[str, Any]) -> str:
    journey = content.get("journey")
    if not isinstance(journey, str) or journey not in JOURNEYS:
        raise TravelError(f"journey: one of {', '.join(JOURNEYS)}")
    return journey


def _steps(content: dict[str, Any]) -> int:
    steps = content.get("steps", 1)
    if not isinstance(steps, int) or isinstance(steps, bool) or not 1 <= steps <= MOST_STEPS:
        raise TravelError(f"steps: a number from 1 to {MOST_STEPS}")
    return steps


def _foreign(state: State, content: Any) -> Purchase:
    if not isinstance(content, dict):
        raise TravelError("a JSON object, or a list of them, is expected")
    for name, value in content.items():
        if name not in _FOREIGN or isinstance(value, bool) or not isinstance(value, _FOREIGN[name]):
            raise TravelError(f"{name}: unknown, or of the wrong type")
    carrier, number = content.get("carrier"), content.get("tracking_number")
    if carrier not in BOTH or not number:
        raise TravelError("carrier: alpha or beta, and tracking_number: expected")
    if state.ledger.purchase(carrier, number):
        raise TravelError("tracking_number: there is such a parcel", 409)
    age_s, pace = content.get("age_s", 0), content.get("pace", state.ledger.pace)
    if not (0 <= age_s <= OLDEST_S and 0 < pace < math.inf):
        raise TravelError(f"pace: above 0, age_s: from 0 to {OLDEST_S:g}")
    made_at_s = time.time() - age_s
    return Purchase(
        carrier=carrier,
        tracking_number=number,
        reference="",
        account="",  # every contract may ask for it
        product_code="",
        weight_kg=0,
        parcel_rank=1,
        parcel_count=1,
        made_at_s=made_at_s,
        findable_at_s=made_at_s,
        journey=_journey({"journey": HOME, **content}),
        pace=float(pace),
    )

"""beta's delivery service: the day on which a parcel arrives in France.

The page names the fields and `OK`; the other texts are a choice. It needs the contract's option `statutTunnelCommande`.
"""

import re
from datetime import date, timedelta
from typing import Any

from carriers.sandbox.beta.accounts import REFUSED, is_number_missing
from carriers.sandbox.beta.information import FACTS
from carriers.sandbox.beta.json_request import read_json
from carriers.sandbox.fault_registry import Operation
from carriers.sandbox.faults import Fault
from carriers.sandbox.http import Request, Response, json_response
from carriers.sandbox.state import State

DELIVERY = "getDateLivraison"
SUNDAY = 6
DAYS = 2
CREDENTIALS = {"apiKey", "login", "password", "partnerClientCode"}
DEPOTS = {site["codeRegate"] for site in FACTS["siteDepotList"]}


def answer_delivery(state: State, request: Request) -> Response:
    body = _read(request)
    if request.method != "POST" or body is None:
        return json_response({"error": "Bad Request", "message": "a POST of JSON is expected"}, 400)
    credentials, data = body["credentials"], body["data"]
    name = credentials.get("apiKey") or credentials.get("login", "")
    is_one_way = "apiKey" in credentials or bool(credentials.get("login") and credentials.get("password"))
    is_unknown = is_number_missing(name, credentials.get("partnerClientCode", ""))
    if not is_one_way or name.endswith(REFUSED) or is_unknown:
        return _refused("IDENTIFIANTS")
    if not re.fullmatch(r"(?!9[78])\d{5}", data["zipCodeDest"]) or data["regateDepart"] not in DEPOTS:
        return _refused("PARAMETRES")
    try:
        day = date.fromisoformat(data["depositDate"])
    except ValueError:
        return _refused("DATE")
    if day.weekday() == SUNDAY:
        return _refused("JOUR_NON_OUVRE")

    def promise(_: Fault) -> Response:
        arrives = after_working_days(day, DAYS).strftime("%d/%m/%Y")
        return json_response({"errorCode": "OK", "message": "", "deliveryDate": arrives})

    return state.perform(Operation("beta", DELIVERY), promise, lambda _: _refused("TECHNIQUE"))


def after_working_days(day: date, count: int) -> date:
    """Return the day after so many days that are no Sundays."""
    for _ in range(count):
        day += timedelta(days=2 if day.weekday() == SUNDAY - 1 else 1)
    return day


def _read(request: Request) -> dict[str, Any] | None:
    body = read_json(request)
    try:
        credentials, data = body["credentials"], body["data"]
        is_known = credentials.keys() <= CREDENTIALS and data.keys() == {"zipCodeDest", "regateDepart", "depositDate"}
        values = [*credentials.values(), *data.values()]
    except (KeyError, TypeError, AttributeError):
        return None
    return body if is_known and all(isinstance(value, str) for value in values) else None


def _refused(text: str) -> Response:
    return json_response({"errorCode": text, "message": f"SANDBOX: {text}"})

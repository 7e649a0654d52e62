"""beta's delivery service: the day on which a parcel arrives in France.

The page names the fields and `OK`; the other texts are a choice. It needs the contract's option `statutTunnelCommande`.
"""

import re
from datetime import date, timedelta

from carriers.sandbox.beta.accounts import REFUSED, is_number_missing, name_of
from carriers.sandbox.beta.information import FACTS
from carriers.sandbox.beta.json_request import read_request
from carriers.sandbox.faults import Fault, Operation
from carriers.sandbox.http import Request, Response, json_response
from carriers.sandbox.state import State

DELIVERY = "getDateLivraison"
SUNDAY = 6
DAYS = 2
REQUEST = {
    "credentials": dict.fromkeys(("apiKey", "login", "password", "partnerClientCode"), "text"),
    "data": dict.fromkeys(("zipCodeDest", "regateDepart", "depositDate"), "text"),
}
DEPOTS = {site["codeRegate"] for site in FACTS["siteDepotList"]}


def answer_delivery(state: State, request: Request) -> Response:
    body = read_request(request, REQUEST)
    credentials, data = body["credentials"], body["data"]
    name = name_of(credentials)
    if not name or name.endswith(REFUSED) or is_number_missing(name, credentials.get("partnerClientCode", "")):
        return _refused("IDENTIFIANTS")
    if not re.fullmatch(r"(?!9[78])\d{5}", data.get("zipCodeDest", "")) or data.get("regateDepart") not in DEPOTS:
        return _refused("PARAMETRES")
    try:
        day = date.fromisoformat(data.get("depositDate", ""))
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


def _refused(text: str) -> Response:
    return json_response({"errorCode": text, "message": f"SANDBOX: {text}"})

"""The accounts' credentials, the same to every service, and beta's two services about an account, which make nothing.

Accounts of the newer kind and those under a parent send their own number in every call, beside contract or API key:
here, contract numbers and keys that begin with `NEW` and `CHILD`. The carrier does not publish the code with which it
refuses a call without the number, nor the texts of refusals. An account of the newer kind which leaves out its number
gets a cut-down answer: here its kind alone. The day on which a parcel arrives in France needs the contract's option
`statutTunnelCommande`.
"""

import re
from calendar import SUNDAY
from collections.abc import Mapping
from datetime import date, timedelta

from carriers.sandbox.beta.answers import CodeError
from carriers.sandbox.data import content
from carriers.sandbox.faults import Operation
from carriers.sandbox.http import Request, Response, json_response, read_request
from carriers.sandbox.state import State

SENDING_THEIR_NUMBER = ("NEW", "CHILD")
NUMBER = r"[A-Za-z0-9]{1,64}"
# The ends of refused contract numbers, logins and keys: unknown or closed, and those without this service.
WRONG, NOT_ALLOWED = ("30000", "30007"), ("30008", "30009")
WRONG_CREDENTIALS, NOT_ALLOWED_HERE = 201, 202
REFUSED = (*WRONG, "30008")  # by the services that know one refusal alone
INFORMATION = "additionalinformations"
WRONG_LOGIN, SYSTEM = "Wrong login, password or key", "The service is temporarily unavailable"
INFORMATION_REQUEST, FACTS = content("beta/account_request.json"), content("beta/account.json")
DELIVERY = "getDateLivraison"
DELIVERY_REQUEST = content("beta/delivery_request.json")
DAYS = 2
DEPOTS = {site["codeRegate"] for site in FACTS["siteDepotList"]}


def name_of(credentials: Mapping[str, str]) -> str:
    """Return the API key, or else the login that comes with a password; empty without either."""
    return credentials.get("apiKey") or (credentials.get("login", "") if credentials.get("password") else "")


def check(name: str) -> None:
    """Raise CodeError for an account or key that is refused, as the services do whose errors are numbers."""
    if not name or name.endswith(WRONG):
        raise CodeError(WRONG_CREDENTIALS)
    if name.endswith(NOT_ALLOWED):
        raise CodeError(NOT_ALLOWED_HERE)


def is_number_missing(name: str, number: str) -> bool:
    """Return whether a call of the account or key lacks the number, or has one that is none."""
    is_given = re.fullmatch(NUMBER, number, re.ASCII) is not None
    return not is_given and (bool(number) or name.startswith(SENDING_THEIR_NUMBER))


def account_names(contract: str, api_key: str, number: str = "") -> list[str]:
    """Return the names that a call's account has in the ledger, its own number first if it is said.

    Of an API key, a secret, only the end is shown.
    """
    return [name for name in (number, f"api key ...{api_key[-4:]}" if api_key else contract) if name]


def answer_information(state: State, request: Request) -> Response:
    body = read_request(request, INFORMATION_REQUEST)
    credential, number = body["credential"], body.get("partnerClientCode", "")
    name = name_of(credential)
    if not name or name.endswith(REFUSED):
        return _uninformed(WRONG_LOGIN)

    is_new = name.startswith(SENDING_THEIR_NUMBER)
    provider = {"provider": "COLISSIMO-V2" if is_new else "COLISSIMO-V1", "messageErreur": None}
    known = provider if is_new and not number else FACTS | provider
    return state.perform(Operation("beta", INFORMATION), lambda _: json_response(known), lambda _: _uninformed(SYSTEM))


def _uninformed(text: str) -> Response:
    return json_response({"messageErreur": text})


def answer_delivery(state: State, request: Request) -> Response:
    body = read_request(request, DELIVERY_REQUEST)
    credentials, data = body["credentials"], body["data"]
    name = name_of(credentials)
    if not name or name.endswith(REFUSED) or is_number_missing(name, credentials.get("partnerClientCode", "")):
        return _unpromised("IDENTIFIANTS")
    if not re.fullmatch(r"(?!9[78])\d{5}", data.get("zipCodeDest", "")) or data.get("regateDepart") not in DEPOTS:
        return _unpromised("PARAMETRES")
    try:
        day = date.fromisoformat(data.get("depositDate", ""))
    except ValueError:
        return _unpromised("DATE")
    if day.weekday() == SUNDAY:
        return _unpromised("JOUR_NON_OUVRE")

    promise = {"errorCode": "OK", "message": "", "deliveryDate": f"{after_working_days(day, DAYS):%d/%m/%Y}"}
    asked = Operation("beta", DELIVERY)
    return state.perform(asked, lambda _: json_response(promise), lambda _: _unpromised("TECHNIQUE"))


def after_working_days(day: date, count: int) -> date:
    """Return the day after so many days that are no Sundays."""
    for _ in range(count):
        day += timedelta(days=2 if day.weekday() == SUNDAY - 1 else 1)
    return day


def _unpromised(text: str) -> Response:
    return json_response({"errorCode": text, "message": f"SANDBOX: {text}"})

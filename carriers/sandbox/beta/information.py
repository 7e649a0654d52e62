"""beta's account service: tells what an account includes, and makes nothing.

The page names the fields, not the text of a refusal, and says that an account of the newer kind which leaves out its
number gets a cut-down answer: here its kind alone.
"""

from typing import Any

from carriers.sandbox.beta.accounts import REFUSED, SENDING_THEIR_NUMBER
from carriers.sandbox.beta.json_request import read_json
from carriers.sandbox.fault_registry import Operation
from carriers.sandbox.faults import Fault
from carriers.sandbox.http import Request, Response, json_response
from carriers.sandbox.state import State

INFORMATION = "additionalinformations"
CREDENTIAL = ("apiKey", "login", "password")
WRONG_CREDENTIALS, SYSTEM = "Wrong login, password or key", "The service is temporarily unavailable"
FACTS: dict[str, Any] = {
    "contractType": "FACILITE",
    "statutHD": True,
    "statutPickme": False,
    "statutCodeBloquant": False,
    "statutTunnelCommande": True,
    "siteDepotList": [{"codeRegate": "690470", "libellepfc": "LYON MONTROCHET PFC"}],
    "optionRetourToken": False,
    "optionRetourBAL": True,
    "optionRetourBP": True,
    "hazmatStatus": False,
    "hazmatCategories": [],
    "cgv": {"accepted": True},
    "mimosaSubscribed": False,
}


def answer_information(state: State, request: Request) -> Response:
    body = _read(request)
    if request.method != "POST" or body is None:
        return json_response({"error": "Bad Request", "message": "a POST of JSON is expected"}, 400)
    credential, number = body["credential"], body.get("partnerClientCode", "")
    name = credential.get("apiKey") or credential.get("login", "")
    is_one_way = "apiKey" in credential or (credential.get("login") and credential.get("password"))
    if not is_one_way or not name or name.endswith(REFUSED):
        return _refused(WRONG_CREDENTIALS)

    def facts(_: Fault) -> Response:
        provider = {
            "provider": "COLISSIMO-V2" if name.startswith(SENDING_THEIR_NUMBER) else "COLISSIMO-V1",
            "messageErreur": None,
        }
        return json_response(
            provider if name.startswith(SENDING_THEIR_NUMBER) and not number else {**FACTS, **provider}
        )

    return state.perform(Operation("beta", INFORMATION), facts, lambda _: _refused(SYSTEM))


def _read(request: Request) -> dict[str, Any] | None:
    """Return the body, None for one that is not this service's."""
    body = read_json(request)
    if not isinstance(body, dict) or not body.keys() <= {"credential", "partnerClientCode"}:
        return None
    credential = body.get("credential")
    if not isinstance(credential, dict) or not credential.keys() <= {*CREDENTIAL}:
        return None
    values = (*credential.values(), body.get("partnerClientCode", ""))
    return body if all(isinstance(value, str) for value in values) else None


def _refused(text: str) -> Response:
    return json_response({"messageErreur": text})

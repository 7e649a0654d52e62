"""beta's account service: tells what an account includes, and makes nothing.

The page names the fields, not the text of a refusal, and says that an account of the newer kind which leaves out its
number gets a cut-down answer: here its kind alone.
"""

from carriers.sandbox.beta.accounts import REFUSED, SENDING_THEIR_NUMBER, name_of
from carriers.sandbox.beta.json_request import read_request
from carriers.sandbox.data import content
from carriers.sandbox.faults import Fault, Operation
from carriers.sandbox.http import Request, Response, json_response
from carriers.sandbox.state import State

INFORMATION = "additionalinformations"
REQUEST = {"credential": {"apiKey": "text", "login": "text", "password": "text"}, "partnerClientCode": "text"}
WRONG_CREDENTIALS, SYSTEM = "Wrong login, password or key", "The service is temporarily unavailable"
FACTS = content("beta/account.json")


def answer_information(state: State, request: Request) -> Response:
    body = read_request(request, REQUEST)
    credential, number = body["credential"], body.get("partnerClientCode", "")
    name = name_of(credential)
    if not name or name.endswith(REFUSED):
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


def _refused(text: str) -> Response:
    return json_response({"messageErreur": text})

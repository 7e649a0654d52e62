"""beta's deposit slip: a PDF that lists parcels which the carrier takes over together."""

import time

from reportlab.lib.pagesizes import A4

from carriers.sandbox.beta import answers, tables
from carriers.sandbox.beta.accounts import account_names
from carriers.sandbox.beta.order import ACCOUNT_NUMBER, read_fields
from carriers.sandbox.beta.validation import validate_credentials
from carriers.sandbox.data import content, filled
from carriers.sandbox.faults import Operation
from carriers.sandbox.http import Request, Response, read_request
from carriers.sandbox.papers import BOLD, NOTICE, REGULAR, Page
from carriers.sandbox.state import State

OPERATION = "generateBordereauByParcelsNumbers"
INVALID_PARCEL = "50031"
HEADER = content("beta/slip_header.json")


def answer_deposit_slip(state: State, request: Request) -> Response:
    body = read_request(request, tables.SLIP)
    api_key, violations = request.headers.get("apikey", ""), answers.Violations()
    validate_credentials(violations, body, api_key)
    if violations.errors:
        return answers.refused(violations.errors)
    accounts = account_names(body.get("contractNumber", ""), api_key, read_fields(body).get(ACCOUNT_NUMBER, ""))
    numbers = body["generateBordereauParcelNumberList"].get("parcelsNumbers", [])
    if not numbers:
        return _refusal(INVALID_PARCEL, "a number is expected")
    for number in numbers:
        row = state.ledger.purchase("beta", number)
        if row is None or row.account not in accounts:
            return _refusal(INVALID_PARCEL, number)

    asked = Operation("beta", OPERATION)
    return state.perform(asked, lambda _: _slip(accounts[0], numbers), lambda name: _refusal(name, ""))


def _refusal(code: str, detail: str) -> Response:
    if not code.isdigit():
        return answers.refusal(code)
    error = answers.message(code, f"{answers.meaning_of(code)} {detail}".strip())
    return answers.multipart({"messages": [error], "bordereauHeader": None}, [], 400)


def _slip(account: str, numbers: list[str]) -> Response:
    now_ms = time.time_ns() // 1_000_000
    facts = {"number": now_ms % 10**9, "now_ms": now_ms, "count": len(numbers), "account": account}
    infos = {"messages": [answers.message("0", "SANDBOX: done", "INFOS")], "bordereauHeader": filled(HEADER, facts)}
    page = Page(A4, "Deposit slip")
    page.text((20, 270), "DEPOSIT SLIP", (BOLD, 18))
    page.text((20, 262), f"Account {account}   {len(numbers)} parcels", (REGULAR, 11))
    page.lines((20, 250), numbers, (REGULAR, 10), 170)
    page.text((20, 15), NOTICE, (BOLD, 14))
    return answers.multipart(infos, [("deliveryPaper", page.finished())])

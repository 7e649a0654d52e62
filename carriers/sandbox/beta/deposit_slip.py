"""beta's deposit slip: a PDF that lists parcels which the carrier takes over together."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Any

from reportlab.lib.pagesizes import A4

from carriers.sandbox.beta import answers
from carriers.sandbox.beta.accounts import is_number_missing
from carriers.sandbox.beta.request_fields import ACCOUNT_NUMBER, read_fields
from carriers.sandbox.fault_registry import Injection, Operation
from carriers.sandbox.http import Response, json_response
from carriers.sandbox.page import BOLD, NOTICE, REGULAR, Page

if TYPE_CHECKING:
    from carriers.sandbox.http import Request
    from carriers.sandbox.state import State

OPERATION = "generateBordereauByParcelsNumbers"
INVALID_PARCEL = "50031"
MOST_PARCELS = 50  # a call; what the carrier's module sends, no published bound


def answer_deposit_slip(state: State, request: Request) -> Response:
    if request.method != "POST":
        return json_response({"error": "Method Not Allowed", "message": "POST is expected"}, 405)
    try:
        body = json.loads(request.body.decode())
        numbers = body["generateBordereauParcelNumberList"]["parcelsNumbers"]
        account = _account(body, request.headers.get("apikey", ""))
    except (AttributeError, KeyError, TypeError, ValueError):
        return json_response({"error": "Bad Request", "message": "parcelsNumbers are expected"}, 400)
    if not account:
        return answers.refusal("30000")
    refused = _first_invalid(state, account, numbers)
    if refused is not None:
        return _refusal(INVALID_PARCEL, refused)

    def make(_: Injection) -> Response:
        return _slip(account, numbers)

    return state.perform(Operation("beta", OPERATION), make, lambda name: _refusal(name, ""))


def _account(body: dict[str, Any], api_key: str) -> str:
    """Return the account's name in the ledger, or nothing for wrong credentials."""
    contract: str = body.get("contractNumber") or ""
    if (api_key or contract).endswith(("30000", "30007", "30008")):
        return ""
    number = read_fields({"fields": body.get("fields", {})}).get(ACCOUNT_NUMBER, "")
    if is_number_missing(api_key or contract, number):
        return ""
    if api_key:
        return f"api key ...{api_key[-4:]}"
    return contract if body.get("password") else ""


def _first_invalid(state: State, account: str, numbers: Any) -> str | None:
    """Return the first number that is not this account's; a list of the wrong length has none."""
    if not isinstance(numbers, list) or not 1 <= len(numbers) <= MOST_PARCELS:
        return f"1 to {MOST_PARCELS} numbers are expected"
    purchases = [(str(number), state.ledger.purchase("beta", str(number))) for number in numbers]
    return next((number for number, row in purchases if row is None or row.account != account), None)


def _refusal(code: str, detail: str) -> Response:
    if not code.isdigit():
        return answers.refusal(code)
    error = answers.message(code, "ERROR", f"invalid parcel number {detail}".strip())
    return answers.multipart({"messages": [error], "bordereauHeader": None}, [], 400)


def _slip(account: str, numbers: list[str]) -> Response:
    now_ms = time.time_ns() // 1_000_000
    header = {
        "bordereauNumber": now_ms % 10**9,
        "publishingDate": now_ms,
        "numberOfParcels": len(numbers),
        "codeSitePCH": 12345,
        "nameSitePCH": "SANDBOX",
        "clientNumber": account,
        "address": None,
        "company": None,
    }
    infos = {"messages": [answers.message("0", "INFOS", "SANDBOX: done")], "bordereauHeader": header}
    return answers.multipart(infos, [("deliveryPaper", _pdf(account, numbers))])


def _pdf(account: str, numbers: list[str]) -> bytes:
    page = Page(A4, "Deposit slip")
    page.text((20, 270), "DEPOSIT SLIP", (BOLD, 18))
    page.text((20, 262), f"Account {account}   {len(numbers)} parcels", (REGULAR, 11))
    page.lines((20, 250), numbers, (REGULAR, 10), 170)
    page.text((20, 15), NOTICE, (BOLD, 14))
    page.turn()
    return page.finished()

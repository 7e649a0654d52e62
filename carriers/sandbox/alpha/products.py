"""alpha's price service: lists the products that a contract has for a destination."""

from __future__ import annotations

from typing import TYPE_CHECKING

from carriers.sandbox.alpha import service, soap, tables
from carriers.sandbox.alpha.validation import validate_credentials
from carriers.sandbox.countries import COUNTRIES
from carriers.sandbox.fault_registry import Operation

if TYPE_CHECKING:
    from carriers.sandbox.fault_registry import Injection
    from carriers.sandbox.http import Request, Response
    from carriers.sandbox.state import State

LIST = "calculateProducts"
CHILDREN = (
    "accountNumber", "password", "depCountryCode", "depZipCode", "arrCountryCode", "arrZipCode", "arrCity", "type",
    "weight",
)  # fmt: skip
EMPTY, CREDENTIALS, NO_TARIFF = 2, 3, 5
MESSAGES = {
    1: "system error", EMPTY: "empty value", CREDENTIALS: "wrong account or password", 4: "wrong product",
    NO_TARIFF: "no tariff",
}  # fmt: skip
NO_CONTRACT = "000033"  # the end of an account that has no product
LACKING = "0000"  # before the product that an account lacks: 19000086 has no 86


def answer_products(state: State, request: Request) -> Response:
    return service.dispatch(state, request, tables.QUICKCOST, {LIST: _list})


def _list(state: State, message: soap.Message) -> Response:
    fields = dict(zip(CHILDREN, message.texts(*CHILDREN), strict=True))
    empty = next((name for name, value in fields.items() if not value), None)
    if empty:
        raise _refusal(EMPTY, empty)
    account, country = fields["accountNumber"], fields["arrCountryCode"]
    try:
        validate_credentials(account, fields["password"])
    except soap.RefusalError:
        if not account.endswith(NO_CONTRACT):
            raise _refusal(CREDENTIALS) from None
    if not {country, fields["depCountryCode"]} <= COUNTRIES or not _is_weight(fields["weight"]):
        raise _refusal(NO_TARIFF)

    def products(_: Injection) -> Response:
        found = [_product(code) for code in _codes(account, country)]
        return service.succeeded(tables.QUICKCOST, LIST, found)

    return service.perform(state, tables.QUICKCOST, Operation("alpha", LIST), products)


def _is_weight(text: str) -> bool:
    try:
        return 0 < float(text) <= tables.HEAVIEST_KG
    except ValueError:
        return False


def _codes(account: str, country: str) -> list[str]:
    if account.endswith(NO_CONTRACT):
        return []
    lacked = account[-2:] if account[-6:-2] == LACKING else ""
    return [code for code, product in tables.PRODUCTS.items() if country in product.countries and code != lacked]


def _product(code: str) -> tuple[str, soap.Tree]:
    """Write a product as the service does: without leading zeros, and without amounts on a test account."""
    amounts: list[tuple[str, soap.Tree]] = [(name, "0.0") for name in ("amount", "amountTTC", "amountTVA")]
    return "productList", [*amounts, ("productCode", code.lstrip("0") or "0")]


def _refusal(code: int, detail: str = "") -> soap.RefusalError:
    return soap.RefusalError(code, f"{MESSAGES[code]}: {detail}" if detail else MESSAGES[code])

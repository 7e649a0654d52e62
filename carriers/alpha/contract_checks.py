"""alpha's check of a contract: its products for a destination, which the price service lists."""

from collections.abc import Set as AbstractSet
from decimal import Decimal
from types import MappingProxyType
from typing import Final

from carriers.alpha.answers import success_of
from carriers.alpha.credentials import contract
from carriers.alpha.parties import zip_code_of
from carriers.alpha.refusals import CONTRACT_REFUSALS
from carriers.contract_checks import SAMPLE_WEIGHT_KG, Finding, Terms, Verdict
from carriers.errors import Rejected
from carriers.http import soap
from carriers.http.messages import Answer
from carriers.products import PRODUCTS
from carriers.redaction import Redactor
from carriers.shipment import Credentials, Party, ProductOverride
from carriers.text import to_ascii

NAMESPACE: Final = "http://cxf.quickcost.soap.chronopost.fr/"
OPERATION: Final = "calculateProducts"
GOODS: Final = "M"

_NOTHING_FOR_DESTINATION: Final = ("4", "5")
_CODE_LENGTH: Final = 2
_WRITTEN: Final = MappingProxyType({"YT": "YO", "MC": "FR", "MF": "PM"})
NO_CITY: Final = "-"


def message(sender: Party, recipient: Party, credentials: Credentials, weight_kg: Decimal = SAMPLE_WEIGHT_KG) -> bytes:
    """Return the request for the contract's products from one place to another."""
    fields = (
        *contract(credentials),
        *way(sender, recipient),
        ("type", GOODS),
        ("weight", f"{weight_kg:f}"),
    )
    return soap.query(OPERATION, NAMESPACE, fields)


def way(sender: Party, recipient: Party) -> tuple[tuple[str, str], ...]:
    """Return both places; the price service writes some destinations in its own way."""
    return (
        ("depCountryCode", sender.country_code),
        ("depZipCode", zip_code_of(sender)),
        ("arrCountryCode", _WRITTEN.get(recipient.country_code, recipient.country_code)),
        ("arrZipCode", zip_code_of(recipient)),
        ("arrCity", to_ascii(recipient.city) or NO_CITY),
    )


def read_codes(answer: Answer, *, redactor: Redactor) -> frozenset[str]:
    """Return the product codes, which come without their leading zeros; none where nothing goes there."""
    try:
        result = success_of(answer, OPERATION, redactor, refusals=CONTRACT_REFUSALS)
    except Rejected as error:
        if error.carrier_code in _NOTHING_FOR_DESTINATION:
            return frozenset()
        raise
    codes = (soap.text(product, "productCode") for product in result.findall("productList"))
    return frozenset(code.zfill(_CODE_LENGTH) for code in codes if code)


def findings(terms: Terms, codes: AbstractSet[str]) -> list[Finding]:
    """Tell for each product if the codes that it is bought by are among the contract's."""
    return [_finding(code, override, codes) for code, override in terms.products.items()]


def _finding(product_code: str, override: ProductOverride | None, codes: AbstractSet[str]) -> Finding:
    wanted = [override.carrier_code] if override else [route.carrier_code for route in PRODUCTS[product_code].routes]
    missing = sorted({code for code in wanted if code not in codes})
    if not missing:
        return Finding(product_code, Verdict.INCLUDED, f"the contract has {', '.join(dict.fromkeys(wanted))}")
    return Finding(product_code, Verdict.MISSING, f"the contract lacks {', '.join(missing)}")

"""beta's account service: what an account includes, in words for the staff; and from its depot, the day of delivery."""

import re
from calendar import SUNDAY
from collections.abc import Mapping
from datetime import date, datetime, timedelta
from typing import Any, Final

from carriers.beta.answers import (
    FIRST_FAILURE_STATUS,
    OK,
    check_status,
    document_in,
    document_of,
    is_true,
    objects_of,
    string_of,
)
from carriers.beta.parties import CARRIER, login, own_number
from carriers.data import rows_of
from carriers.errors import CarrierUnavailable, CredentialsRejected
from carriers.http.transport import Answer, UnreadableError
from carriers.shipment import Credentials

OPERATION: Final = "additionalinformations"
# The answer's fields, in the words of the staff's pages.
FLAGS: Final = {row["field"]: row["words"] for row in rows_of("beta/account_flags.csv")}
KINDS: Final = {"COLISSIMO-V1": "old", "COLISSIMO-V2": "new: its own parent, with a password"}
MAX_SITES: Final = 20
DELIVERY: Final = "getDateLivraison"
COUNTRY: Final = "FR"  # the only one whose days are known
PROMISED: Final = "OK"
_DEPOT: Final = re.compile(r"[0-9A-Za-z]{1,10}")
_DAY: Final = "%d/%m/%Y"


def message(credentials: Credentials) -> dict[str, Any]:
    """Return the request: the credentials and, where calls say it, the account's own number."""
    return {"credential": login(credentials), **own_number(credentials, "partnerClientCode")}


def read_facts(answer: Answer) -> dict[str, str]:
    """Return what the account includes, in words; raises as `read_document`."""
    document, shown = read_document(answer), answer.request.redactor.text
    provider, terms = string_of(document, "provider"), document.get("cgv")
    categories = found if isinstance(found := document.get("hazmatCategories"), list) else []
    sites = objects_of(document, "siteDepotList")[:MAX_SITES]
    facts = {
        "Contract": string_of(document, "contractType"),
        "Kind of account": KINDS.get(provider, provider),
        **{name: _yes_or_no(document.get(flag)) for flag, name in FLAGS.items()},
        "Hazardous categories": ", ".join(category for category in categories if isinstance(category, str)),
        "General terms accepted": _yes_or_no(terms.get("accepted")) if isinstance(terms, dict) else "",
        "Deposit sites": ", ".join(string_of(site, "libellepfc") or string_of(site, "codeRegate") for site in sites),
    }
    return {name: shown(value) for name, value in facts.items() if value}


def read_document(answer: Answer) -> Mapping[str, Any]:
    """Return the account; raises CredentialsRejected with the carrier's text, or UnreadableError."""
    document = document_in(answer)
    text = string_of(document, "messageErreur")
    if text and answer.status < FIRST_FAILURE_STATUS:
        said = answer.request.redactor.text(text)
        raise CredentialsRejected(CARRIER, "its account service refuses them", carrier_text=said)
    check_status(answer)
    if answer.status != OK or not document.keys() & {"provider", "contractType"}:
        raise UnreadableError("the answer tells nothing about the account")
    return document


def _yes_or_no(value: Any) -> str:
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value) if value else ""


def depot_of(document: Mapping[str, Any]) -> str:
    """Return the first depot of an account that has the option, empty without; `document` is the account's."""
    codes = (string_of(site, "codeRegate") for site in objects_of(document, "siteDepotList"))
    return next(filter(_DEPOT.fullmatch, codes), "") if is_true(document, "statutTunnelCommande") else ""


def delivery_message(zip_code: str, depot: str, day: date, credentials: Credentials) -> dict[str, Any]:
    """Return the request for the day of arrival of a parcel that is handed in on a day, of a Sunday on the Monday.

    The carrier promises nothing for a day that is not worked.
    """
    if day.weekday() == SUNDAY:
        day += timedelta(days=1)
    return {
        "credentials": login(credentials) | own_number(credentials, "partnerClientCode"),
        "data": {"zipCodeDest": zip_code, "regateDepart": depot, "depositDate": day.isoformat()},
    }


def read_day(answer: Answer) -> date:
    """Return the day of arrival; raises CarrierUnavailable where there is no promise."""
    check_status(answer)
    document = document_of(answer.body)
    if answer.status != OK or not string_of(document, "errorCode"):
        raise UnreadableError("the answer is none of the delivery service")
    if string_of(document, "errorCode") != PROMISED:
        text = answer.request.redactor.text(string_of(document, "message"))
        raise CarrierUnavailable(CARRIER, "it promises no day", carrier_text=text)
    try:
        return datetime.strptime(string_of(document, "deliveryDate"), _DAY).date()  # noqa: DTZ007 - a day of Paris
    except ValueError:
        raise UnreadableError("the answer has no day") from None

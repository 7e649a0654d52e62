"""beta's delivery service: the day on which a parcel arrives in France, from a depot of the account."""

import re
from collections.abc import Mapping
from datetime import date, datetime
from typing import Any, Final

from carriers.beta.answers import OK, check_status, document_of, objects_of, string_of
from carriers.beta.credentials import login, own_number
from carriers.beta.parties import CARRIER
from carriers.errors import CarrierUnavailable
from carriers.http.messages import Answer, UnreadableError
from carriers.redaction import Redactor
from carriers.shipment import Credentials

OPERATION: Final = "getDateLivraison"
COUNTRY: Final = "FR"  # the only one whose days are known
PROMISED: Final = "OK"
_DEPOT: Final = re.compile(r"[0-9A-Za-z]{1,10}")
_DAY: Final = "%d/%m/%Y"


def depot_of(document: Mapping[str, Any]) -> str:
    """Return the first depot of an account that has the option, empty without; `document` is the account's."""
    codes = (string_of(site, "codeRegate") for site in objects_of(document, "siteDepotList"))
    is_offered = document.get("statutTunnelCommande") in (True, "true")
    return next(filter(_DEPOT.fullmatch, codes), "") if is_offered else ""


def message(zip_code: str, depot: str, day: date, credentials: Credentials) -> dict[str, Any]:
    """Return the request for the day of arrival of a parcel that is handed in on a day."""
    return {
        "credentials": login(credentials) | own_number(credentials, "partnerClientCode"),
        "data": {"zipCodeDest": zip_code, "regateDepart": depot, "depositDate": day.isoformat()},
    }


def read_day(answer: Answer, *, redactor: Redactor) -> date:
    """Return the day of arrival; raises CarrierUnavailable where there is no promise."""
    check_status(answer)
    document = document_of(answer.body)
    if answer.status != OK or not string_of(document, "errorCode"):
        raise UnreadableError("the answer is none of the delivery service")
    if string_of(document, "errorCode") != PROMISED:
        text = redactor.text(string_of(document, "message"))
        raise CarrierUnavailable(CARRIER, "it promises no day", carrier_text=text)
    try:
        return datetime.strptime(string_of(document, "deliveryDate"), _DAY).date()  # noqa: DTZ007 - a day of Paris
    except ValueError:
        raise UnreadableError("the answer has no day") from None

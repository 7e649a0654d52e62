"""beta's deposit slip: asked for by the numbers of parcels, answered with a PDF that can't be fetched again."""

import re
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, Final

from carriers import pdf
from carriers.beta.answers import OK, error_of, errors_of, integer_of, parts_of, string_of
from carriers.beta.parties import CARRIER, contract, field_list, own_number
from carriers.errors import RequestRejected
from carriers.http.transport import Answer, UnreadableError
from carriers.shipment import Credentials, DepositSlip

OPERATION: Final = "generateBordereauByParcelsNumbers"
LATEST_MS: Final = 10**14
MAX_PARCELS: Final = 50  # a call; what the carrier's own module sends

_INVALID_PARCEL: Final = "50031"
_NUMBER: Final = re.compile(r"[A-Za-z0-9]{1,35}")
_FIRST: Final = re.compile(r"[A-Z0-9]{11,15}")  # a parcel's number in the carrier's text


def message(tracking_numbers: Sequence[str], credentials: Credentials) -> dict[str, Any]:
    """Return the body of a call."""
    numbers = {"generateBordereauParcelNumberList": {"parcelsNumbers": list(tracking_numbers)}}
    return contract(credentials) | numbers | field_list(own_number(credentials))


def read_slip(answer: Answer, *, tracking_numbers: Sequence[str]) -> DepositSlip:
    """Return the slip; raises the error of the answer's messages, UnreadableError if there is neither."""
    parts, document = parts_of(answer, "deliveryPaper")
    errors = errors_of(document, answer.status)
    if errors:
        refused = next((error for error in errors if error.code == _INVALID_PARCEL), None)
        if refused:
            raise _invalid((refused.text, *refused.values), tracking_numbers)
        raise error_of(errors, answer)
    found = document.get("bordereauHeader")
    header = found if isinstance(found, dict) else {}
    number = string_of(header, "bordereauNumber")
    if answer.status != OK or not _NUMBER.fullmatch(number):
        raise UnreadableError("the answer is neither a deposit slip nor a refusal")
    paper = parts.get("deliveryPaper", b"")
    if not paper:
        raise UnreadableError("the answer has no deposit slip")
    ms = integer_of(header.get("publishingDate")) or 0
    published_at = datetime.fromtimestamp(ms / 1000, UTC) if 0 < ms < LATEST_MS else None
    return DepositSlip(number, published_at, pdf.checked(paper, "deposit slip"))


def _invalid(texts: Sequence[str], tracking_numbers: Sequence[str]) -> RequestRejected:
    """Name the first number that the carrier refuses, in its text or the values of that, if it is one of those sent."""
    found = _FIRST.findall(" ".join(texts).upper())
    named = next((number for number in found if number in tracking_numbers), "")
    which = f"does not know the parcel {named} of this contract" if named else "does not know one of the parcels"
    detail = f"the carrier {which}, or takes it on no deposit slip"
    error = RequestRejected(CARRIER, detail, carrier_code=_INVALID_PARCEL)
    error.parcel_number = named
    return error

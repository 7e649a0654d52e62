"""Read alpha's SOAP answers."""

import base64
import re
from datetime import date, datetime
from typing import Final
from xml.etree.ElementTree import Element

from carriers import pdf
from carriers.alpha.parties import CARRIER
from carriers.alpha.refusals import REFUSALS, field_of, in_our_words, refusal_of
from carriers.errors import CancellationRefused
from carriers.http import soap
from carriers.http.transport import Answer, Request, UnreadableError
from carriers.products import PARIS
from carriers.redaction import MAX_RAW_LENGTH, Redactor
from carriers.refusals import Refusals
from carriers.text import clean_number

OK: Final = 200
TOO_EARLY: Final = "2"  # a code of `cancelSkybill`
NOT_TO_THIS_REQUEST: Final = "the answer is not one to this request"

_ERROR_CODE: Final = re.compile(r"-?[0-9]{1,9}")


def result_of(answer: Answer, *, is_of_any_status: bool = False) -> Element:
    """Return the `return` element of an answer; raises the request's error for a fault.

    Raises UnreadableError for another status than 200, unless any will do, and for what is no XML, as a page in front
    of the service: alpha refuses credentials by a code.
    """
    request, body = answer.request, soap.body_of(answer.body)
    if body.tag == "Fault":
        # A single request may have caused it, so it does not count towards the circuit breaker.
        code, text = soap.text(body, "faultcode").rpartition(":")[2], soap.text(body, "faultstring")[:MAX_RAW_LENGTH]
        shown, said = request.redactor.code(code), _shown(text, request.redactor)
        raise request.unanswered_error(CARRIER, carrier_code=shown, carrier_text=said)
    result = body.find("return") if body.tag == f"{request.operation}Response" else None
    if result is None or not (is_of_any_status or answer.status == OK):
        raise UnreadableError(NOT_TO_THIS_REQUEST)
    return result


def success_of(answer: Answer, refusals: Refusals = REFUSALS) -> Element:
    """Return the `return` element of a successful answer; raises as `result_of` and `check_code`."""
    result = result_of(answer)
    check_code(result, answer.request, refusals)
    return result


def check_code(result: Element, request: Request, refusals: Refusals = REFUSALS, *, is_label: bool = False) -> None:
    """Raise the error that a code other than 0 stands for, the request's own for an undocumented one.

    An answer that `is_label` has no such code.
    """
    code = soap.text(result, "errorCode")
    if not _ERROR_CODE.fullmatch(code):
        raise UnreadableError("the answer has no error code")
    code = str(int(code))
    if code == "0":
        return
    if is_label:
        raise UnreadableError("the answer has both an error code and a parcel")
    text = soap.text(result, "errorMessage")[:MAX_RAW_LENGTH]
    shown, meant = _shown(text, request.redactor), request.redactor.without_echoes(text)
    refusal = refusal_of(code, text, meant, refusals)
    if refusal is None:
        # A single request may have caused it, so it does not count towards the circuit breaker.
        problem = f"the error code {code} is not documented"
        raise request.unanswered_error(CARRIER, problem, carrier_code=code, carrier_text=shown)
    error = refusal.error_of(CARRIER, field_of(refusal, meant), code, shown)
    if isinstance(error, CancellationRefused):
        error.may_be_too_early = code == TOO_EARLY
    raise error


def _shown(text: str, redactor: Redactor) -> str:
    return redactor.text(in_our_words(text))


def number_of(parcel: Element, name: str = "skybillNumber") -> str:
    """Return the number in a child, by default the tracking number, empty if it has none."""
    return clean_number(soap.text(parcel, name))


def day_of(text: str) -> date:
    """Return a time's day in Paris; raises ValueError or OverflowError for a text that is none."""
    moment = datetime.fromisoformat(text)
    return (moment.astimezone(PARIS) if moment.tzinfo else moment).date()


def pdf_of(parent: Element, name: str) -> bytes:
    """Return the PDF in a child, which is base64."""
    encoded = "".join(soap.text(parent, name).split())
    if not encoded:
        raise UnreadableError("the answer has no label")
    try:
        content = base64.b64decode(encoded, validate=True)
    except ValueError:
        raise UnreadableError("the label is not base64") from None
    return pdf.checked(content)

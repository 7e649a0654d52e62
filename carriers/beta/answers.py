"""Read the answers of beta's label service."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from carriers import pdf
from carriers.beta.parties import CARRIER
from carriers.beta.refusals import refusal_of
from carriers.errors import CarrierError, CredentialsRejected, Rejected, RequestRejected
from carriers.http import multipart
from carriers.http.transport import Answer, UnreadableError
from carriers.shipment import PurchasedLabel, form_of
from carriers.text import BLANKS, clean_number

INFOS: Final = "jsonInfos"  # the id of the part with the JSON
ANSWER_BLOCKS: Final = ("labelV2Response", "labelV31Response", "labelResponse")  # 2.0, 3.1, and before them
OK: Final = 200
FIRST_ERROR_STATUS: Final = 400
ANSWERED: Final = (OK, FIRST_ERROR_STATUS)  # by the label service itself
FIRST_FAILURE_STATUS: Final = 500
REFUSED_CREDENTIALS: Final = (401, 403)
MAX_JSON_BYTES: Final = 256 * 1024
MAX_WARNINGS: Final = 20

Json = Mapping[str, Any]
_INTEGER: Final = re.compile(r"-?[0-9]{1,15}", re.ASCII)


@dataclass(frozen=True)
class Message:
    """A message of the carrier; `values` are those that its text takes."""

    code: str
    kind: str
    text: str
    values: tuple[str, ...] = ()


def read_parcel(answer: Answer, *, index: int, others: tuple[str, ...] = ()) -> PurchasedLabel:
    """Return the parcel of an answer; raises the error of its messages, UnreadableError if there is none.

    `index` is the parcel's place in the order, `others` the numbers of those before it.
    """
    parts, document = parts_of(answer, "label", "cn23")
    said = (each.text or each.code for each in messages_of(document) if each.kind == "WARNING")
    warnings = tuple(filter(None, map(answer.request.redactor.text, said)))[:MAX_WARNINGS]
    # A number may come as text, with spaces in it, or as a JSON number.
    blocks = (block for name in ANSWER_BLOCKS if isinstance(block := document.get(name), dict))
    number = next(filter(None, (clean_number(string_of(block, "parcelNumber")) for block in blocks)), "")
    label, errors = _pdf(parts, "label"), errors_of(document, answer.status)
    if errors and not (number or label):
        raise error_of(errors, answer, index=index)
    name = number if number not in ("", *others) else f"parcel-{index + 1}"
    pdfs = {name: label, form_of(name): _pdf(parts, "cn23")}
    came = {name: content for name, content in pdfs.items() if content}
    parcel = PurchasedLabel((number,) if number else (), came, warnings)
    if errors or answer.status != OK or not number:
        problem = "the answer is neither a label nor a refusal"
    elif not label:
        problem = "the label is not a PDF" if parts.get("label") else "the answer has no label"
    elif number in others:
        problem = "the answer repeats the number of another parcel"
    else:
        return parcel
    raise UnreadableError(problem, parcel)


def joined(parcels: Sequence[PurchasedLabel]) -> PurchasedLabel:
    """Return several parcels as one label: the PDFs of all, then the customs forms, and each warning once."""
    pdfs = [pdf for parcel in parcels for pdf in parcel.pdfs.items()]
    return PurchasedLabel(
        tuple(number for parcel in parcels for number in parcel.tracking_numbers),
        dict(sorted(pdfs, key=lambda pdf: pdf[0].endswith(form_of("")))),
        tuple(dict.fromkeys(warning for parcel in parcels for warning in parcel.warnings)),
    )


def read_check(answer: Answer, *, index: int = 0) -> None:
    """Read the answer to a request that is only validated; raises the error of its messages.

    Nothing is made, so a code that is not documented is a refusal, too.
    """
    _, document = parts_of(answer)
    errors = errors_of(document, answer.status)
    if errors:
        is_refused = answer.status in ANSWERED and errors[0].code not in ("", "0")  # which is a yes
        raise error_of(errors, answer, index=index, unknown=RequestRejected if is_refused else None)
    if answer.status != OK or not messages_of(document):
        raise UnreadableError("the answer is neither a yes nor a refusal")


def parts_of(answer: Answer, *documents: str) -> tuple[Mapping[str, bytes], Json]:
    """Return the parts of an answer by their ids, and its JSON; raises UnreadableError or CredentialsRejected.

    `documents` are the ids of the other parts, in their usual order: what came of them is kept without any JSON.
    """
    parts: Mapping[str, bytes] = {}
    try:
        is_multipart = multipart.is_multipart(answer)
        parts = multipart.parts_by_id(answer, (INFOS, *documents)) if is_multipart else {INFOS: answer.body}
        document = document_of(parts.get(INFOS, b""))
    except UnreadableError:
        check_status(answer)
        if not any(map(parts.get, documents)):
            raise
        document = {}
    if not messages_of(document):
        check_status(answer)
    return parts, document


def document_in(answer: Answer) -> Json:
    """Return the JSON of an answer that is nothing else; raises UnreadableError or CredentialsRejected."""
    try:
        return document_of(answer.body)
    except UnreadableError:
        check_status(answer)
        raise


def check_status(answer: Answer) -> None:
    """Raise CredentialsRejected for a status that refuses them."""
    if answer.status in REFUSED_CREDENTIALS:
        raise CredentialsRejected(CARRIER, f"its service answered HTTP {answer.status}")


def _pdf(parts: Mapping[str, bytes], name: str) -> bytes:
    """Return a part's PDF, empty without one."""
    try:
        return pdf.checked(parts.get(name, b""))
    except UnreadableError:
        return b""


def document_of(content: bytes) -> Json:
    """Return the JSON object in an answer; raises UnreadableError."""
    if len(content) > MAX_JSON_BYTES:
        raise UnreadableError("the JSON is too long")
    try:
        document = json.loads(content)
    except (ValueError, RecursionError):
        raise UnreadableError("the answer is not readable JSON") from None
    if not isinstance(document, dict):
        raise UnreadableError("the JSON is not an object")
    return document


def string_of(document: Json, name: str) -> str:
    """Return a text or a whole number as text, empty for anything else."""
    value = document.get(name)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return str(value).strip(BLANKS) if isinstance(value, str | int) and not isinstance(value, bool) else ""


def integer_of(value: Any) -> int | None:
    """Return a whole number, as such or as text; None for anything else."""
    text = str(value).strip(BLANKS).removesuffix(".0") if type(value) in (int, float, str) else ""
    return int(text) if _INTEGER.fullmatch(text) else None


def is_true(document: Json, name: str) -> bool:
    """Return whether a value is true, as a boolean or as its text."""
    return str(document.get(name)).strip(BLANKS).lower() == "true"


def objects_of(document: Json, name: str) -> list[Json]:
    """Return the JSON objects of a list, or the only one where it came alone."""
    values = document.get(name)
    if isinstance(values, dict):
        return [values]
    return [value for value in values if isinstance(value, dict)] if isinstance(values, list) else []


def errors_of(document: Json, status: int) -> list[Message]:
    """Return the messages that refuse the request: the errors, and where an HTTP error has none, whatever it says."""
    messages = messages_of(document)
    errors = [each for each in messages if each.kind == "ERROR"]
    return errors or (messages if status >= FIRST_ERROR_STATUS else [])


def messages_of(document: Json) -> list[Message]:
    """Return the carrier's messages, in any of the forms that it is known to use."""
    found = [
        Message(string_of(m, "id"), string_of(m, "type"), string_of(m, "messageContent"), _values(m))
        for m in objects_of(document, "messages")
    ]
    found += [Message(string_of(m, "code"), "ERROR", string_of(m, "message")) for m in objects_of(document, "errors")]
    if document.get("error"):
        found.append(Message("", "ERROR", string_of(document, "message") or string_of(document, "error")))
    if string_of(document, "messageContent"):
        kind = string_of(document, "type") or "ERROR"
        found.append(Message(string_of(document, "id"), kind, string_of(document, "messageContent")))
    if string_of(document, "errorCode") not in ("", "0"):
        found.append(Message(string_of(document, "errorCode"), "ERROR", string_of(document, "errorLabel")))
    return found


def _values(message: Json) -> tuple[str, ...]:
    """Return the texts among a message's values, or the only one where it came alone."""
    values = message.get("replacementValues")
    return tuple(value for value in (values if isinstance(values, list) else [values]) if isinstance(value, str))


def error_of(
    errors: Sequence[Message], answer: Answer, *, index: int = 0, unknown: type[CarrierError] | None = None
) -> CarrierError:
    """Return the error for the first documented code, `unknown` without one, by default the request's own."""
    redactor, status = answer.request.redactor, answer.status
    found = [
        refusal.error_of(
            # A documented code is no secret, though postal codes of France look like it.
            CARRIER,
            refusal.field.replace("[]", f"[{index}]"),
            message.code,
            redactor.text(message.text),
        )
        for message in errors
        if (refusal := refusal_of(message.code))
    ]
    if found:
        first, *others = found
        if isinstance(first, Rejected):
            first.others = tuple(error for error in others if isinstance(error, Rejected))
        return first
    code, text = redactor.code(errors[0].code), redactor.text(errors[0].text)
    if status in REFUSED_CREDENTIALS:
        problem = f"its service answered HTTP {status}"
        return CredentialsRejected(CARRIER, problem, carrier_code=code, carrier_text=text)
    # A single request may cause an undocumented code, so it does not count towards the circuit breaker.
    is_failing = status >= FIRST_FAILURE_STATUS
    problem = f"the error code {code} is not documented" if code else "the answer has no error code"
    error = unknown or answer.request.unanswered_error
    return error(CARRIER, problem, carrier_code=code, carrier_text=text, is_carrier_failing=is_failing)

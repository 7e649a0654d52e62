"""The client of beta, the postal carrier: JSON requests, multipart answers, one call for each parcel, no queries."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import Any, Final

from carriers import pdf
from carriers.base import Carrier
from carriers.beta import messages as beta_message
from carriers.beta.messages import CARRIER
from carriers.errors import (
    AddressRejected,
    CarrierError,
    CarrierUnavailable,
    CredentialsRejected,
    PickupPointRejected,
    ProductNotInContract,
    RequestRejected,
)
from carriers.http import multipart
from carriers.http.connections import Deadline
from carriers.http.messages import Answer, Request, UnreadableError
from carriers.redaction import Redactor
from carriers.shipment import Credentials, CredentialsShape, Party, PurchasedLabel, Shipment

PURCHASE: Final = "generateLabel"
ANSWER_BLOCKS: Final = ("labelV2Response", "labelV31Response")
OK: Final = 200
FIRST_ERROR_STATUS: Final = 400
FIRST_FAILURE_STATUS: Final = 500
MAX_JSON_BYTES: Final = 256 * 1024
MAX_WARNINGS: Final = 20

_CODES_BY_ERROR: Final[Mapping[type[CarrierError], str]] = MappingProxyType(
    {
        CredentialsRejected: "30000 30007 30008",
        ProductNotInContract: "30009 30700",
        # 30109 is listed with the product and with the sender's address; it means the product from that address.
        RequestRejected: "30014 30015 30318 30213 30109 30002 30010 30018 30220 30221 30222 30223 30300 30301"
        " 30562 30600 " + " ".join(map(str, range(30500, 30555))),
        AddressRejected: "30100 30102 30103 30104 30106 30107 30108"
        " 30200 30202 30204 30206 30207 30208 30210 30211 30212",
        PickupPointRejected: "30400 30401 30402 30403 30900 30901 30902 30903 30904",
        CarrierUnavailable: "1 30701 40011 40012 40013 40014 40015 40016 40017 40018",
    }
)
ERRORS: Final[Mapping[str, type[CarrierError]]] = MappingProxyType(
    {code: error for error, codes in _CODES_BY_ERROR.items() for code in codes.split()}
)
FAILURE_PREFIX: Final = "ROUTING_"

_TRACKING_NUMBER: Final = re.compile(r"[A-Za-z0-9]{1,35}")
_HEADER_VALUE: Final = re.compile(r"[!-~]+")


@dataclass(frozen=True)
class _Parcel:
    number: str
    pdf: bytes
    warnings: tuple[str, ...]


@dataclass(frozen=True)
class _Message:
    code: str
    kind: str
    text: str


class Beta(Carrier):
    """Buys labels at beta's label service; unused ones are not billed, and none can be found again."""

    name = CARRIER
    purchase_operation = PURCHASE
    max_parcels = beta_message.MAX_PARCELS
    max_reference_length = beta_message.REFERENCE_LENGTH
    pickup_point_code = beta_message.PICKUP_POINT_CODE
    pickup_point_form = "6 digits"
    product_code = re.compile(r"[A-Za-z0-9]{1,8}")
    has_services = False
    max_goods_length = beta_message.DESCRIPTION_LENGTH
    credentials_shape = CredentialsShape(
        re.compile(r"[A-Za-z0-9]{1,64}"),
        re.compile(r"[!-~]{1,200}"),
        "a contract number of letters and digits, and a password or an API key of printable ASCII without spaces",
        takes_api_key=True,
    )

    @staticmethod
    def check_sender(party: Party) -> None:
        """Raise Rejected for a sender that the carrier cannot print."""
        beta_message.check_sender(party)

    def create_label(self, shipment: Shipment, credentials: Credentials) -> PurchasedLabel:
        """Buy a label, parcel by parcel within one deadline; raises CarrierError only.

        If a parcel fails, the error's `made_numbers` are those bought before it.
        """
        _check_credentials(credentials)
        letters = beta_message.letters(shipment)
        redactor = Redactor(credentials, shipment)
        url = f"{self._endpoint.url.rstrip('/')}/{PURCHASE}"
        made: list[_Parcel] = []
        with self._call(PURCHASE) as deadline:
            for rank, letter in enumerate(letters, 1):
                followers = _numbers(made)
                body = beta_message.message(letter, credentials, rank, len(letters), followers)
                request = Request(PURCHASE, url, _encoded(body), _headers(credentials))
                read = partial(_read, redactor=redactor, followers=followers)
                made.append(self._buy(request, deadline, read, followers))
            pdfs = [parcel.pdf for parcel in made]
            merged = self._merge(pdfs, _numbers(made), deadline)
        warnings = dict.fromkeys(warning for parcel in made for warning in parcel.warnings)
        return PurchasedLabel(_numbers(made), merged, tuple(warnings))

    def _buy(self, request: Request, deadline: Deadline, read: partial[_Parcel], made: tuple[str, ...]) -> _Parcel:
        try:
            return self._exchange(request, deadline, read)
        except CarrierError as error:
            error.made_numbers = (*made, *error.made_numbers)
            raise


def _check_credentials(credentials: Credentials) -> None:
    """Refuse credentials that cannot be sent, so that they do not look like a failure of the carrier."""
    if credentials.api_key and not _HEADER_VALUE.fullmatch(credentials.api_key):
        raise CredentialsRejected(CARRIER, "an API key is of printable ASCII")
    if not credentials.api_key and not (credentials.account_number and credentials.password):
        raise CredentialsRejected(CARRIER, "a contract number with its password, or an API key, is needed")


def _headers(credentials: Credentials) -> Mapping[str, str]:
    headers = {"Content-Type": "application/json"}
    return headers | {"apiKey": credentials.api_key} if credentials.api_key else headers


def _encoded(body: beta_message.Json) -> bytes:
    return json.dumps(body, ensure_ascii=False, allow_nan=False).encode()


def _numbers(parcels: Sequence[_Parcel]) -> tuple[str, ...]:
    return tuple(parcel.number for parcel in parcels)


def _read(answer: Answer, *, redactor: Redactor, followers: tuple[str, ...] = ()) -> _Parcel:
    """Return the parcel of an answer; raises the error of its messages, UnreadableError if there is none."""
    parts = multipart.parts_by_id(answer) if multipart.is_multipart(answer) else {"jsonInfos": answer.body}
    document = _document(parts.get("jsonInfos", b""))
    messages = _messages(document)
    number = _number(document)
    made = (number,) if number else ()
    errors = [m for m in messages if m.kind == "ERROR" or answer.status >= FIRST_ERROR_STATUS]
    if errors and not made:
        raise _refusal(errors, answer.status, redactor)
    if errors or answer.status != OK or not made:
        raise UnreadableError("the answer is neither a label nor a refusal", made)
    if not parts.get("label"):
        raise UnreadableError("the answer has no label", made)
    if number in followers:
        raise UnreadableError("the answer repeats the number of another parcel", made)
    warnings = [redactor.text(message.text) for message in messages if message.kind == "WARNING"]
    try:
        return _Parcel(number, pdf.checked(parts["label"]), tuple(warnings[:MAX_WARNINGS]))
    except UnreadableError as error:
        raise UnreadableError(str(error), made) from None


def _document(content: bytes) -> Mapping[str, Any]:
    if len(content) > MAX_JSON_BYTES:
        raise UnreadableError("the JSON is too long")
    try:
        document = json.loads(content)
    except (ValueError, RecursionError):
        raise UnreadableError("the answer is not readable JSON") from None
    if not isinstance(document, dict):
        raise UnreadableError("the JSON is not an object")
    return document


def _number(document: Mapping[str, Any]) -> str:
    for name in ANSWER_BLOCKS:
        block = document.get(name)
        number = block.get("parcelNumber") if isinstance(block, dict) else None
        if isinstance(number, str) and _TRACKING_NUMBER.fullmatch(number):
            return number
    return ""


def _messages(document: Mapping[str, Any]) -> list[_Message]:
    """Return the carrier's messages, in any of the forms that it is known to use."""
    found = [
        _Message(_string(m, "id"), _string(m, "type"), _string(m, "messageContent"))
        for m in _objects(document, "messages")
    ]
    found += [_Message(_string(m, "code"), "ERROR", _string(m, "message")) for m in _objects(document, "errors")]
    if document.get("error"):
        found.append(_Message("", "ERROR", _string(document, "message") or _string(document, "error")))
    if _string(document, "messageContent"):
        kind = _string(document, "type") or "ERROR"
        found.append(_Message(_string(document, "id"), kind, _string(document, "messageContent")))
    if _string(document, "errorCode") not in ("", "0"):
        found.append(_Message(_string(document, "errorCode"), "ERROR", _string(document, "errorLabel")))
    return found


def _objects(document: Mapping[str, Any], name: str) -> list[Mapping[str, Any]]:
    values = document.get(name)
    return [value for value in values if isinstance(value, dict)] if isinstance(values, list) else []


def _string(document: Mapping[str, Any], name: str) -> str:
    value = document.get(name)
    return str(value) if isinstance(value, str | int) else ""


def _refusal(errors: Sequence[_Message], status: int, redactor: Redactor) -> CarrierError:
    """Return the error for the first documented code; without one it is a failure of the carrier."""
    message = next((m for m in errors if _documented(m.code)), errors[0])
    documented = _documented(message.code)
    error = documented or CarrierUnavailable
    # A single request may cause an undocumented code, so it does not count towards the circuit breaker.
    is_failing = documented is CarrierUnavailable or (documented is None and status >= FIRST_FAILURE_STATUS)
    return error(
        CARRIER,
        carrier_code=redactor.code(message.code),
        carrier_text=redactor.text(message.text),
        is_carrier_failing=is_failing,
    )


def _documented(code: str) -> type[CarrierError] | None:
    return CarrierUnavailable if code.startswith(FAILURE_PREFIX) else ERRORS.get(code)

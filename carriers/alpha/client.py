"""The client of alpha, the express carrier: SOAP, one call for each label, and parcels can be found again."""

import base64
import re
from collections.abc import Iterable, Mapping
from functools import partial
from types import MappingProxyType
from typing import Final
from xml.etree.ElementTree import Element

from carriers import pdf
from carriers.alpha import messages as alpha_message
from carriers.alpha.messages import CARRIER, SHIPPING_NAMESPACE
from carriers.base import Carrier
from carriers.errors import (
    AddressRejected,
    CarrierError,
    CarrierUnavailable,
    CredentialsRejected,
    ProductNotInContract,
    RequestRejected,
)
from carriers.http import soap
from carriers.http.messages import Answer, Request, UnreadableError
from carriers.redaction import Redactor
from carriers.shipment import Credentials, CredentialsShape, Party, PurchasedLabel, Shipment

TRACKING_NAMESPACE: Final = "http://cxf.tracking.soap.chronopost.fr/"
FIND: Final = "trackWithSenderRef"
FETCH: Final = "getReservedSkybillWithTypeAndModeAuth"
LANGUAGE: Final = "fr_FR"
HEADERS: Final = MappingProxyType({"Content-Type": "text/xml; charset=utf-8", "SOAPAction": '""'})
OK: Final = 200

ERRORS: Final[Mapping[int, type[CarrierError]]] = MappingProxyType(
    {
        1: CarrierUnavailable,
        29: CarrierUnavailable,
        30: CredentialsRejected,
        31: RequestRejected,
        32: RequestRejected,
        33: RequestRejected,
        34: RequestRejected,
        35: RequestRejected,
        36: CarrierUnavailable,
        37: CarrierUnavailable,
        38: AddressRejected,
    }
)
# Code 33 has two meanings; only its text tells them apart.
AMBIGUOUS_CODE: Final = 33
_CONTRACT_WORDS: Final = re.compile(r"\b(contract|contrat|account|compte|product|produit)", re.IGNORECASE)

_ACCOUNT_NUMBER: Final = re.compile(r"[0-9]{8}")
_PASSWORD: Final = re.compile(r"[0-9]{6}")
_TRACKING_NUMBER: Final = re.compile(r"[A-Za-z0-9]{1,35}")
_ERROR_CODE: Final = re.compile(r"-?[0-9]{1,9}")


class Alpha(Carrier):
    """Buys labels at alpha's shipping service; without a tracking URL parcels cannot be found again."""

    name = CARRIER
    purchase_operation = alpha_message.PURCHASE
    max_parcels = alpha_message.MAX_PARCELS
    max_reference_length = alpha_message.REFERENCE_LENGTH
    pickup_point_code = alpha_message.PICKUP_POINT_CODE
    pickup_point_form = "4 digits and a capital letter"
    product_code = re.compile(r"[A-Za-z0-9]{2}")
    has_services = True
    max_goods_length = alpha_message.CONTENT_LENGTH
    credentials_shape = CredentialsShape(
        _ACCOUNT_NUMBER, _PASSWORD, "an account number of 8 digits and a password of 6 digits", takes_api_key=False
    )

    @staticmethod
    def check_sender(party: Party) -> None:
        """Raise Rejected for a sender that the carrier cannot print."""
        alpha_message.check_sender(party)

    @property
    def can_be_asked(self) -> bool:
        """Return true if there is a tracking service."""
        return self._endpoint.tracking_url is not None

    def create_label(self, shipment: Shipment, credentials: Credentials) -> PurchasedLabel:
        """Buy a label for all parcels in one call; raises CarrierError only."""
        _check_credentials(credentials)
        body = alpha_message.purchase(shipment, credentials)
        request = Request(alpha_message.PURCHASE, self._endpoint.url, body, HEADERS)
        read = partial(_read_purchase, count=len(shipment.packages), redactor=Redactor(credentials, shipment))
        with self._call(request.operation) as deadline:
            numbers, pdfs = self._exchange(request, deadline, read)
            return PurchasedLabel(numbers, self._merge(pdfs, numbers, deadline))

    def find_by_reference(self, shipment_id: str, credentials: Credentials) -> tuple[str, ...]:
        """Ask the tracking service; it shows at most ten parcels, and may show a new one only after minutes."""
        if self._endpoint.tracking_url is None:
            raise CarrierUnavailable(CARRIER, "it has no tracking service to ask")
        _check_credentials(credentials)
        fields = (
            ("accountNumber", credentials.account_number),
            ("password", credentials.password),
            ("language", LANGUAGE),
            ("sendersRef", shipment_id),
        )
        request = _query(self._endpoint.tracking_url, FIND, TRACKING_NAMESPACE, fields)
        with self._call(FIND) as deadline:
            return self._exchange(request, deadline, partial(_read_found, redactor=Redactor(credentials)))

    def fetch_label(self, tracking_numbers: tuple[str, ...], credentials: Credentials) -> bytes:
        """Return the PDFs of existing parcels, merged in the order given."""
        _check_credentials(credentials)
        read = partial(_read_fetched, redactor=Redactor(credentials))
        with self._call(FETCH) as deadline:
            pdfs = [self._exchange(self._fetch(number, credentials), deadline, read) for number in tracking_numbers]
            return self._merge(pdfs, tracking_numbers, deadline, error_class=CarrierUnavailable)

    def _fetch(self, tracking_number: str, credentials: Credentials) -> Request:
        fields = (
            ("numberSearch", tracking_number),
            ("mode", alpha_message.LABEL_MODE),
            ("accountNumber", credentials.account_number),
            ("password", credentials.password),
        )
        return _query(self._endpoint.url, FETCH, SHIPPING_NAMESPACE, fields)


def _check_credentials(credentials: Credentials) -> None:
    """Refuse credentials that the service answers with a SOAP fault, which looks like an outage."""
    if not _ACCOUNT_NUMBER.fullmatch(credentials.account_number):
        raise CredentialsRejected(CARRIER, "an account number has 8 digits")
    if not _PASSWORD.fullmatch(credentials.password):
        raise CredentialsRejected(CARRIER, "a password has 6 digits")


def _query(url: str, operation: str, namespace: str, fields: Iterable[tuple[str, str]]) -> Request:
    body = soap.envelope(operation, namespace, [soap.leaf(*field) for field in fields])
    return Request(operation, url, body, HEADERS, unanswered_error=CarrierUnavailable)


def _read_purchase(answer: Answer, *, count: int, redactor: Redactor) -> tuple[tuple[str, ...], list[bytes]]:
    result = _result(answer, alpha_message.PURCHASE, redactor)
    parcels = list(soap.children(result, "resultMultiParcelValue"))
    numbers = tuple(filter(None, map(_number, parcels)))
    _check_code(result, redactor, numbers)
    if not len(parcels) == len(set(numbers)) == count:
        raise UnreadableError("the answer does not name a different number for each parcel", numbers)
    try:
        return numbers, [_pdf(parcel, "pdfEtiquette") for parcel in parcels]
    except UnreadableError as error:
        raise UnreadableError(str(error), numbers) from None


def _read_found(answer: Answer, *, redactor: Redactor) -> tuple[str, ...]:
    result = _result(answer, FIND, redactor)
    _check_code(result, redactor)
    # The tracking system may list a parcel several times, with one history each.
    return tuple(dict.fromkeys(filter(None, map(_number, soap.children(result, "listParcel")))))


def _read_fetched(answer: Answer, *, redactor: Redactor) -> bytes:
    result = _result(answer, FETCH, redactor)
    _check_code(result, redactor)
    return _pdf(result, "skybill")


def _result(answer: Answer, operation: str, redactor: Redactor) -> Element:
    """Return the `return` element of an operation's answer; a SOAP fault means that nothing was made."""
    body = soap.body_of(answer.body)
    if soap.local_name(body) == "Fault":
        # A single request may have caused it, so it does not count towards the circuit breaker.
        code, text = soap.fault_code(body), soap.text(body, "faultstring")
        raise CarrierUnavailable(CARRIER, carrier_code=redactor.code(code), carrier_text=redactor.text(text))
    result = soap.child(body, "return") if soap.local_name(body) == f"{operation}Response" else None
    if answer.status != OK or result is None:
        raise UnreadableError("the answer is not one to this request")
    return result


def _check_code(result: Element, redactor: Redactor, numbers: tuple[str, ...] = ()) -> None:
    """Raise the error that a code other than 0 stands for."""
    code = soap.text(result, "errorCode")
    if not _ERROR_CODE.fullmatch(code):
        raise UnreadableError("the answer has no error code", numbers)
    if int(code) == 0:
        return
    if numbers:
        raise UnreadableError("the answer has both an error code and a parcel", numbers)
    raise _refusal(int(code), soap.text(result, "errorMessage"), redactor)


def _refusal(code: int, text: str, redactor: Redactor) -> CarrierError:
    """Return the error for a code; an undocumented one is a failure, but a single request may cause it."""
    error = ERRORS.get(code, CarrierUnavailable)
    if code == AMBIGUOUS_CODE and _CONTRACT_WORDS.search(text):
        error = ProductNotInContract
    return error(
        CARRIER,
        carrier_code=str(code),
        carrier_text=redactor.text(text),
        is_carrier_failing=ERRORS.get(code) is CarrierUnavailable,
    )


def _number(parcel: Element) -> str:
    number = soap.text(parcel, "skybillNumber")
    return number if _TRACKING_NUMBER.fullmatch(number) else ""


def _pdf(parent: Element, name: str) -> bytes:
    encoded = "".join(soap.text(parent, name).split())
    if not encoded:
        raise UnreadableError("the answer has no label")
    try:
        content = base64.b64decode(encoded, validate=True)
    except ValueError:
        raise UnreadableError("the label is not base64") from None
    return pdf.checked(content)

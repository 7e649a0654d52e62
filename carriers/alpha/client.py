"""The client of alpha, the express carrier: SOAP, one call for each label, and parcels can be found again."""

import re
from collections.abc import Callable, Sequence
from datetime import date
from functools import partial
from typing import Final, TypeVar
from xml.etree.ElementTree import Element

from carriers.alpha import messages as alpha_message
from carriers.alpha import points, quickcost
from carriers.alpha.answers import NOT_TO_THIS_REQUEST, OK, check_code, number_of, pdf_of, result_of, success_of
from carriers.alpha.parties import CARRIER, SHAPE, Fields, contract, sender
from carriers.alpha.refusals import CANCELLATION_REFUSALS
from carriers.base import Carrier
from carriers.client import Service
from carriers.customs import shares_by_parcel
from carriers.errors import CarrierUnavailable, OutcomeUnknown, PickupPointRejected, ProductNotInContract
from carriers.http import soap
from carriers.http.connections import Deadline
from carriers.http.transport import Answer, Request, UnreadableError
from carriers.itinerary import destination, route_of
from carriers.pickup_points import PointQuery
from carriers.redaction import Redactor
from carriers.shipment import DEFAULT_FORMAT, Credentials, PickupPoint, PurchasedLabel, Shipment
from carriers.trials import SAMPLES, Finding, Terms

# Of its services, by the names of their URLs.
NAMESPACES: Final = {
    "url": alpha_message.NAMESPACE,
    "tracking_url": "http://cxf.tracking.soap.chronopost.fr/",
    "points_url": "http://cxf.rechercheBt.soap.chronopost.fr/",
    "quickcost_url": "http://cxf.quickcost.soap.chronopost.fr/",
}
FIND: Final = "trackWithSenderRef"
CANCEL: Final = "cancelSkybill"
PROVE: Final = "searchPOD"
FETCH: Final = "getReservedSkybillWithTypeAndModeAuth"
LANGUAGE: Final = "fr_FR"
HEADERS: Final = {"Content-Type": "text/xml; charset=utf-8", "SOAPAction": '""'}

T = TypeVar("T")


class Alpha(Carrier):
    """Buys labels at alpha's shipping service.

    Without a tracking URL parcels cannot be found again or cancelled, without a points URL none goes to a relay.
    """

    name = CARRIER
    services = (*Carrier.services, Service.CANCELLATION, Service.REPRINTS)
    purchase_operation = alpha_message.PURCHASE
    points_operations = (points.LOOK_UP, points.LOOK_UP_ABROAD, points.SEARCH, points.SEARCH_ABROAD)
    search_operation = points.SEARCH
    max_parcels = alpha_message.MAX_PARCELS
    max_reference_length = alpha_message.REFERENCE_LENGTH
    pickup_point_code = points.PICKUP_POINT_CODE
    pickup_point_form = "4 digits and a letter"
    check_sender = staticmethod(sender)
    printed_goods = staticmethod(alpha_message.printed_goods)
    goods_by_parcel = staticmethod(shares_by_parcel)
    sells = staticmethod(points.sells)
    product_code = re.compile(r"[A-Za-z0-9]{2}")
    has_services = True
    proves_deliveries = True
    finds_parcels = True
    credentials_shape = SHAPE

    def _message(self, shipment: Shipment, credentials: Credentials, point: PickupPoint | None = None) -> bytes:
        return alpha_message.purchase(shipment, credentials, point)

    def _buy(self, message: bytes, shipment: Shipment, credentials: Credentials, deadline: Deadline) -> PurchasedLabel:
        """Buy a label for all parcels in one call."""
        redactor, read = Redactor(credentials, shipment), partial(_read_purchase, count=len(shipment.packages))
        request = Request(alpha_message.PURCHASE, self._endpoint.url, message, HEADERS, redactor)
        return self._exchange(request, deadline, read)

    def _try_at_carrier(
        self, shipment: Shipment, credentials: Credentials, point: PickupPoint | None, deadline: Deadline
    ) -> None:
        heaviest_kg, to = max(package.weight_kg for package in shipment.packages), destination(shipment, point)
        fields = quickcost.products_fields(shipment.sender, to, credentials, heaviest_kg)
        sold = self._products_sold(fields, credentials, Redactor(credentials, shipment), deadline)
        if not {route_of(shipment, package).carrier_code for package in shipment.packages} <= sold:
            problem = "the carrier does not sell it for this destination and weight"
            raise ProductNotInContract(CARRIER, problem, field="productCode")

    def _delivery_day(
        self, shipment: Shipment, credentials: Credentials, point: PickupPoint | None, deadline: Deadline
    ) -> date | None:
        fields = quickcost.delivery_fields(shipment, point)
        if fields is None:
            return None
        request = self._query("quickcost_url", quickcost.DELIVERY, fields, Redactor(credentials, shipment))
        return self._ask(request, credentials, quickcost.read_day, deadline, service=Service.CONTRACT_CHECKS)

    def _products_sold(
        self, fields: Fields, credentials: Credentials, redactor: Redactor, deadline: Deadline
    ) -> frozenset[str]:
        request = self._query("quickcost_url", quickcost.PRODUCTS_SOLD, fields, redactor)
        return self._ask(request, credentials, quickcost.read_codes, deadline, service=Service.CONTRACT_CHECKS)

    def find_by_reference(self, shipment_id: str, credentials: Credentials) -> tuple[str, ...]:
        """Ask the tracking service; it shows at most ten parcels, and may show a new one only after an hour."""
        return self._ask_tracking(FIND, credentials, _read_found, ("sendersRef", shipment_id))

    def fetch_label(
        self, reservation_number: str, credentials: Credentials, label_format: str = DEFAULT_FORMAT
    ) -> bytes:
        """Return the PDF of all parcels of a reservation; a parcel's own number finds none."""
        mode = alpha_message.LABEL_MODES[label_format]
        fields = (("numberSearch", reservation_number), ("mode", mode), *contract(credentials))
        request = self._query("url", FETCH, fields, Redactor(credentials))
        return self._ask(
            request, credentials, lambda answer: pdf_of(success_of(answer), "skybill"), service=Service.REPRINTS
        )

    def cancel(self, tracking_number: str, credentials: Credentials, deadline: Deadline | None = None) -> None:
        """Cancel one parcel; raises CancellationRefused, or OutcomeUnknown if it may be cancelled."""
        read = partial(success_of, refusals=CANCELLATION_REFUSALS)
        self._ask_tracking(CANCEL, credentials, read, ("skybillNumber", tracking_number), deadline=deadline)

    def proof_of_delivery(self, tracking_number: str, credentials: Credentials) -> bytes | None:
        """Ask the tracking service for the proof as a PDF."""
        asked = (("skybillNumber", tracking_number), ("pdf", "true"))
        return self._ask_tracking(PROVE, credentials, _read_proof, *asked)

    def check_contract(self, terms: Terms, credentials: Credentials) -> list[Finding]:
        """Ask for the contract's products to each sample's place; raises CredentialsRejected or CarrierUnavailable."""
        deadline, codes = Deadline(self._timeout_s), set[str]()
        for sample in SAMPLES:
            fields = quickcost.products_fields(terms.sender, sample, credentials)
            codes |= self._products_sold(fields, credentials, Redactor(credentials), deadline)
        return quickcost.findings(terms, codes)

    def _ask_tracking(
        self,
        operation: str,
        credentials: Credentials,
        read: Callable[[Answer], T],
        *asked: tuple[str, str],
        deadline: Deadline | None = None,
    ) -> T:
        fields = (*contract(credentials), ("language", LANGUAGE), *asked)
        request = self._query("tracking_url", operation, fields, Redactor(credentials))
        return self._ask(request, credentials, read, deadline, service=Service.CANCELLATION)

    def _search_points(self, near: PointQuery, credentials: Credentials, deadline: Deadline) -> list[PickupPoint]:
        operation, redactor = points.search_operation(near.carrier_code), Redactor(credentials, personal=near.words)
        request = self._query("points_url", operation, points.search(near, credentials), redactor)
        return self._exchange(request, deadline, partial(points.read_points, query=near))

    def _find_point(self, shipment: Shipment, credentials: Credentials, deadline: Deadline) -> PickupPoint:
        code = shipment.pickup_point_code
        # The codes of two relays may differ in the letter's case alone, so the order's own spelling comes first.
        try:
            return self._look_up(code, shipment, credentials, deadline)
        except PickupPointRejected:
            if code == code.upper():
                raise
        return self._look_up(code.upper(), shipment, credentials, deadline)

    def _look_up(self, code: str, shipment: Shipment, credentials: Credentials, deadline: Deadline) -> PickupPoint:
        country_code = shipment.recipient.country_code
        operation, fields = points.operation_for(country_code), points.look_up(code, country_code, credentials)
        request = self._query("points_url", operation, fields, Redactor(credentials, shipment))
        return self._exchange(request, deadline, partial(points.read_point, code=code, country_code=country_code))

    def _query(self, service: str, operation: str, fields: Fields, redactor: Redactor) -> Request:
        """Return a call that buys nothing, of the service with the URL of this name."""
        body = soap.envelope(operation, NAMESPACES[service], fields)
        unanswered_error = OutcomeUnknown if operation == CANCEL else CarrierUnavailable
        return Request(operation, self._url(service), body, HEADERS, redactor, unanswered_error)


def _read_purchase(answer: Answer, *, count: int) -> PurchasedLabel:
    result = result_of(answer, is_of_any_status=True)  # its label is kept
    parcels = soap.records(result, "resultMultiParcelValue")
    numbers = tuple(filter(None, map(number_of, parcels)))
    pdfs, problem = _pdfs(parcels)
    made = PurchasedLabel(numbers, pdfs, reservation_number=number_of(result, "reservationNumber"))
    if not len(parcels) == len(set(numbers)) == count:
        problem = "the answer does not name a different number for each parcel"
    if answer.status != OK:
        raise UnreadableError(NOT_TO_THIS_REQUEST, made)
    try:
        check_code(result, answer.request, is_label=bool(numbers or pdfs))
    except UnreadableError as error:
        problem = str(error)
    if problem:
        raise UnreadableError(problem, made)
    return made


def _pdfs(parcels: Sequence[Element]) -> tuple[dict[str, bytes], str]:
    """Return the PDFs that can be read, by name, and what is wrong with another."""
    pdfs: dict[str, bytes] = {}
    problem = ""
    for rank, parcel in enumerate(parcels, 1):
        number = number_of(parcel)
        name = number if number and number not in pdfs else f"parcel-{rank}"
        try:
            pdfs[name] = pdf_of(parcel, "pdfEtiquette")
        except UnreadableError as error:
            problem = str(error)
    return pdfs, problem


def _read_found(answer: Answer) -> tuple[str, ...]:
    result = success_of(answer)
    # The tracking system may list a parcel several times, with one history each.
    numbers = tuple(dict.fromkeys(map(number_of, soap.records(result, "listParcel"))))
    if "" in numbers:
        raise UnreadableError("the answer lists a parcel without a number")
    return numbers


def _read_proof(answer: Answer) -> bytes | None:
    result = result_of(answer)
    # The page lists no error code among its fields.
    if soap.text(result, "errorCode") or not soap.text(result, "podPresente"):
        check_code(result, answer.request)
    return pdf_of(result, "pod") if soap.is_true(result, "podPresente") else None

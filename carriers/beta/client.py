"""The client of beta, the postal carrier: JSON requests, multipart answers, one call for each parcel, no queries."""

import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import date
from functools import partial
from threading import Lock
from typing import Any, Final, TypeVar

from cachetools import TTLCache, cachedmethod

from carriers.base import Carrier
from carriers.beta import account, contract_checks, deposit_slips, points
from carriers.beta import messages as beta_message
from carriers.beta.answers import joined, read_check, read_parcel
from carriers.beta.customs import printed_goods
from carriers.beta.parties import CARRIER, SHAPE, check_credentials, sender
from carriers.client import Service
from carriers.customs import items_by_parcel
from carriers.errors import CarrierError, CarrierUnavailable, CredentialsRejected, PickupPointRejected, Rejected
from carriers.http.connections import Deadline
from carriers.http.transport import Answer, Request
from carriers.itinerary import shipping_day
from carriers.pickup_points import DAY_S, PointQuery
from carriers.products import MAINLAND
from carriers.redaction import Redactor
from carriers.shipment import Credentials, DepositSlip, PickupPoint, PurchasedLabel, Shipment, form_of
from carriers.trials import Finding, Terms

VERDICT_S: Final = 300
MAX_VERDICTS: Final = 1000

T = TypeVar("T")
Bodies = list[beta_message.Json]  # one for each parcel


class Beta(Carrier):
    """Buys labels at beta's label service; unused ones are not billed, and none can be found again."""

    name = CARRIER
    services = (*Carrier.services, Service.DEPOSIT_SLIPS)
    purchase_operation = beta_message.PURCHASE
    points_operations = (points.LOOK_UP, points.SEARCH)
    search_operation = points.SEARCH
    bills_unused_labels = False
    gives_customs_forms = True
    has_call_for_each_parcel = True
    max_slip_parcels = deposit_slips.MAX_PARCELS
    max_parcels = beta_message.MAX_PARCELS
    max_reference_length = beta_message.REFERENCE_LENGTH
    pickup_point_code = points.PICKUP_POINT_CODE
    pickup_point_form = "6 digits"
    check_sender = staticmethod(sender)
    printed_goods = staticmethod(printed_goods)
    goods_by_parcel = staticmethod(items_by_parcel)
    sells = staticmethod(points.sells)
    product_code = re.compile(r"[A-Za-z0-9]{1,8}")
    has_services = False
    credentials_shape = SHAPE

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._verdicts: TTLCache[bytes, Rejected | None] = TTLCache(MAX_VERDICTS, VERDICT_S)
        self._lock = Lock()
        self._depots: TTLCache[Credentials, str] = TTLCache(MAX_VERDICTS, DAY_S)

    def _message(self, shipment: Shipment, credentials: Credentials, point: PickupPoint | None = None) -> Bodies:
        check_credentials(credentials)
        return beta_message.bodies(shipment, point)

    def _buy(self, message: Bodies, shipment: Shipment, credentials: Credentials, deadline: Deadline) -> PurchasedLabel:
        """Buy a label, parcel by parcel."""
        made: list[PurchasedLabel] = []
        numbers: tuple[str, ...] = ()
        for index, body in enumerate(message):
            own = deadline.at_most(self._timeout_s)
            links = beta_message.links(shipment, index + 1, numbers)
            linked = beta_message.message(body, shipment, credentials, links)
            request = beta_message.request(self._endpoint.url, beta_message.PURCHASE, linked, credentials, shipment)
            try:
                made.append(self._exchange(request, own, partial(read_parcel, index=index, others=numbers)))
                numbers += made[-1].tracking_numbers
            except CarrierError as error:
                error.made = joined([*made, error.made])
                raise
        label, is_declared = joined(made), any("customsDeclarations" in body["letter"] for body in message)
        is_form_missing = is_declared and any(form_of(number) not in label.pdfs for number in numbers)
        return replace(label, is_customs_form_missing=is_form_missing)

    def _try_at_carrier(
        self, shipment: Shipment, credentials: Credentials, point: PickupPoint | None, deadline: Deadline
    ) -> None:
        """Let the carrier validate the request of each parcel; an equal one is not sent again for five minutes.

        Raise all that is refused, once what several parcels are refused for alike, such as the address.
        """
        found: list[Rejected] = []
        for index, body in enumerate(self._message(shipment, credentials, point)):
            # The followers that a master names do not exist, so none is linked.
            message = beta_message.message(body, shipment, credentials)
            operation, url = contract_checks.OPERATION, self._endpoint.url
            request = beta_message.request(url, operation, message, credentials, shipment)
            try:
                refusal = self._verdict(request, credentials, index, deadline)
            except CarrierUnavailable:
                if found:
                    break
                raise
            if refusal:
                found += refusal.each
            if isinstance(refusal, CredentialsRejected):
                break
        if found:
            first, *others = {str(each): each for each in found}.values()
            raise first.with_others(others)

    @cachedmethod(lambda self: self._verdicts, key=lambda _, *asked: _digest(*asked[:3]), lock=lambda self: self._lock)
    def _verdict(self, request: Request, credentials: Credentials, index: int, deadline: Deadline) -> Rejected | None:
        read = partial(read_check, index=index)
        try:
            self._ask(request, credentials, read, deadline, service=Service.CONTRACT_CHECKS)
        except Rejected as error:
            return error
        return None

    def _delivery_day(
        self, shipment: Shipment, credentials: Credentials, point: PickupPoint | None, deadline: Deadline
    ) -> date | None:
        place, url = point or shipment.recipient, self._endpoint.delivery_url
        if url is None or place.country_code != account.COUNTRY:
            return None
        depot = self._depot(credentials, deadline)
        if not depot:
            return None
        body = account.delivery_message(place.zip_code, depot, shipping_day(shipment), credentials)
        request = beta_message.query(account.DELIVERY, url, body, Redactor(credentials, shipment))
        return self._ask(request, credentials, account.read_day, deadline, service=Service.CONTRACT_CHECKS)

    @cachedmethod(lambda self: self._depots, key=lambda _, credentials, __: credentials, lock=lambda self: self._lock)
    def _depot(self, credentials: Credentials, deadline: Deadline) -> str:
        """Return the account's depot, remembered for a day; empty without one."""
        return account.depot_of(self._ask_account(credentials, account.read_document, deadline) or {})

    def deposit_slip(self, tracking_numbers: Sequence[str], credentials: Credentials) -> DepositSlip:
        """Make a deposit slip; its PDF can't be fetched again."""
        check_credentials(credentials)
        body = deposit_slips.message(tracking_numbers, credentials)
        request = beta_message.request(self._endpoint.url, deposit_slips.OPERATION, body, credentials)
        read = partial(deposit_slips.read_slip, tracking_numbers=tracking_numbers)
        return self._ask(request, credentials, read, service=Service.DEPOSIT_SLIPS)

    def describe_account(self, credentials: Credentials) -> Mapping[str, str]:
        """Ask the account service, which makes nothing; raises CredentialsRejected or CarrierUnavailable."""
        return self._ask_account(credentials, account.read_facts) or {}

    def _ask_account(
        self, credentials: Credentials, read: Callable[[Answer], T], deadline: Deadline | None = None
    ) -> T | None:
        if self._endpoint.account_url is None:
            return None
        check_credentials(credentials)
        url, body = self._endpoint.account_url, account.message(credentials)
        request = beta_message.query(account.OPERATION, url, body, Redactor(credentials))
        return self._ask(request, credentials, read, deadline, service=Service.CONTRACT_CHECKS)

    def check_contract(self, terms: Terms, credentials: Credentials) -> list[Finding]:
        """Let the carrier validate a sample of each product; raises CredentialsRejected or CarrierUnavailable."""
        check_credentials(credentials)
        operation = contract_checks.OPERATION
        with self._call(operation, credentials, service=Service.CONTRACT_CHECKS) as deadline:

            def validate(body: beta_message.Json, sample: Shipment) -> None:
                message = beta_message.message(body, sample, credentials)
                request = beta_message.request(self._endpoint.url, operation, message, credentials, sample)
                self._exchange(request, deadline, read_check)

            return [contract_checks.finding(code, terms, validate) for code in terms.products]

    def _search_points(self, query: PointQuery, credentials: Credentials, deadline: Deadline) -> list[PickupPoint]:
        check_credentials(credentials)
        body, redactor = points.search(query, credentials), Redactor(credentials, personal=query.words)
        return self._ask_points(points.SEARCH, body, redactor, deadline, partial(points.read_points, query=query))

    def _ask_points(
        self, operation: str, body: points.Json, redactor: Redactor, deadline: Deadline, read: Callable[[Answer], T]
    ) -> T:
        url = beta_message.url_of(self._url("points_url"), operation)
        return self._exchange(beta_message.query(operation, url, body, redactor), deadline, read)

    def _find_point(self, shipment: Shipment, credentials: Credentials, deadline: Deadline) -> PickupPoint:
        """Look the point up by its code.

        Abroad that takes the point's network, which an order does not name: a search that showed the point told it.
        Else points near the recipient show it, and the point is usually among them.
        """
        redactor = Redactor(credentials, shipment)

        def look_up(network: str = "") -> PickupPoint:
            body = points.look_up(shipment, credentials, network)
            read = partial(points.read_point, shipment=shipment)
            return self._ask_points(points.LOOK_UP, body, redactor, deadline, read)

        country_code = shipment.recipient.country_code
        if country_code == points.HOME:
            return look_up()
        network = self._points.network_of((country_code, shipment.pickup_point_code))
        if network or country_code in MAINLAND:  # Monaco's may be known without one
            with suppress(PickupPointRejected):
                return look_up(network)
        body = points.search(points.query_of(shipment), credentials)
        near = self._ask_points(points.SEARCH, body, redactor, deadline, points.read_records)
        return points.point_among(near, shipment) or points.elsewhere(near, look_up)


def _digest(request: Request, credentials: Credentials, index: int) -> bytes:
    return hashlib.sha256(repr((request.body, credentials.values, index)).encode()).digest()

"""The base class of the carriers' clients."""

import re
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, replace
from datetime import date
from typing import Any, ClassVar, Final

from carriers.client import Client, Limits, Observer, Service
from carriers.customs import Goods
from carriers.data import rows_of
from carriers.errors import CarrierError, CarrierUnavailable, NotWritten
from carriers.http.connections import Deadline
from carriers.http.transport import Transport
from carriers.itinerary import shipping_day
from carriers.pickup_points import FoundPoints, PickupPointCache, PointQuery, SharedStore, check_point, nearest_first
from carriers.products import PRODUCTS
from carriers.shipment import (
    DEFAULT_FORMAT,
    Credentials,
    CredentialsShape,
    Customs,
    DepositSlip,
    Party,
    PickupPoint,
    PurchasedLabel,
    Shipment,
)
from carriers.trials import Finding, Stage, Terms, Trial

SEARCH_TIMEOUT_S: Final = 8.0  # for a search, a customer waits
# By the names of URLs that an endpoint may lack.
NO_SERVICE: Final = {
    "tracking_url": "it has no tracking service to ask",
    "points_url": "it has no pickup point service to ask",
    "quickcost_url": "it has no service to ask about products",
}


@dataclass(frozen=True)
class Endpoint:
    """A carrier's URLs; without `tracking_url` parcels cannot be found again, without `points_url` no pickup points.

    `quickcost_url` is alpha's: without it a contract's products cannot be asked for. `account_url` is beta's: without
    it nothing is known of an account. `delivery_url` is beta's, too: with both, days of delivery are known.
    """

    url: str
    tracking_url: str | None = None
    points_url: str | None = None
    quickcost_url: str | None = None
    account_url: str | None = None
    delivery_url: str | None = None


class Carrier(Client):
    """A carrier's client for labels, given a shop's credentials with each call.

    A subclass declares the carrier's facts, builds and reads its messages, and sends them with `_call` and `_exchange`.
    """

    services: ClassVar[tuple[Service, ...]] = (Service.SHIPPING, Service.PICKUP_POINTS, Service.CONTRACT_CHECKS)
    purchase_operation: ClassVar[str]  # as log lines and metrics name it
    points_operations: ClassVar[tuple[str, ...]]  # as above; a call that the circuit breaker refuses has the first
    search_operation: ClassVar[str]  # of points, as above
    bills_unused_labels: ClassVar[bool] = True  # else nothing has to be cancelled at the carrier, nor decided
    max_slip_parcels: ClassVar[int] = 0  # on a deposit slip; 0 where the carrier makes none
    gives_customs_forms: ClassVar[bool] = False  # with a parcel's label, once
    proves_deliveries: ClassVar[bool] = False
    has_call_for_each_parcel: ClassVar[bool] = False
    finds_parcels: ClassVar[bool] = False  # by the shipment's id, at its tracking service
    max_parcels: ClassVar[int]
    max_reference_length: ClassVar[int]
    pickup_point_code: ClassVar[re.Pattern[str]]
    pickup_point_form: ClassVar[str]
    product_code: ClassVar[re.Pattern[str]]
    has_services: ClassVar[bool]  # true if a product is a code and a service
    credentials_shape: ClassVar[CredentialsShape]
    # The carrier's own rules, as static methods.
    check_sender: Callable[[Party], object]  # raises Rejected for one that the carrier cannot print
    printed_goods: Callable[[str, str], str]  # of words and their path; raises RequestRejected
    goods_by_parcel: Callable[[str, Shipment, Customs], Goods]  # that are declared; raises RequestRejected
    sells: Callable[[str, PickupPoint], bool]  # a product, by its code, to points of this kind

    def __init__(
        self,
        endpoint: Endpoint,
        limits: Limits | None = None,
        transport: Transport | None = None,
        observer: Observer | None = None,
        shared: SharedStore | None = None,
    ) -> None:
        limits = limits or Limits()
        super().__init__(limits, transport or Transport(pool_size=limits.pool_size), observer)
        self._points = PickupPointCache(shared)
        self._endpoint = endpoint

    @classmethod
    def sandbox_endpoint(cls, url: str) -> Endpoint:
        """Return the services of the sandbox at this address, by the settings that take their URLs."""
        own = f"{cls.name}_"
        paths = {row["setting"].lower(): row["path"] for row in rows_of("sandbox/services.csv")}
        return Endpoint(**{name.removeprefix(own): url + paths[name] for name in paths if name.startswith(own)})

    def _url(self, name: str) -> str:
        """Return one of the endpoint's URLs; raises CarrierUnavailable if it is not known."""
        url: str | None = getattr(self._endpoint, name)
        if url is None:
            raise CarrierUnavailable(self.name, NO_SERVICE[name])
        return url

    def create_label(
        self, shipment: Shipment, credentials: Credentials, deadline: Deadline | None = None
    ) -> PurchasedLabel:
        """Buy a label, after looking up the pickup point, within the deadline, by default one that begins now.

        Each of the `call_count` calls has the client's timeout besides. Raises CarrierError only. If a parcel fails,
        the error's `made` has those bought before it, and all that came for them.
        """
        message = self._written(shipment, credentials)
        deadline = deadline or Deadline(self._timeout_s * self.call_count(len(shipment.packages)))
        point = self._pickup_point(shipment, credentials, deadline.at_most(self._timeout_s))
        try:
            if point:
                message = self._written(shipment, credentials, point)
            with self._call(self.purchase_operation, credentials, deadline):
                made = self._buy(message, shipment, credentials, deadline)
        except CarrierError as error:
            error.made = replace(error.made, pickup_point=point)  # the parcels that were made all the same may be found
            raise
        return replace(made, pickup_point=point)

    def _written(self, shipment: Shipment, credentials: Credentials, point: PickupPoint | None = None) -> Any:
        """Return the message; raises CarrierError only, as a fault of ours before the call leaves no doubt."""
        try:
            return self._message(shipment, credentials, point)
        except CarrierError:
            raise
        except Exception as error:
            raise NotWritten(self.name, "the service could not write the order") from error

    @abstractmethod
    def _message(self, shipment: Shipment, credentials: Credentials, point: PickupPoint | None = None) -> Any:
        """Return what the carrier is sent for a label; raises Rejected for a shipment that can't be sent.

        Without `point` an order to a pickup point can be validated only.
        """

    @abstractmethod
    def _buy(self, message: Any, shipment: Shipment, credentials: Credentials, deadline: Deadline) -> PurchasedLabel:
        """Send it, in calls that all end by the deadline."""

    def check_shipment(self, shipment: Shipment, credentials: Credentials, point: PickupPoint | None = None) -> None:
        """Raise Rejected for a shipment that a purchase would refuse before the carrier is asked.

        Without `point` an order to a pickup point is judged as far as that goes.
        """
        self._message(shipment, credentials, point)

    def try_order(self, shipment: Shipment, credentials: Credentials, trial: Trial) -> None:
        """Let the pickup point and the carrier judge a shipment that can be sent, and buy nothing.

        What a carrier can't be asked, or not now, is left out of the trial.
        """
        deadline, is_to_point = Deadline(self._timeout_s), PRODUCTS[shipment.product_code].needs_pickup_point
        if is_to_point:
            with trial.stage(Stage.PICKUP_POINT):
                trial.point = self._pickup_point(shipment, credentials, deadline)
                self.check_shipment(shipment, credentials, trial.point)
        if trial.refusal or (is_to_point and trial.point is None):
            return
        with trial.stage(Stage.CARRIER):
            self._try_at_carrier(shipment, credentials, trial.point, deadline)
        if trial.refusal is None:
            with suppress(CarrierError):
                day = self._delivery_day(shipment, credentials, trial.point, deadline)
                trial.delivery_day = day if day and day >= shipping_day(shipment) else None  # nothing arrives before

    @abstractmethod
    def _try_at_carrier(
        self, shipment: Shipment, credentials: Credentials, point: PickupPoint | None, deadline: Deadline
    ) -> None:
        """Ask the carrier what it can tell without a purchase; raises Rejected, or CarrierUnavailable."""

    @abstractmethod
    def _delivery_day(
        self, shipment: Shipment, credentials: Credentials, point: PickupPoint | None, deadline: Deadline
    ) -> date | None:
        """Ask for the day of arrival, None where the carrier promises none; raises CarrierError."""

    @classmethod
    def call_count(cls, parcel_count: int) -> int:
        """Return the number of calls that buy so many parcels."""
        return parcel_count if cls.has_call_for_each_parcel else 1

    @property
    def can_be_asked(self) -> bool:
        """Return whether parcels can be found by the shipment's id when the outcome of a purchase is unknown."""
        return self.finds_parcels and self._endpoint.tracking_url is not None

    def find_by_reference(self, shipment_id: str, credentials: Credentials) -> tuple[str, ...]:
        """Return the tracking numbers of the parcels made with this shipment id, none if the carrier knows none."""
        raise CarrierUnavailable(self.name, "it cannot be asked")

    def fetch_label(
        self, reservation_number: str, credentials: Credentials, label_format: str = DEFAULT_FORMAT
    ) -> bytes:
        """Return the PDF of an existing label, all its parcels in it."""
        raise CarrierUnavailable(self.name, "it cannot be asked")

    def cancel(self, tracking_number: str, credentials: Credentials, deadline: Deadline | None = None) -> None:
        """Cancel one parcel at the carrier; raises CancellationRefused or another CarrierError.

        One that does not bill unused labels (`bills_unused_labels`) is not asked.
        """

    def proof_of_delivery(self, tracking_number: str, credentials: Credentials) -> bytes | None:
        """Return the PDF that proves a parcel's delivery, None where there is none (yet); raises CarrierError only."""
        return None

    def deposit_slip(self, tracking_numbers: Sequence[str], credentials: Credentials) -> DepositSlip:
        """Make a deposit slip of one contract's parcels, at most `max_slip_parcels`; raises CarrierError only.

        A slip costs nothing: it may be asked for again.
        """
        raise CarrierUnavailable(self.name, "it makes no deposit slips")

    @abstractmethod
    def check_contract(self, terms: Terms, credentials: Credentials) -> list[Finding]:
        """Ask about credentials and products, and make nothing; raises CredentialsRejected or CarrierUnavailable."""

    def describe_account(self, credentials: Credentials) -> Mapping[str, str]:
        """Return what the carrier tells of an account, by name; raises CredentialsRejected or CarrierUnavailable.

        Nothing where there is no service to ask.
        """
        return {}

    def find_points(
        self, query: PointQuery, credentials: Credentials, admitted: AbstractContextManager[object]
    ) -> FoundPoints:
        """Return the points near a place that take the query's parcel, nearest first; raises CarrierError only.

        An answer of the last quarter of an hour serves all shops, one of the last day where the service fails.
        `admitted` is entered before the carrier is asked.
        """
        self._url("points_url")

        def ask() -> Sequence[PickupPoint]:
            deadline = Deadline(min(self._timeout_s, SEARCH_TIMEOUT_S))
            with admitted, self._call(self.search_operation, credentials, deadline, service=Service.PICKUP_POINTS):
                return nearest_first(self._search_points(query, credentials, deadline))

        asked_at, points = self._points.search(query, ask)
        taken = [each for each in points if query.is_taken_by(each) and self.sells(query.carrier_code, each)]
        return FoundPoints(asked_at, taken)

    @abstractmethod
    def _search_points(self, query: PointQuery, credentials: Credentials, deadline: Deadline) -> list[PickupPoint]:
        """Ask the point service for the points near a place that a label can be printed for, in its order."""

    @abstractmethod
    def _find_point(self, shipment: Shipment, credentials: Credentials, deadline: Deadline) -> PickupPoint:
        """Ask the point service for the shipment's point; raises PickupPointRejected if it does not exist."""

    def _pickup_point(self, shipment: Shipment, credentials: Credentials, deadline: Deadline) -> PickupPoint | None:
        """Return the point that the shipment goes to, None for other products.

        Raises PickupPointRejected for a point that cannot take it, CarrierUnavailable if nobody can tell. Nothing was
        bought in either case.
        """
        if not PRODUCTS[shipment.product_code].needs_pickup_point:
            return None
        self._url("points_url")

        def ask() -> PickupPoint:
            with self._call(self.points_operations[0], credentials, deadline, service=Service.PICKUP_POINTS):
                return self._find_point(shipment, credentials, deadline)

        key = (shipment.recipient.country_code, shipment.pickup_point_code)
        point = self._points.get(key, shipping_day(shipment), ask)
        check_point(self.name, point, shipment)
        return point

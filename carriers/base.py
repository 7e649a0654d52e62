"""The base class of the carriers' clients."""

import logging
import re
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import ClassVar, Final, TypeVar

from carriers import pdf
from carriers.circuit_breaker import CircuitBreaker, CircuitState
from carriers.errors import CarrierError, CarrierUnavailable, OutcomeUnknown, Rejected
from carriers.http.connections import Deadline
from carriers.http.messages import Answer, Request, UnreadableError
from carriers.http.transport import Transport
from carriers.observer import Call, NullObserver, Observer
from carriers.pickup_points import PickupPointCache, check_point
from carriers.products import Product
from carriers.shipment import Credentials, CredentialsShape, Party, PickupPoint, PurchasedLabel, Shipment

logger: Final = logging.getLogger("carriers")  # one line for each call
circuit_breaker_logger: Final = logging.getLogger("carriers.circuit_breaker")
T = TypeVar("T")


@dataclass(frozen=True)
class Endpoint:
    """A carrier's URLs; without `tracking_url` parcels cannot be found again, without `points_url` no pickup points."""

    url: str
    tracking_url: str | None = None
    points_url: str | None = None


@dataclass(frozen=True)
class Limits:
    """A carrier's limits in one process."""

    timeout_s: float = 20.0  # a deadline for a whole label, including all its linked calls
    pool_size: int = 4  # connections that are kept open
    failure_threshold: int = 5  # failures in a row that open the circuit breaker
    reset_timeout_s: float = 30.0  # from its opening to the first probe


class Carrier(ABC):
    """A carrier's client: built once in each process, given a shop's credentials with each call.

    It holds connections and a circuit breaker. A subclass declares the carrier's facts and builds and reads its
    messages; it sends them with `_call`, `_exchange` and `_merge`.
    """

    name: ClassVar[str]
    purchase_operation: ClassVar[str]  # as log lines and metrics name it
    points_operation: ClassVar[str]  # as above
    is_cancelled_locally: ClassVar[bool] = False
    max_parcels: ClassVar[int]
    max_reference_length: ClassVar[int]
    max_goods_length: ClassVar[int]
    pickup_point_code: ClassVar[re.Pattern[str]]
    pickup_point_form: ClassVar[str]
    product_code: ClassVar[re.Pattern[str]]
    has_services: ClassVar[bool]  # true if a product is a code and a service
    credentials_shape: ClassVar[CredentialsShape]

    def __init__(
        self,
        endpoint: Endpoint,
        limits: Limits | None = None,
        transport: Transport | None = None,
        observer: Observer | None = None,
    ) -> None:
        limits = limits or Limits()
        self.circuit_breaker = CircuitBreaker(
            self.name, limits.failure_threshold, limits.reset_timeout_s, self._circuit_changed
        )
        # A point service that is down must not stop the purchases that need no point.
        self._points_circuit_breaker = CircuitBreaker(
            self.name, limits.failure_threshold, limits.reset_timeout_s, self._points_circuit_changed
        )
        self._points = PickupPointCache()
        self._endpoint = endpoint
        self._timeout_s = limits.timeout_s
        self._transport = transport or Transport(pool_size=limits.pool_size)
        self._observer: Observer = observer or NullObserver()

    @staticmethod
    @abstractmethod
    def check_sender(party: Party) -> None:
        """Raise Rejected for a sender that the carrier cannot print."""

    @abstractmethod
    def create_label(
        self, shipment: Shipment, credentials: Credentials, deadline: Deadline | None = None
    ) -> PurchasedLabel:
        """Buy a label within the deadline, by default one that begins now; raises CarrierError only."""

    @property
    def can_be_asked(self) -> bool:
        """Return true if parcels can be found by the shipment's id when the outcome of a purchase is unknown."""
        return False

    def find_by_reference(self, shipment_id: str, credentials: Credentials) -> tuple[str, ...]:
        """Return the tracking numbers of the parcels made with this shipment id, none if the carrier knows none."""
        raise CarrierUnavailable(self.name, "it cannot be asked")

    def fetch_label(self, reservation_number: str, credentials: Credentials) -> bytes:
        """Return the PDF of an existing label, all its parcels in it."""
        raise CarrierUnavailable(self.name, "it cannot be asked")

    def cancel(self, tracking_number: str, credentials: Credentials) -> None:  # noqa: B027 - not every carrier is asked
        """Cancel one parcel at the carrier; raises CancellationRefused or another CarrierError.

        A carrier that is not asked (`is_cancelled_locally`) bills no label that is not used.
        """

    def _find_point(self, code: str, shipment: Shipment, credentials: Credentials, deadline: Deadline) -> PickupPoint:
        """Ask the point service for a point; raises PickupPointRejected if it does not exist."""
        raise NotImplementedError

    def _pickup_point(
        self, shipment: Shipment, product: Product, credentials: Credentials, deadline: Deadline
    ) -> PickupPoint | None:
        """Return the point that the shipment goes to, None for other products.

        Raises PickupPointRejected for a point that cannot take it, CarrierUnavailable if nobody can tell. Nothing was
        bought in either case.
        """
        if not product.needs_pickup_point:
            return None
        if self._endpoint.points_url is None:
            raise CarrierUnavailable(self.name, "it has no pickup point service to ask")

        def ask() -> PickupPoint:
            with self._call(self.points_operation, deadline, self._points_circuit_breaker):
                return self._find_point(shipment.pickup_point_code, shipment, credentials, deadline)

        key = (shipment.recipient.country_code, shipment.pickup_point_code)
        point = self._points.get(key, ask)
        check_point(self.name, point, shipment)
        return point

    @contextmanager
    def _call(
        self, operation: str, deadline: Deadline | None = None, circuit_breaker: CircuitBreaker | None = None
    ) -> Iterator[Deadline]:
        """Put a label's exchanges under one deadline; raises CarrierUnavailable if the circuit breaker refuses them."""
        started_s = time.monotonic()
        with ExitStack() as stack:
            try:
                stack.enter_context((circuit_breaker or self.circuit_breaker).call())
            except CarrierError as error:
                self._log(operation, started_s, None, error)
                raise
            yield deadline or Deadline(self._timeout_s)

    def _exchange(self, request: Request, deadline: Deadline, read: Callable[[Answer], T]) -> T:
        """Send a request and return what `read` makes of the answer.

        `read` raises UnreadableError for an answer that leaves the outcome open, else the CarrierError that fits.
        """
        started_s = time.monotonic()
        answer: Answer | None = None
        try:
            answer = self._transport.post(self.name, request, deadline)
            result = read(answer)
        except CarrierError as error:
            error.http_status = answer.status if answer else None
            self._log(request.operation, started_s, answer, error)
            raise
        except Exception as error:
            # The request was sent, so a bug in reading the answer must not look like a refusal.
            failure = self._unanswered(request, error)
            failure.http_status = answer.status if answer else None
            self._log(request.operation, started_s, answer, failure)
            raise failure from error
        self._log(request.operation, started_s, answer, None)
        return result

    def _unanswered(self, request: Request, error: Exception) -> CarrierError:
        if not isinstance(error, UnreadableError):
            return request.unanswered_error(self.name, "the answer cannot be read", is_carrier_failing=True)
        numbers = error.made_numbers
        failure = request.unanswered_error(self.name, str(error), made_numbers=numbers, is_carrier_failing=True)
        failure.reservation_number = error.reservation_number
        return failure

    def _merge(
        self,
        pdfs: Sequence[bytes],
        numbers: tuple[str, ...],
        deadline: Deadline,
        *,
        error_class: type[CarrierError] = OutcomeUnknown,
    ) -> bytes:
        """Merge the PDFs into one; the parcels exist by now, so the error of a failure names them."""
        started_s = time.monotonic()
        try:
            return pdf.merged(pdfs, deadline)
        except UnreadableError as error:
            failure = error_class(self.name, str(error), made_numbers=numbers, is_carrier_failing=True)
            failure.made_pdfs = tuple(pdfs)
            self._log("merge", started_s, None, failure)
            raise failure from None

    def _log(self, operation: str, started_s: float, answer: Answer | None, failure: CarrierError | None) -> None:
        call = Call(
            carrier=self.name,
            operation=operation,
            outcome=failure.code_suffix.lower() if failure else "ok",
            duration_s=time.monotonic() - started_s,
            http_status=answer.status if answer else None,
            carrier_code=failure.carrier_code if failure else "",
            is_expected=failure is None or isinstance(failure, Rejected),
        )
        logger.log(logging.INFO if call.is_expected else logging.WARNING, "carrier call", extra=call.facts)
        with self._observing():
            self._observer.call_ended(call)

    def _circuit_changed(self, state: CircuitState) -> None:
        circuit_breaker_logger.warning("circuit breaker", extra={"carrier": self.name, "state": state.value})
        with self._observing():
            self._observer.circuit_changed(self.name, state)

    def _points_circuit_changed(self, state: CircuitState) -> None:
        extra = {"carrier": self.name, "service": "pickup points", "state": state.value}
        circuit_breaker_logger.warning("circuit breaker", extra=extra)

    @contextmanager
    def _observing(self) -> Iterator[None]:
        """Log an observer's failure instead of raising it: a label may have been bought."""
        try:
            yield
        except Exception:
            logger.exception("carrier call not observed", extra={"carrier": self.name})

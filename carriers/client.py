"""The base of all clients of a carrier's services: a deadline, circuit breakers, one log line a call, an observer."""

import logging
import time
import traceback
from abc import ABC
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import asdict, dataclass
from enum import StrEnum
from functools import partial
from typing import ClassVar, Final, TypeVar

from carriers.circuit_breaker import CircuitBreaker, CircuitState
from carriers.errors import CarrierError, Rejected
from carriers.http.connections import Deadline
from carriers.http.transport import Answer, Request, Transport, UnreadableError
from carriers.shipment import Credentials

# The shipment that the current calls are for, if the caller has named it.
_shipment_id: ContextVar[str | None] = ContextVar("shipment_id", default=None)
CLIENT_ERRORS: Final = range(400, 500)  # of HTTP
logger: Final = logging.getLogger("carriers")  # one line for each call
circuit_breaker_logger: Final = logging.getLogger("carriers.circuit_breaker")
T = TypeVar("T")


@dataclass(frozen=True)
class Call:
    """The facts of a finished call to a carrier: no secret, nothing personal, none of the carrier's text.

    `outcome` is ``ok`` or the error's code without the carrier, in lower case.
    """

    carrier: str
    operation: str
    outcome: str
    duration_s: float
    http_status: int | None = None


class Observer:
    """Watches one carrier's client; this one takes note of nothing."""

    def during_call(self) -> AbstractContextManager[None]:
        """Surround a call, which may wait for the carrier for long."""
        return nullcontext()

    def call_ended(self, call: Call) -> None:
        """Take note of a call; those that the circuit breaker refuses count, too."""

    def circuit_changed(self, carrier: str, service: str, state: CircuitState) -> None:
        """Take note of the new state of a service's circuit breaker."""


def forget_locals(error: BaseException | None) -> None:
    """Free what the functions had that an error came through, and those before it: an answer of up to 20 MiB.

    Errors and such functions form circles, the XML parser's too, which the garbage collector frees much later.
    """
    while error:
        traceback.clear_frames(error.__traceback__)
        error = error.__context__


@contextmanager
def calls_for(shipment_id: str | None) -> Iterator[None]:
    """Name the shipment in the log lines of the calls made in the block."""
    token = _shipment_id.set(shipment_id)
    try:
        yield
    finally:
        _shipment_id.reset(token)


class Service(StrEnum):
    """The services of a carrier, each with a circuit breaker: one that fails stops no other."""

    SHIPPING = "shipping"
    PICKUP_POINTS = "pickup points"
    CANCELLATION = "cancellation"  # with the search for parcels and for proofs, the same service
    REPRINTS = "reprints"
    DEPOSIT_SLIPS = "deposit slips"
    CONTRACT_CHECKS = "contract checks"
    TRACKING = "tracking"


@dataclass(frozen=True)
class Limits:
    timeout_s: float = 20.0  # a deadline for a whole call, including all its exchanges
    pool_size: int = 4  # connections that are kept open
    failure_threshold: int = 5  # failures in a row that open the circuit breaker
    reset_timeout_s: float = 30.0  # from its opening to the first probe


class Client(ABC):
    """A client of a carrier: built once in each process, with connections and circuit breakers of its own.

    A subclass builds and reads messages; it sends them with `_call` and `_exchange`.
    """

    name: ClassVar[str]
    services: ClassVar[tuple[Service, ...]]  # the first is what the client is for

    def __init__(self, limits: Limits, transport: Transport, observer: Observer | None = None) -> None:
        facts = self.name, limits.failure_threshold, limits.reset_timeout_s
        self.circuit_breakers: Mapping[Service, CircuitBreaker] = {
            service: CircuitBreaker(*facts, partial(self._circuit_changed, service)) for service in self.services
        }
        self._timeout_s = limits.timeout_s
        self._transport = transport
        self._observer = observer or Observer()

    @property
    def circuit_breaker(self) -> CircuitBreaker:
        """That of the first service."""
        return self.circuit_breakers[self.services[0]]

    @contextmanager
    def _call(
        self,
        operation: str,
        credentials: Credentials,
        deadline: Deadline | None = None,
        *,
        service: Service | None = None,
    ) -> Iterator[Deadline]:
        """Put a call's exchanges under one deadline; raises CarrierUnavailable if the circuit breaker refuses them.

        It is that of the service, by default the first one.
        """
        started_s = time.monotonic()
        breaker = self.circuit_breakers[service or self.services[0]]
        with ExitStack() as stack:
            try:
                stack.enter_context(breaker.call(credentials.shop_id))
            except CarrierError as error:
                self._log(operation, started_s, None, error)
                raise
            stack.enter_context(self._observer.during_call())
            try:
                yield deadline or Deadline(self._timeout_s)
            except CarrierError as error:
                forget_locals(error)
                raise

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
            unreadable = error if isinstance(error, UnreadableError) else UnreadableError("the answer cannot be read")
            failure = request.unanswered_error(self.name, str(unreadable), made=unreadable.made)
            failure.is_carrier_failing = answer is None or answer.status not in CLIENT_ERRORS
            failure.http_status = answer.status if answer else None
            self._log(request.operation, started_s, answer, failure)
            raise failure from error
        self._log(request.operation, started_s, answer, None)
        return result

    def _ask(
        self,
        request: Request,
        credentials: Credentials,
        read: Callable[[Answer], T],
        deadline: Deadline | None = None,
        *,
        service: Service | None = None,
    ) -> T:
        """Make a call of one exchange; raises as `_call` and `_exchange`."""
        with self._call(request.operation, credentials, deadline, service=service) as left:
            return self._exchange(request, left, read)

    def _log(self, operation: str, started_s: float, answer: Answer | None, failure: CarrierError | None) -> None:
        call = Call(
            carrier=self.name,
            operation=operation,
            outcome=failure.code_suffix.lower() if failure else "ok",
            duration_s=time.monotonic() - started_s,
            http_status=answer.status if answer else None,
        )
        facts = {
            **{name: value for name, value in asdict(call).items() if name != "duration_s"},
            "duration_ms": round(call.duration_s * 1000),
            "carrier_code": failure.carrier_code if failure else "",
            "label": _shipment_id.get(),
        }
        is_expected = failure is None or isinstance(failure, Rejected)
        logger.log(logging.INFO if is_expected else logging.WARNING, "carrier call", extra=facts)
        with self._observing():
            self._observer.call_ended(call)

    def _circuit_changed(self, service: Service, state: CircuitState, shop_id: str) -> None:
        extra = {"carrier": self.name, "service": service.value, "state": state.value}
        circuit_breaker_logger.warning("circuit breaker", extra=extra | ({"shop": shop_id} if shop_id else {}))
        with self._observing():
            self._observer.circuit_changed(self.name, service, state)

    @contextmanager
    def _observing(self) -> Iterator[None]:
        """Log an observer's failure instead of raising it: a label may have been bought."""
        try:
            yield
        except Exception:
            logger.exception("carrier call not observed", extra={"carrier": self.name})

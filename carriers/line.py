"""The way to one carrier: guarded, with a deadline, and one structured log line for each call."""

import logging
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Final, TypeVar

from carriers import pdf
from carriers.circuit_breaker import CircuitBreaker, Limits
from carriers.errors import CarrierError, OutcomeUnknown, Rejected
from carriers.http.connections import Deadline
from carriers.http.messages import Answer, Request, UnreadableError
from carriers.http.transport import Transport
from carriers.observer import Call, NullObserver, Observer

logger: Final = logging.getLogger("carriers")  # a line a call
rest_logger: Final = logging.getLogger("carriers.rest")
T = TypeVar("T")


class Line:
    """What a client holds for its carrier, once a process."""

    def __init__(
        self, carrier: str, limits: Limits, transport: Transport | None = None, observer: Observer | None = None
    ) -> None:
        self._carrier = carrier
        self._observer: Observer = observer or NullObserver()
        self._timeout_s = limits.timeout_s
        self._guard = CircuitBreaker(carrier, limits, self._rest_changed)
        self._transport = transport or Transport(pool_size=limits.max_concurrent_calls)

    @property
    def is_resting(self) -> bool:
        """Whether the carrier is given a rest after repeated failures."""
        return self._guard.is_resting

    @contextmanager
    def open(self, operation: str) -> Iterator[Deadline]:
        """Let a label's exchanges through under one deadline, or raise CarrierUnavailable at once."""
        started_s = time.monotonic()
        with ExitStack() as stack:
            try:
                stack.enter_context(self._guard.call())
            except CarrierError as error:
                self._log(operation, started_s, None, error)
                raise
            yield Deadline(self._timeout_s)

    def exchange(self, request: Request, deadline: Deadline, read: Callable[[Answer], T]) -> T:
        """Send a request and return what `read` makes of the answer.

        `read` raises UnreadableError for an answer that leaves things open, else the fitting CarrierError.
        """
        started_s = time.monotonic()
        answer: Answer | None = None
        try:
            answer = self._transport.post(self._carrier, request, deadline)
            result = read(answer)
        except CarrierError as error:
            error.http_status = answer.status if answer else None
            self._log(request.operation, started_s, answer, error)
            raise
        except Exception as error:
            # An oversight in reading must not pass for an answer: the request was sent.
            failure = self._unsure(request, error)
            failure.http_status = answer.status if answer else None
            self._log(request.operation, started_s, answer, failure)
            raise failure from error
        self._log(request.operation, started_s, answer, None)
        return result

    def _unsure(self, request: Request, error: Exception) -> CarrierError:
        if not isinstance(error, UnreadableError):
            return request.unsure(self._carrier, "the answer cannot be read", is_carrier_failing=True)
        return request.unsure(self._carrier, str(error), made_numbers=error.made_numbers, is_carrier_failing=True)

    def refuse_at_rest(self) -> None:
        """Raise CarrierUnavailable while the carrier is given a rest."""
        self._guard.refuse_at_rest()

    def joined(
        self,
        pdfs: Sequence[bytes],
        numbers: tuple[str, ...],
        deadline: Deadline,
        *,
        unsure: type[CarrierError] = OutcomeUnknown,
    ) -> bytes:
        """Join the PDFs into one; the parcels exist by now, so a failure names them."""
        started_s = time.monotonic()
        try:
            return pdf.joined(pdfs, deadline)
        except UnreadableError as error:
            failure = unsure(self._carrier, str(error), made_numbers=numbers, is_carrier_failing=True)
            failure.made_pdfs = tuple(pdfs)
            self._log("join", started_s, None, failure)
            raise failure from None

    def _log(self, operation: str, started_s: float, answer: Answer | None, failure: CarrierError | None) -> None:
        call = Call(
            carrier=self._carrier,
            operation=operation,
            outcome=failure.code_suffix.lower() if failure else "ok",
            duration_s=time.monotonic() - started_s,
            http_status=answer.status if answer else None,
            carrier_code=failure.carrier_code if failure else "",
            is_expected=failure is None or isinstance(failure, Rejected),
        )
        logger.log(logging.INFO if call.is_expected else logging.WARNING, "carrier call", extra=call.facts)
        with self._unharmed():
            self._observer.call_ended(call)

    def _rest_changed(self, is_resting: bool) -> None:  # noqa: FBT001 - the guard's one fact
        rest_logger.warning("carrier rest", extra={"carrier": self._carrier, "is_resting": is_resting})
        with self._unharmed():
            self._observer.rest_changed(self._carrier, is_resting=is_resting)

    @contextmanager
    def _unharmed(self) -> Iterator[None]:
        """Keep an observer's failure from failing the call that it is told of: a label may have been bought."""
        try:
            yield
        except Exception:
            logger.exception("carrier call not observed", extra={"carrier": self._carrier})

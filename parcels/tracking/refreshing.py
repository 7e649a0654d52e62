"""Asks a carrier about all parcels that are due, and records what it answers.

Each thread takes a batch of parcels with a lease, asks about one after the other, and records the batch in one
transaction. While it asks, it holds no transaction and no connection. What a process that dies had taken is due again
when its lease ends; what it had recorded stays, and the carrier tells the rest again.
"""

import logging
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from threading import Event, Lock

from django.conf import settings
from django.db import InterfaceError, OperationalError, connection

from carriers.circuit_breaker import CircuitState
from carriers.errors import CarrierError, CredentialsRejected
from carriers.shipment import Credentials
from carriers.tracking import Tracker, TrackingAnswer
from parcels.tracking import due, metrics
from parcels.tracking.contracts import Contracts
from parcels.tracking.due import DueParcel, Outcome
from parcels.tracking.limits import slots
from parcels.tracking.recording import record_all
from shops.contracts.clients import tracker as tracker_of
from shops.db import clock

logger = logging.getLogger("parcels.tracking")


@dataclass(frozen=True)
class Asked:
    """A parcel that was asked about, with the answers that came for its numbers."""

    parcel: DueParcel
    outcome: Outcome
    answers: tuple[TrackingAnswer, ...] = ()


def refresh(carrier_code: str, *, stop: Event, limit: int | None = None) -> Counter[str]:
    """Ask about what is due, at most `limit` parcels, until `stop` is set; return the parcels by outcome.

    Nothing is taken while the circuit breaker is open: it stays due. Half-open, one parcel is the probe.
    """
    tracker = tracker_of(carrier_code)
    if tracker is None or tracker.circuit_breaker.state is CircuitState.OPEN:
        return Counter()
    if tracker.circuit_breaker.state is CircuitState.HALF_OPEN:
        limit = 1
    run = Refresh(tracker, stop, Budget(limit))
    threads = settings.TRACKING_CONCURRENCY if limit is None else min(limit, settings.TRACKING_CONCURRENCY)
    with ThreadPoolExecutor(threads, thread_name_prefix=f"tracking-{carrier_code}") as pool:
        return sum(pool.map(lambda _: run.drain(), range(threads)), Counter())


class Budget:
    """The number of parcels that a pass may still take; None is no limit."""

    def __init__(self, count: int | None) -> None:
        self._count = count
        self._lock = Lock()

    def draw(self, count: int) -> int:
        """Return how many of `count` may be taken, and count them."""
        with self._lock:
            if self._count is None:
                return count
            drawn = min(count, self._count)
            self._count -= drawn
            return drawn


class Refresh:
    """One pass, shared by its threads."""

    def __init__(self, tracker: Tracker, stop: Event, budget: Budget) -> None:
        self.tracker = tracker
        self.stop = stop
        self.budget = budget
        self.slots = slots(tracker.name)

    @property
    def is_over(self) -> bool:
        return self.stop.is_set() or self.tracker.circuit_breaker.state is not CircuitState.CLOSED

    def drain(self) -> Counter[str]:
        """Ask about one batch after the other until nothing is due."""
        outcomes: Counter[str] = Counter()
        size = due.batch_size(self.tracker.name)
        try:
            while count := self.budget.draw(size):
                parcels = due.take(self.tracker.name, count)
                outcomes.update(self.refresh_batch(parcels))
                if not parcels or self.is_over:
                    break
        finally:
            connection.close()
        return outcomes

    def refresh_batch(self, parcels: list[DueParcel]) -> list[str]:
        """Ask about a batch and record it; return the outcomes."""
        contracts = Contracts(self.tracker, {parcel.shop_id for parcel in parcels})
        connection.close()
        askable = [parcel for parcel in parcels if parcel.shop_id in contracts]
        asked = list(self.ask_all(askable, contracts))
        keep(asked, contracts)
        due.release({parcel.id for parcel in askable} - {each.parcel.id for each in asked})
        for each in asked:
            metrics.ASKED.labels(self.tracker.name, each.outcome).inc()
        return [each.outcome for each in asked]

    def ask_all(self, parcels: Iterable[DueParcel], contracts: Contracts) -> Iterator[Asked]:
        """Yield what was asked before the batch's time was over, the pass was stopped or the circuit breaker opened."""
        ends_at = time.monotonic() + due.BATCH_S
        refused: set[str] = set()
        for parcel in parcels:
            if parcel.shop_id in refused:
                continue
            asked = self.ask(parcel, contracts)
            if asked is None:
                return
            if asked.outcome is Outcome.CREDENTIALS_REJECTED:
                refused.add(parcel.shop_id)
            yield asked
            if self.is_over or time.monotonic() > ends_at:
                return

    def ask(self, parcel: DueParcel, contracts: Contracts) -> Asked | None:
        """Ask about each number of a parcel; return None if the pass was stopped meanwhile.

        A number that can't be answered hides none of the others.
        """
        answers: list[TrackingAnswer] = []
        is_complete = True
        credentials = contracts.credentials(parcel.shop_id)
        for number in parcel.numbers:
            has_slot = self.slots.wait(self.stop)
            connection.close()  # the slots are kept in the database
            if not has_slot:
                return None
            try:
                answer = self.tracker.track(number, credentials)
                others = () if answer.is_known else contracts.others(parcel.shop_id)
                answers.append(self.ask_with(others, number) or answer)
            except CredentialsRejected:
                return Asked(parcel, Outcome.CREDENTIALS_REJECTED)
            except CarrierError:  # the client has logged it
                is_complete = False
                if self.is_over:
                    break
        is_known = any(answer.is_known for answer in answers)
        outcome = Outcome.KNOWN if is_known else Outcome.UNKNOWN
        return Asked(parcel, outcome if is_complete else Outcome.UNAVAILABLE, tuple(answers))

    def ask_with(self, accounts: Iterable[Credentials], number: str) -> TrackingAnswer | None:
        """Ask about a number with other accounts of its shop, until one of them knows it."""
        for credentials in accounts:
            has_slot = self.slots.wait(self.stop)
            connection.close()  # as above
            if not has_slot:
                return None
            with suppress(CarrierError):  # the contract's own account has answered
                answer = self.tracker.track(number, credentials)
                if answer.is_known:
                    return answer
        return None


def keep(asked: Iterable[Asked], contracts: Contracts) -> None:
    """Record the answers of a batch, and put off what failed."""
    by_outcome: defaultdict[Outcome, list[Asked]] = defaultdict(list)
    for each in asked:
        by_outcome[each.outcome].append(each)
    failed = by_outcome[Outcome.UNAVAILABLE]
    in_part = [each for each in failed if each.answers]
    record_batch([*by_outcome[Outcome.KNOWN], *by_outcome[Outcome.UNKNOWN], *in_part])
    for each in failed:
        due.try_later(each.parcel, each.outcome)
    for each in by_outcome[Outcome.CREDENTIALS_REJECTED]:
        contracts.refuse(each.parcel.shop_id)


def record_batch(answered: Sequence[Asked]) -> None:
    """Record a batch at once; if that fails for one of them, record each by itself."""
    try:
        record_all({each.parcel.id: (each.answers, each.outcome) for each in answered}, now=clock.now())
    except (OperationalError, InterfaceError):
        raise  # the database is away; the parcels are due again when their leases end
    except Exception:
        if len(answered) > 1:
            for each in answered:
                record_batch([each])
            return
        [failed] = answered
        logger.exception("answer not recorded", extra={"parcel": failed.parcel.id})
        due.try_later(failed.parcel, Outcome.UNAVAILABLE)

"""Asks a carrier about all numbers that are due, and records what it answers.

Each thread takes a batch of numbers with a lease, asks about one after the other, and records the batch in one
transaction. While it asks, it holds no transaction and no connection. What a process that dies had taken is due again
when its lease ends; what it had recorded stays, and the carrier reports the rest again.
"""

import logging
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from threading import Event

from django.conf import settings
from django.db import connection

from carriers.circuit_breaker import CircuitState
from carriers.errors import CarrierError, CredentialsRejected
from carriers.shipment import Credentials
from carriers.tracking import Tracker, TrackingAnswer
from parcels.models import TrackingNumber
from parcels.tracking import due, metrics
from parcels.tracking.due import Outcome
from parcels.tracking.limits import slots
from parcels.tracking.recording import record_all
from shops.contracts.accounts import others_of
from shops.contracts.clients import tracker as tracker_of
from shops.contracts.encryption import UnreadableSecretError
from shops.contracts.models import CarrierContract
from shops.db import clock
from shops.db.replicas import UNREACHABLE

logger = logging.getLogger("parcels.tracking")


@dataclass(frozen=True)
class Asked:
    """A number that was asked about, with the answer if one came."""

    number: TrackingNumber
    outcome: Outcome
    answer: TrackingAnswer | None = None


class Contracts:
    """The contracts of a batch's shops, read at once; a shop without a usable one is deferred.

    `credentials` are those of the shops that can be asked for; `others` are those of their other accounts, on which
    parcels may have been bought.
    """

    def __init__(self, tracker: Tracker, shop_ids: Iterable[str]) -> None:
        self._carrier_code = tracker.name
        self._contracts: dict[str, CarrierContract] = {}
        self.credentials = {shop_id: Credentials(shop_id=shop_id) for shop_id in shop_ids}
        self.others: dict[str, list[Credentials]] = {}
        if tracker.needs_contract:
            self._read()

    def _read(self) -> None:
        rows = CarrierContract.objects.filter(carrier_code=self._carrier_code, shop__in=self.credentials)
        self._contracts = {contract.shop_id: contract for contract in rows.select_related("shop")}
        for shop_id in list(self.credentials):
            contract = self._contracts.get(shop_id)
            if contract is None:
                self._defer(shop_id, Outcome.NO_CONTRACT)
            elif contract.is_tracking_refused:
                self._defer(shop_id, Outcome.CREDENTIALS_REJECTED)
            else:
                try:
                    self.credentials[shop_id] = contract.credentials
                except UnreadableSecretError:
                    extra = {"contract": contract.id, "reason": "UnreadableSecretError"}
                    logger.warning("carrier not asked", extra=extra)
                    self._defer(shop_id, Outcome.UNAVAILABLE)
        self.others = others_of(list(self._contracts.values()))

    def _defer(self, shop_id: str, outcome: Outcome) -> None:
        due.defer_shop(self._carrier_code, shop_id, outcome)
        del self.credentials[shop_id]

    def refuse(self, shop_id: str) -> None:
        """Stop asking for a shop whose credentials the carrier refuses, until its contract changes; notify staff."""
        contract = self._contracts.get(shop_id)
        if contract and contract.refuse_tracking():
            extra = {"carrier": self._carrier_code, "contract": contract.id, "shop": shop_id}
            logger.error("tracking stopped: the carrier refuses the contract's credentials", extra=extra)
            if not contract.is_test:
                metrics.REFUSED_CONTRACTS.labels(self._carrier_code).inc()
        self._defer(shop_id, Outcome.CREDENTIALS_REJECTED)


def refresh(carrier_code: str, stop: Event, *, limit: int | None = None, is_test: bool = False) -> Counter[str]:
    """Ask about what is due, at most `limit` numbers, until `stop` is set; return the numbers by outcome.

    Live shops' numbers are asked about at the carrier, test shops' at the sandbox. Nothing is claimed while the circuit
    breaker is open, for one shop or for all. Half-open, one number is the probe.
    """
    tracker = tracker_of(carrier_code, is_test=is_test)
    if tracker is None or tracker.circuit_breaker.state_for() is CircuitState.OPEN:
        return Counter()
    if tracker.circuit_breaker.state_for() is CircuitState.HALF_OPEN:
        limit = 1
    limit = sys.maxsize if limit is None else limit
    threads = min(limit, settings.TRACKING_CONCURRENCY)
    shares = [(limit + rank) // threads for rank in range(threads)]
    run = Refresh(tracker, stop, is_test=is_test)
    with ThreadPoolExecutor(threads, thread_name_prefix=f"tracking-{carrier_code}") as pool:
        try:
            return sum(pool.map(run.drain, shares), Counter())
        except KeyboardInterrupt:  # the threads would go on until nothing is due
            stop.set()
            raise


class Refresh:
    """One pass, shared by its threads."""

    def __init__(self, tracker: Tracker, stop: Event, *, is_test: bool) -> None:
        self.tracker, self.breaker = tracker, tracker.circuit_breaker
        self.is_test = is_test
        self.stop = stop
        self.slots = slots(tracker.name, is_test=is_test)

    @property
    def is_over(self) -> bool:
        return self.stop.is_set() or self.breaker.state_for() is not CircuitState.CLOSED

    def drain(self, limit: int) -> Counter[str]:
        """Ask about one batch after the other until nothing is due, or the limit is reached."""
        outcomes: Counter[str] = Counter()
        size = due.batch_size(self.tracker.name)
        try:
            while count := min(size, limit):
                limit -= count
                without = self.breaker.refused_shop_id
                numbers = due.claim(self.tracker.name, count, is_test=self.is_test, without=without)
                outcomes.update(self.refresh_batch(numbers))
                if not numbers or self.is_over:
                    break
        finally:
            connection.close()
        return outcomes

    def refresh_batch(self, numbers: list[TrackingNumber]) -> list[str]:
        """Ask about a batch and record it; return the outcomes."""
        numbers = due.end_old(numbers)
        contracts = Contracts(self.tracker, {number.shop_id for number in numbers})
        connection.close()
        asked = list(self.ask_all(numbers, contracts))
        done = record_batch([each for each in asked if each.answer is not None], is_test=self.is_test)
        for each in asked:
            if each.outcome is Outcome.UNAVAILABLE:
                due.back_off(each.number, each.outcome)
            if not self.is_test:
                metrics.ASKED.labels(self.tracker.name, each.outcome).inc()
        done |= {each.number.id for each in asked if each.answer is None}
        due.release({number.id for number in numbers if number.shop_id in contracts.credentials} - done)
        return [each.outcome for each in asked]

    def ask_all(self, numbers: Iterable[TrackingNumber], contracts: Contracts) -> Iterator[Asked]:
        """Yield what was asked before the batch's time was over, the pass was stopped or the circuit breaker opened."""
        ends_at = time.monotonic() + due.BATCH_S
        for number in numbers:
            shop_id = number.shop_id
            if shop_id not in contracts.credentials or self.breaker.state_for(shop_id) is CircuitState.OPEN:
                continue
            asked = self.ask(number, contracts)
            if asked is None:
                return
            if asked.outcome is Outcome.CREDENTIALS_REJECTED:
                contracts.refuse(shop_id)
            yield asked
            if self.is_over or time.monotonic() > ends_at:
                return

    def ask(self, number: TrackingNumber, contracts: Contracts) -> Asked | None:
        """Ask about a number; return None if the pass was stopped meanwhile."""
        others = contracts.others.get(number.shop_id, [])
        try:
            answer = self.ask_on(contracts.credentials[number.shop_id], number)
            if answer is not None and not answer.is_known:
                answer = self.ask_with(others[: due.MAX_ACCOUNTS - 1], number) or answer
        except CredentialsRejected:
            return Asked(number, Outcome.CREDENTIALS_REJECTED)
        except CarrierError:  # the client has logged it
            return Asked(number, Outcome.UNAVAILABLE)
        if answer is None:
            return None
        return Asked(number, Outcome.of(answer), answer)

    def ask_on(self, credentials: Credentials, number: TrackingNumber) -> TrackingAnswer | None:
        """Ask in the next slot, without a connection to the database; return None if the pass was stopped."""
        has_slot = self.slots.wait(self.stop)
        connection.close()  # the slots are kept in the database
        return self.tracker.track(number.number, credentials) if has_slot else None

    def ask_with(self, accounts: Iterable[Credentials], number: TrackingNumber) -> TrackingAnswer | None:
        """Ask with other accounts of the shop, until one of them knows the number."""
        for credentials in accounts:
            with suppress(CarrierError):  # the contract's own account has answered
                answer = self.ask_on(credentials, number)
                if answer is None or answer.is_known:
                    return answer
        return None


def record_batch(answered: Sequence[Asked], *, is_test: bool) -> set[int]:
    """Record a batch at once; if that fails for one of them, record each by itself. Return what is done with."""
    answers = {each.number.id: each.answer for each in answered if each.answer is not None}
    try:
        return record_all(answers, now=clock.now(), is_test=is_test)
    except UNREACHABLE:
        raise  # the database is away; the numbers are due again when their leases end
    except Exception:
        if len(answered) > 1:
            return set().union(*(record_batch([each], is_test=is_test) for each in answered))
        [failed] = answered
        logger.exception("answer not recorded", extra={"number": failed.number.id})
        due.back_off(failed.number, Outcome.UNAVAILABLE)
        return set(answers)

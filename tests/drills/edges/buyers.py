"""Clients that order labels, and ask again with the same keys until they have them."""

import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from itertools import cycle
from threading import Event, Lock

from tests.drills.audit import Audit, AuditResult
from tests.drills.environment import Environment
from tests.drills.shop import new_key, order
from tests.support.http import Answer, call

TIMEOUT_S, MARGIN_S = 4.0, 2.0
LEASE_S = TIMEOUT_S + MARGIN_S
RECONCILE_WAIT_S = 14.0
SETTINGS: dict[str, object] = {
    "CARRIER_TIMEOUT": TIMEOUT_S,
    "LEASE_MARGIN": MARGIN_S,
    "SETTLE_WAIT": RECONCILE_WAIT_S,
    "RECONCILE_WAIT": RECONCILE_WAIT_S,  # longer than the lease: in between the clients ask, too
    "CARRIER_CONCURRENCY": 32,
}
# Until everything that can be settled is: reconciliations begin after the lease, and believe after the wait.
SETTLE_S = RECONCILE_WAIT_S + LEASE_S + 2
PACE_S = 0.25
CLIENTS = 4


class Buyers:
    """The keys of one act, by carrier, and all answers to each of them."""

    def __init__(self, env: Environment, count: int, *carriers: str) -> None:
        self.env = env
        names = cycle(carriers or ("alpha", "beta"))
        self.carriers = {new_key(): next(names) for _ in range(count)}
        self.answers: dict[str, list[Answer]] = {key: [] for key in self.carriers}
        self._lock = Lock()

    def join(self, others: "Buyers") -> None:
        """Take others' keys, with their answers."""
        self.carriers |= others.carriers
        self.answers |= others.answers

    def ask(self, port: int, key: str, **headers: str) -> Answer:
        answer = self.env.buy(port, key, order(key, self.carriers[key]), **headers)
        with self._lock:
            self.answers[key].append(answer)
        return answer

    def ask_all(self, port: int, **headers: str) -> list[Answer]:
        with ThreadPoolExecutor(len(self.carriers)) as pool:
            return list(pool.map(partial(self.ask, port, **headers), self.carriers))

    @contextmanager
    def asking(self, port: int, **headers: str) -> Iterator["Future[list[Answer]]"]:
        """Order with every key while the block runs; wait for the answers after it."""
        with ThreadPoolExecutor(1) as pool:
            yield pool.submit(partial(self.ask_all, port, **headers))

    @contextmanager
    def persisting(self, port: int) -> Iterator[None]:
        """Ask at every moment with the keys that have no label yet."""
        is_over = Event()

        def persist(keys: list[str]) -> None:
            while not is_over.wait(PACE_S):
                for key in keys:
                    if not any(answer.status == 201 for answer in self.answers[key]):
                        self.ask(port, key)

        keys = list(self.carriers)
        with ThreadPoolExecutor(CLIENTS) as pool:
            for number in range(CLIENTS):
                pool.submit(persist, keys[number::CLIENTS])
            try:
                yield
            finally:
                is_over.set()

    def settle(self, port: int, seconds: float = SETTLE_S, *, reconciler: int | None = None) -> None:
        """Reconcile again and again while the clients persist; `reconciler` is another host's port."""
        ends_at, outcomes = time.monotonic() + seconds, set()
        with self.persisting(port):
            while time.monotonic() < ends_at:
                self.env.buy_control(port)
                self.env.end_pauses()
                outcomes.add(call(reconciler or port, "POST", "/drill/reconcile-all").status)
                time.sleep(1)
        assert 200 in outcomes, "no reconciliation came to its end"

    def audited(self, port: int) -> AuditResult:
        """Ask once more with every key, then compare the ledger with the table."""
        self.ask_all(port)
        audit = Audit(self.env)
        result = audit.keys(self.answers)
        result.faults += audit.wrongly_shown(self.answers, port)
        result.add(audit.unrecorded())
        return result

    def audited_in_flight(self, port: int) -> AuditResult:
        """Do as `audited`; also find purchases that were settled by others while their own process still made them."""
        result, audit = self.audited(port), Audit(self.env)
        rows = [row for key in self.answers for row in audit.rows[key]]
        settled = [row.id for row in rows if row.last_event == "answered_late"]
        return result.with_faults([f"{label_id}: was settled while it was bought" for label_id in settled])

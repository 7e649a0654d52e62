"""Clients that order labels, and ask again with the same keys until they have them."""

import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from functools import partial

from tests.drills.audit import Audit, AuditResult
from tests.drills.environment import lease_settings
from tests.drills.orders import Orders
from tests.support.http import Answer, call
from tests.support.threads import repeated

TIMEOUT_S, MARGIN_S = 4.0, 2.0
LEASE_S = TIMEOUT_S + MARGIN_S
RECONCILE_WAIT_S = 14.0
# The wait is longer than the lease: in between the clients ask, too.
SETTINGS = lease_settings(TIMEOUT_S, MARGIN_S, RECONCILE_WAIT_S, calls=32)
# Until everything that can be settled is: reconciliations begin after the lease, and believe after the wait.
SETTLE_S = RECONCILE_WAIT_S + LEASE_S + 2
PACE_S = 0.25
CLIENTS = 4


class Buyers(Orders):
    """The orders of one act, whose clients persist."""

    @contextmanager
    def asking(self, port: int, **headers: str) -> Iterator["Future[list[Answer]]"]:
        """Order with every key while the block runs; wait for the answers after it."""
        with ThreadPoolExecutor(1) as pool:
            yield pool.submit(partial(self.send_all, port, **headers))

    @contextmanager
    def persisting(self, port: int) -> Iterator[None]:
        """Ask at every moment with the keys that have no label yet."""

        def ask(keys: list[str]) -> None:
            for key in keys:
                if not any(answer.status == 201 for answer in self.answers[key]):
                    self.send(port, key)

        with ExitStack() as stack:
            for number in range(CLIENTS):
                stack.enter_context(repeated(partial(ask, list(self.bodies)[number::CLIENTS]), PACE_S))
            yield

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

    def asked_and_audited(self, port: int) -> AuditResult:
        """Ask once more with every key, then compare the ledger with the table."""
        self.send_all(port)
        return self.audited(port)

    def audited_in_flight(self, port: int) -> AuditResult:
        """Do as `asked_and_audited`; also find purchases that were settled while their own process still made them."""
        result, audit = self.asked_and_audited(port), Audit(self.env)
        rows = [row for key in self.answers for row in audit.rows[key]]
        settled = [row.id for row in rows if row.last_event == "answered_late"]
        return result.with_faults([f"{label_id}: was settled while it was bought" for label_id in settled])

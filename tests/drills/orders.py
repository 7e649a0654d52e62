"""Labels that a drill orders: the orders by their keys, and all answers to each of them."""

from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import cycle
from typing import Any, Self

from tests.drills.audit import Audit, AuditResult
from tests.drills.environment import Environment
from tests.drills.shop import new_key, order
from tests.support.http import Answer


class Orders:
    """The orders of one scenario, of which each client repeats its own with the same key."""

    def __init__(self, env: Environment, count: int = 0, *carriers: str) -> None:
        """Make orders of these carriers by turns, by default of both."""
        self.env = env
        self.bodies: dict[str, dict[str, Any]] = {}
        self.answers: dict[str, list[Answer]] = {}
        for _, carrier in zip(range(count), cycle(carriers or ("alpha", "beta")), strict=False):
            self.add(carrier)

    def add(self, carrier: str, parcels: int = 1, **fields: Any) -> str:
        """Make an order; return its key."""
        key = new_key()
        self.bodies[key], self.answers[key] = order(key, carrier, parcels, **fields), []
        return key

    def join(self, *others: "Orders") -> Self:
        """Take others' orders, with their answers."""
        for each in others:
            self.bodies |= each.bodies
            self.answers |= each.answers
        return self

    def send(self, port: int, key: str, **headers: str) -> Answer:
        answer = self.env.buy(port, key, self.bodies[key], **headers)
        self.answers[key].append(answer)
        return answer

    def send_all(self, port: int, keys: Iterable[str] = (), at_once: int = 0, /, **headers: str) -> list[Answer]:
        """Send all orders, or those of some keys, at once, or so many of them."""
        sent = list(keys or self.bodies)
        with ThreadPoolExecutor(at_once or len(sent)) as pool:
            return list(pool.map(partial(self.send, port, **headers), sent))

    @property
    def seen(self) -> list[Answer]:
        return [answer for answers in self.answers.values() for answer in answers]

    def unexpected(self, expected: set[str]) -> list[Answer]:
        """Return the answers that there were with another outcome."""
        return [answer for answer in self.seen if answer.outcome not in expected]

    def audited(self, port: int | None = None) -> AuditResult:
        """Compare the carriers' ledger with the table, and with what the service at a port shows."""
        audit = Audit(self.env)
        result = audit.keys(self.answers).with_faults(audit.wrongly_shown(self.answers, port) if port else [])
        result.add(audit.unrecorded())
        return result

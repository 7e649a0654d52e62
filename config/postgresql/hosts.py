"""The state of a database's hosts in this process: the order to try them in, and a circuit breaker."""

import logging
import random
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from threading import Lock

import psycopg

from shops.db.failures import reason

Host = tuple[str, str]  # name and port, as text
# A host that has failed is tried last for this long.
AVOIDED_S = 30.0
# After a failure nobody connects for as long as the failure took, within these bounds; then one thread tries.
MIN_BACK_OFF_S, MAX_BACK_OFF_S = 0.25, 2.0
# The time one thread may take to try all hosts before another one tries as well.
MAX_ATTEMPT_S = 10.0
logger = logging.getLogger("database.hosts")


class Hosts:
    """The hosts of one database, shared by all threads. `order` ranks them; `attempt` is the circuit breaker.

    While the circuit is open, connecting fails at once; then one thread at a time tries (half-open). So a silent host
    delays one request, not every request.
    """

    def __init__(self, alias: str, hosts: list[Host], *, is_balanced: bool) -> None:
        self.alias = alias
        self.hosts = hosts
        self.is_balanced = is_balanced
        self.last_good: Host | None = None
        self.failed_at: dict[Host, float] = {}
        self.silent_at: dict[Host, float] = {}
        self.is_circuit_open = False
        self.next_attempt_at = 0.0
        self.lock = Lock()

    def order(self) -> list[Host]:
        """Rank the hosts: recently failed ones last; of the others, a random one or the last good one first."""
        now = time.monotonic()
        hosts = random.sample(self.hosts, len(self.hosts)) if self.is_balanced else self.hosts
        favourite = None if self.is_balanced else self.last_good
        return sorted(hosts, key=lambda host: (self.is_avoided(host, now), host != favourite))

    def is_avoided(self, host: Host, now: float) -> bool:
        return now - self.failed_at.get(host, -AVOIDED_S) < AVOIDED_S

    @contextmanager
    def attempt(self) -> Iterator[None]:
        """Raise psycopg.OperationalError without connecting if another thread is trying, or has just failed."""
        started_at = time.monotonic()
        with self.lock:
            if self.is_circuit_open and started_at < self.next_attempt_at:
                raise psycopg.OperationalError("the database could not be reached a moment ago")
            self.next_attempt_at = started_at + MAX_ATTEMPT_S
        try:
            yield
        except psycopg.OperationalError as error:
            self.note_failure(started_at, error)
            raise
        except BaseException:
            self.next_attempt_at = 0.0
            raise

    def note_failure(self, started_at: float, error: Exception) -> None:
        now = time.monotonic()
        if not self.is_circuit_open:
            logger.warning("database not reachable", extra={"database": self.alias, "reason": reason(error)})
        self.is_circuit_open = True
        self.next_attempt_at = now + min(MAX_BACK_OFF_S, max(MIN_BACK_OFF_S, now - started_at))

    def note_success(self, reached: Host, order: list[Host]) -> None:
        """Close the circuit; the hosts tried before the one reached have failed."""
        now = time.monotonic()
        self.failed_at.update(dict.fromkeys(order[: order.index(reached)] if reached in order else [], now))
        self.failed_at.pop(reached, None)
        if self.is_circuit_open:
            logger.warning("database reachable again", extra={"database": self.alias, "host": ":".join(reached)})
        self.last_good = reached
        self.is_circuit_open = False

    def note_silence(self, host: Host) -> None:
        """Count all connections to the host as lost: a statement on one of them got no answer."""
        now = self.silent_at[host] = self.failed_at[host] = time.monotonic()
        is_another_good = self.is_balanced and not all(self.is_avoided(other, now) for other in self.hosts)
        if not self.is_circuit_open and not is_another_good:
            self.is_circuit_open = True
            self.next_attempt_at = 0.0  # half-open at once: the next thread tries, the others wait for its result
        logger.warning("database silent", extra={"database": self.alias, "host": ":".join(host)})

    def is_lost(self, host: Host, connected_at: float) -> bool:
        return connected_at <= self.silent_at.get(host, -1.0)


@cache
def hosts_of(alias: str, names: str, ports: str, *, is_balanced: bool) -> Hosts:
    """Return the process's state of a database's hosts, given as libpq takes them: comma-separated."""
    split_names, split_ports = names.split(","), ports.split(",")
    if len(split_ports) == 1:
        split_ports *= len(split_names)
    return Hosts(alias, list(zip(split_names, split_ports, strict=True)), is_balanced=is_balanced)

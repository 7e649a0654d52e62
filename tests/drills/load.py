"""Clients of a service that keep what they are answered: in loops, each with one request at a time."""

import random
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable
from concurrent.futures import Executor, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple, Self

from tests.drills.environment import Environment
from tests.drills.orders import Orders
from tests.drills.printing import percentiles_ms
from tests.drills.process import metered
from tests.drills.shop import carrier_of
from tests.support.http import Answer, GetConnection
from tests.support.paths import PARCELS

LOOK_UP_TIMEOUT_S = 5.0
MOST = 850  # clients of one load


class Record(NamedTuple):
    """The outcome of one request, and its duration; its phase, its kind, and its end on the monotonic clock."""

    outcome: str
    duration_s: float
    phase: str = ""
    kind: str = ""
    at: float = 0.0


def outcomes(records: Iterable[Record]) -> "Counter[str]":
    return Counter(record.outcome for record in records)


def slowest_s(records: Iterable[Record]) -> float:
    return max((record.duration_s for record in records), default=0.0)


class Load:
    """Clients that are at work while the block is, each in a thread; the phase of their requests may change."""

    def __init__(self, env: Environment, *clients: Callable[[], None]) -> None:
        self.env, self.clients = env, clients
        self.phase = ""
        self.records: list[Record] = []
        self.orders = Orders(env)
        self.over = threading.Event()
        self.running: list[Future[object]] = []

    def __enter__(self) -> Self:
        self.began_at = time.monotonic()
        self.pool = ThreadPoolExecutor(MOST)
        self.begin_each(self.clients)
        return self

    def begin_each(self, acts: Iterable[Callable[[], object]]) -> None:
        self.running += [self.pool.submit(act) for act in acts]

    def __exit__(self, *exc_info: object) -> None:
        """Let the clients finish; raise an error of theirs."""
        self.over.set()
        self.ended_at = time.monotonic()
        wait(self.running[: len(self.clients)])  # they may begin others
        for each in self.running:
            each.result()
        self.pool.shutdown()

    def note(self, phase: str, kind: str, answer: Answer) -> Answer:
        self.records.append(Record(answer.outcome, answer.duration_s, phase, kind, time.monotonic()))
        return answer

    def of(self, kind: str, phase: str = "") -> list[Record]:
        return [record for record in self.records if (record.kind, record.phase) == (kind, phase)]


@dataclass(frozen=True)
class Clients:
    """A number of clients of one server, active for some seconds, each with at most one request every `pace_s`."""

    env: Environment
    port: int
    count: int
    seconds: float
    pace_s: float

    def look_ups(self, numbers: list[str]) -> list[Record]:
        """Look up parcels by random choices of these tracking numbers, over keep-alive connections."""
        return self.run(lambda number: LookUpClient(self, numbers, number).ask)

    def labels(self) -> dict[str, list[Answer]]:
        """Order labels from both carriers, each until it is bought or may have been made; return all answers by key."""
        orders = Orders(self.env)

        def client(number: int) -> Callable[[], str]:
            keys = [orders.add(carrier_of(number))]

            def ask() -> str:
                answer = orders.send(self.port, keys[-1])
                if answer.status == 201 or answer.outcome.endswith("OUTCOME_UNKNOWN"):
                    keys.append(orders.add(carrier_of(number)))
                return answer.outcome

            return ask

        self.run(client)
        return {key: seen for key, seen in orders.answers.items() if seen}

    def run(self, client: Callable[[int], Callable[[], str]]) -> list[Record]:
        """Let each client ask, which is made of its number; return what was answered."""
        with ThreadPoolExecutor(self.count) as pool:
            shares = pool.map(lambda number: self._loop(client(number)), range(self.count))
            return [record for share in shares for record in share]

    def _loop(self, ask: Callable[[], str]) -> list[Record]:
        records, ends_at = [], time.monotonic() + self.seconds
        while (started_s := time.monotonic()) < ends_at:
            outcome = ask()
            duration_s = time.monotonic() - started_s
            records.append(Record(outcome, duration_s))
            time.sleep(max(0.0, self.pace_s - duration_s))
        return records


class LookUpClient:
    """Looks up one parcel after another over one keep-alive connection."""

    def __init__(self, clients: Clients, numbers: list[str], seed: int) -> None:
        self._numbers = numbers
        self._random = random.Random(seed)
        self._connect = partial(GetConnection, clients.port, clients.env.token, LOOK_UP_TIMEOUT_S)
        self._connection: GetConnection | None = None

    def ask(self) -> str:
        try:
            self._connection = self._connection or self._connect()
            self._connection.send(PARCELS + self._random.choice(self._numbers))
            while not (status := self._connection.receive()):
                pass
            return status.decode()
        except OSError:
            if self._connection:
                self._connection.close()
            self._connection = None
            return "no answer"


@dataclass(frozen=True)
class LookUps:
    """The look-ups of one phase; times in seconds."""

    samples: list[Record]
    seconds: float
    cpu_s: float
    database_cpu_s: float = 0.0  # where it is measured

    @property
    def answered(self) -> float:
        return sum(record.outcome == "200" for record in self.samples) / len(self.samples)

    @property
    def rate(self) -> float:
        return len(self.samples) / self.seconds

    @property
    def cpu_ms(self) -> float:
        """CPU time of the whole service for each look-up; it includes that of labels ordered meanwhile."""
        return 1000 * self.cpu_s / len(self.samples)

    @property
    def database_cpu_ms(self) -> float:
        return 1000 * self.database_cpu_s / len(self.samples)

    @property
    def percentiles_ms(self) -> list[float]:
        return percentiles_ms([record.duration_s for record in self.samples])

    def __str__(self) -> str:
        p50, p95, p99 = self.percentiles_ms
        slowest = 1000 * max(record.duration_s for record in self.samples)
        return (
            f"{self.answered:8.2%} {self.rate:7.0f}/s {p50:8.1f} {p95:8.1f} {p99:8.1f} "
            f"{slowest:8.1f} ms {self.cpu_ms:7.2f} ms"
        )


def look_ups(pool: Executor, numbers: list[str], server: int, clients: Clients) -> LookUps:
    """Run clients in a process of their own; `server` is the id of the service's process."""
    with metered(server) as used:
        samples = pool.submit(clients.look_ups, numbers).result()
    return LookUps(samples, *used)

"""Clients that send one request after another (a closed loop): some look parcels up, some order labels."""

import random
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from statistics import quantiles

from tests.benchmarks.driver import GetConnection
from tests.drills.environment import Environment
from tests.drills.shop import carrier_of, new_key, order
from tests.support.http import Answer
from tests.support.paths import PARCELS

LOOK_UP_TIMEOUT_S = 5.0


@dataclass(frozen=True)
class Sample:
    """The outcome of one request, and its duration."""

    outcome: str
    duration_s: float


@dataclass(frozen=True)
class Clients:
    """A number of clients of one server, active for some seconds, each with at most one request every `pace_s`."""

    env: Environment
    port: int
    count: int
    seconds: float
    pace_s: float

    def look_ups(self, numbers: list[str]) -> list[Sample]:
        """Look up parcels by random choices of these tracking numbers."""
        return self._run(lambda number: LookUpClient(self, numbers, number).ask)

    def labels(self) -> dict[str, list[Answer]]:
        """Order labels from both carriers; return all answers by key."""
        answers: dict[str, list[Answer]] = {}
        self._run(lambda number: LabelClient(self, carrier_of(number), answers).ask)
        return answers

    def _run(self, client: Callable[[int], Callable[[], str]]) -> list[Sample]:
        with ThreadPoolExecutor(self.count) as pool:
            shares = pool.map(lambda number: self._loop(client(number)), range(self.count))
            return [sample for share in shares for sample in share]

    def _loop(self, ask: Callable[[], str]) -> list[Sample]:
        samples, ends_at = [], time.monotonic() + self.seconds
        while (started_s := time.monotonic()) < ends_at:
            outcome = ask()
            duration_s = time.monotonic() - started_s
            samples.append(Sample(outcome, duration_s))
            time.sleep(max(0.0, self.pace_s - duration_s))
        return samples


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


class LabelClient:
    """Orders a label until it gets it, or until the carrier may have made it; then the next."""

    def __init__(self, clients: Clients, carrier: str, answers: dict[str, list[Answer]]) -> None:
        self._clients = clients
        self._carrier = carrier
        self._answers = answers
        self._key = new_key()

    def ask(self) -> str:
        answer = self._clients.env.buy(self._clients.port, self._key, order(self._key, self._carrier))
        self._answers.setdefault(self._key, []).append(answer)
        if answer.status == 201 or answer.outcome.endswith("OUTCOME_UNKNOWN"):
            self._key = new_key()
        return answer.outcome


def percentiles(durations_s: list[float]) -> tuple[float, float, float]:
    """Return the 50th, 95th and 99th, in seconds."""
    if len(durations_s) == 1:
        return (durations_s[0],) * 3
    cuts = quantiles(durations_s, n=100, method="inclusive")
    return cuts[49], cuts[94], cuts[98]

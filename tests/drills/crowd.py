"""Clients of a drill, in processes of their own: some look parcels up, some order labels, all in a loop for a time."""

import random
import socket
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from statistics import quantiles

from tests.benchmarks.drive import get, read_answer
from tests.drills.environment import Answer, call, new_key, order
from tests.support.paths import PARCELS, SHIPMENTS

# A client that looks a parcel up gives it up after this long.
GIVEN_UP_S = 5.0
LATE = "no answer"


@dataclass(frozen=True)
class Seen:
    """One answer: what it was, and how long it took."""

    outcome: str
    duration_s: float


@dataclass(frozen=True)
class Crowd:
    """So many clients of a server, at it for so many seconds, each with a request every `pace_s` at the most."""

    port: int
    token: str
    clients: int
    seconds: float
    pace_s: float

    def look_ups(self, numbers: list[str]) -> list[Seen]:
        """Look up parcels by any of these tracking numbers."""
        return self._all(lambda client: Visitor(self, numbers, client))

    def labels(self) -> dict[str, list[Answer]]:
        """Order labels, from both carriers in turns; return all answers by key."""
        answers: dict[str, list[Answer]] = {}
        self._all(lambda client: Buyer(self, ("alpha", "beta")[client % 2], answers))
        return answers

    def _all(self, client: Callable[[int], "Visitor | Buyer"]) -> list[Seen]:
        with ThreadPoolExecutor(self.clients) as pool:
            return [
                seen
                for each in pool.map(lambda number: self._one(client(number)), range(self.clients))
                for seen in each
            ]

    def _one(self, client: "Visitor | Buyer") -> list[Seen]:
        seen, until = [], time.monotonic() + self.seconds
        while (started_s := time.monotonic()) < until:
            outcome = client.ask()
            took_s = time.monotonic() - started_s
            seen.append(Seen(outcome, took_s))
            time.sleep(max(0.0, self.pace_s - took_s))
        return seen


class Visitor:
    """Looks up one parcel after another over a connection that it keeps."""

    def __init__(self, crowd: Crowd, numbers: list[str], seed: int) -> None:
        self._crowd = crowd
        self._numbers = numbers
        self._random = random.Random(seed)
        self._connection: socket.socket | None = None

    def ask(self) -> str:
        number = self._random.choice(self._numbers)
        try:
            connection = self._connected()
            connection.sendall(get(PARCELS + number, self._crowd.token))
            return read_answer(self._receive)[9:12].decode()
        except OSError:
            if self._connection:
                self._connection.close()
            self._connection = None
            return LATE

    def _connected(self) -> socket.socket:
        if self._connection is None:
            self._connection = socket.create_connection(("127.0.0.1", self._crowd.port), timeout=GIVEN_UP_S)
            self._connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return self._connection

    def _receive(self, size: int) -> bytes:
        assert self._connection
        data = self._connection.recv(size)
        if not data:
            raise ConnectionError("closed")
        return data


class Buyer:
    """Orders a label until it has it, or until the carrier may have made it, and then the next."""

    def __init__(self, crowd: Crowd, carrier: str, answers: dict[str, list[Answer]]) -> None:
        self._crowd = crowd
        self._carrier = carrier
        self._answers = answers
        self._key = new_key()

    def ask(self) -> str:
        headers = {"Authorization": f"Bearer {self._crowd.token}", "Idempotency-Key": self._key}
        answer = call(self._crowd.port, "POST", SHIPMENTS, order(self._key, self._carrier), headers)
        self._answers.setdefault(self._key, []).append(answer)
        if answer.status == 201 or answer.outcome.endswith("OUTCOME_UNKNOWN"):
            self._key = new_key()
        return answer.outcome


def percentiles(durations_s: list[float]) -> tuple[float, float, float]:
    """The 50th, 95th and 99th, in seconds."""
    if len(durations_s) == 1:
        return (durations_s[0],) * 3
    cuts = quantiles(durations_s, n=100, method="inclusive")
    return cuts[49], cuts[94], cuts[98]

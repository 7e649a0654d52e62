"""A mixed load that arrives at its own pace: 95 % look-ups, 4 % searches, 1 % label orders, and what became of it."""

import itertools
import random
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPException
from typing import Any, Self
from urllib.parse import quote

from tests.drills.environment import Answer, Stage, new_key, order
from tests.support.paths import PARCELS, SEARCH

SEARCH_ORDER = f"{SEARCH}?orderName="
KINDS = ("look-up", "search", "label")
CLIENTS, BUYERS = 32, 64
CLIENT_TIMEOUT_S = 10
# A buyer asks again, with the same key, until it has a label or an answer that says why not; at most so long.
DB_RETRY_TIMEOUT_S, PAUSE_S = 90, 1.0
FINAL = {201, 400, 401, 403, 404, 422}


@dataclass
class Tally:
    """What came back of one kind of request, and when something good did."""

    outcomes: Counter[str] = field(default_factory=Counter)
    good_at: list[float] = field(default_factory=list)
    slowest_s: float = 0.0

    def add(self, outcome: str, duration_s: float, *, is_good: bool) -> None:
        self.outcomes[outcome] += 1
        self.slowest_s = max(self.slowest_s, duration_s)
        if is_good:
            self.good_at.append(time.monotonic())

    def longest_gap_s(self, began_at: float, ended_at: float) -> float:
        moments = [began_at, *(moment for moment in sorted(self.good_at) if moment < ended_at), ended_at]
        return max(after - before for before, after in itertools.pairwise(moments))


@dataclass
class Load:
    """One act's requests, to `port`, for the parcels with these numbers and order numbers."""

    world: Stage
    port: int
    rate: float  # requests a second
    numbers: list[str]
    orders: list[str]
    tallies: dict[str, Tally] = field(default_factory=lambda: {kind: Tally() for kind in KINDS})
    # Every answer that each buyer saw.
    keys: dict[str, list[Answer]] = field(default_factory=dict)
    began_at: float = 0.0
    ended_at: float = 0.0

    def __post_init__(self) -> None:
        self.over = threading.Event()
        self.lock = threading.Lock()
        self.ticks = itertools.count()
        self.buyers = ThreadPoolExecutor(BUYERS)
        self.bought: list[Any] = []

    def __enter__(self) -> Self:
        self.began_at = time.monotonic()
        self.threads = [threading.Thread(target=self.client) for _ in range(CLIENTS)]
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *exc_info: object) -> None:
        """Stop, and let the buyers come to an end."""
        self.over.set()
        self.ended_at = time.monotonic()
        for thread in self.threads:
            thread.join()
        wait(self.bought)
        self.buyers.shutdown()

    def client(self) -> None:
        connection = None
        while (tick := self.next_tick()) is not None:
            if tick % 100 == 99:
                self.bought.append(self.buyers.submit(self.buy, tick))
                continue
            kind = "search" if tick % 100 in {20, 40, 60, 80} else "look-up"
            connection = self.ask(kind, connection)

    def next_tick(self) -> int | None:
        """Wait for the time of the next request that nobody has taken; None at the end."""
        with self.lock:
            tick = next(self.ticks)
        wait_s = self.began_at + tick / self.rate - time.monotonic()
        return None if self.over.wait(max(0.0, wait_s)) else tick

    def ask(self, kind: str, connection: HTTPConnection | None) -> HTTPConnection | None:
        """Ask once; return the connection if it can be kept."""
        prefix, values = (PARCELS, self.numbers) if kind == "look-up" else (SEARCH_ORDER, self.orders)
        path = prefix + quote(random.choice(values))
        connection = connection or HTTPConnection("127.0.0.1", self.port, timeout=CLIENT_TIMEOUT_S)
        started_at = time.monotonic()
        status = 0
        try:
            connection.request("GET", path, headers={"Authorization": f"Bearer {self.world.token}"})
            response = connection.getresponse()
            response.read()
            status = response.status
        except (HTTPException, OSError):
            connection.close()
        duration_s = time.monotonic() - started_at
        with self.lock:
            self.tallies[kind].add(str(status or "no answer"), duration_s, is_good=status == 200)
        return connection if status else None

    def buy(self, tick: int) -> None:
        """Order a label, and again with the same key, as a sensible client does."""
        key = new_key()
        body = order(key, "alpha" if tick // 100 % 2 else "beta")
        seen = self.keys[key] = []
        deadline = time.monotonic() + DB_RETRY_TIMEOUT_S
        while True:
            answer = self.world.buy(self.port, key, body)
            seen.append(answer)
            with self.lock:
                self.tallies["label"].add(answer.outcome, answer.duration_s, is_good=answer.status == 201)
            if answer.status in FINAL or time.monotonic() > deadline:
                return
            time.sleep(float(answer.headers.get("retry-after", PAUSE_S)))

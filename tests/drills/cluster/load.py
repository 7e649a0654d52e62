"""Loads at fixed rates (open loops), 24 look-ups to a search beside label orders, and their outcomes."""

import itertools
import random
import threading
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any, Self
from urllib.parse import quote

from tests.drills.environment import Environment
from tests.drills.shop import carrier_of, new_key, order
from tests.support.http import Answer, Connection
from tests.support.paths import PARCELS, SEARCH

SEARCH_ORDER = f"{SEARCH}?orderName="
KINDS = ("look-up", "search", "label")
CLIENTS, BUYERS = 32, 800
CLIENT_TIMEOUT_S = 10
# A buyer retries with the same key until it has a label or a final refusal, at most for this long.
BUYER_TIMEOUT_S, PAUSE_S = 90, 1.0
FINAL = {201, 400, 401, 403, 404, 422}


@dataclass
class Tally:
    """Outcomes of one kind of request, and the times of the good ones."""

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
    """The requests of one scenario, for parcels with these tracking numbers and order numbers."""

    env: Environment
    port: int
    rate: float  # look-ups and searches a second
    order_rate: float  # orders a second
    numbers: list[str]
    orders: list[str]
    tallies: dict[str, Tally] = field(default_factory=lambda: {kind: Tally() for kind in KINDS})
    # Each buyer's answers.
    keys: dict[str, list[Answer]] = field(default_factory=dict)
    began_at: float = 0.0
    ended_at: float = 0.0

    def __post_init__(self) -> None:
        self.over = threading.Event()
        self.lock = threading.Lock()
        self.buyers = ThreadPoolExecutor(BUYERS)
        self.bought: list[Any] = []

    def __enter__(self) -> Self:
        self.began_at = time.monotonic()
        ticks = itertools.count()
        self.threads = [threading.Thread(target=self.client, args=(ticks,)) for _ in range(CLIENTS)]
        self.threads.append(threading.Thread(target=self.order))
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *exc_info: object) -> None:
        """Stop, and let the buyers finish."""
        self.over.set()
        self.ended_at = time.monotonic()
        for thread in self.threads:
            thread.join()
        wait(self.bought)
        self.buyers.shutdown()

    def client(self, ticks: Iterator[int]) -> None:
        with closing(Connection(self.port, CLIENT_TIMEOUT_S)) as connection:
            while (tick := self.next_tick(ticks, self.rate)) is not None:
                self.get("look-up" if tick % 25 else "search", connection)

    def order(self) -> None:
        ticks = itertools.count()
        while (tick := self.next_tick(ticks, self.order_rate)) is not None:
            self.bought.append(self.buyers.submit(self.buy, tick))

    def next_tick(self, ticks: Iterator[int], rate: float) -> int | None:
        """Take the next request and wait for its time; None at the end."""
        with self.lock:
            tick = next(ticks)
        wait_s = self.began_at + tick / rate - time.monotonic()
        return None if self.over.wait(max(0.0, wait_s)) else tick

    @property
    def first_answers(self) -> Counter[str]:
        """Count the orders' answers before any retry."""
        return Counter(answers[0].outcome for answers in self.keys.values())

    @property
    def slowest_label_s(self) -> float:
        """The longest that a request for an order took that was answered with its label."""
        answers = itertools.chain.from_iterable(self.keys.values())
        return max((answer.duration_s for answer in answers if answer.status == 201), default=0.0)

    def get(self, kind: str, connection: Connection) -> None:
        prefix, values = (PARCELS, self.numbers) if kind == "look-up" else (SEARCH_ORDER, self.orders)
        answer = connection.request("GET", prefix + quote(random.choice(values)), headers=self.env.bearer)
        with self.lock:
            outcome = str(answer.status or "no answer")
            self.tallies[kind].add(outcome, answer.duration_s, is_good=answer.status == 200)

    def buy(self, tick: int) -> None:
        """Order a label, and retry with the same key, as a sensible client does."""
        key = new_key()
        body = order(key, carrier_of(tick))
        seen = self.keys[key] = []
        deadline = time.monotonic() + BUYER_TIMEOUT_S
        while True:
            answer = self.env.buy(self.port, key, body)
            seen.append(answer)
            with self.lock:
                self.tallies["label"].add(answer.outcome, answer.duration_s, is_good=answer.status == 201)
            if answer.status in FINAL or time.monotonic() > deadline:
                return
            time.sleep(float(answer.headers.get("retry-after", PAUSE_S)))

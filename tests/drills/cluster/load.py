"""Loads at fixed rates (open loops), 24 look-ups to a search beside label orders, and their outcomes."""

import itertools
import random
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from functools import partial
from urllib.parse import quote

from tests.drills.environment import Environment
from tests.drills.load import Load, outcomes, slowest_s
from tests.drills.printing import counts
from tests.drills.shop import carrier_of
from tests.support.http import Connection
from tests.support.paths import PARCELS, SEARCH

KINDS = ("look-up", "search", "label")
GOOD = {"200", "201", "201 replayed"}
CLIENTS = 32
CLIENT_TIMEOUT_S = 10
# A buyer retries with the same key until it has a label or a final refusal, at most for this long.
BUYER_TIMEOUT_S, PAUSE_S = 90, 1.0
FINAL = {201, 400, 401, 403, 404, 422}


class Rates(Load):
    """The requests of one scenario: so many look-ups and searches a second, and so many orders."""

    def __init__(
        self, env: Environment, port: int, rate: float, order_rate: float, paths: dict[str, list[str]]
    ) -> None:
        super().__init__(env, *[self.get] * CLIENTS, self.order)
        self.port, self.rate, self.order_rate, self.paths = port, rate, order_rate, paths
        self.ticks, self.lock = itertools.count(), threading.Lock()

    def get(self) -> None:
        with closing(Connection(self.port, CLIENT_TIMEOUT_S)) as connection:
            while (tick := self.next_tick(self.ticks, self.rate)) is not None:
                kind = "look-up" if tick % 25 else "search"
                path = random.choice(self.paths[kind])
                self.note("", kind, connection.request("GET", path, headers=self.env.bearer))

    def order(self) -> None:
        ticks = itertools.count()
        while (tick := self.next_tick(ticks, self.order_rate)) is not None:
            self.begin_each([partial(self.buy, tick)])

    def next_tick(self, ticks: Iterator[int], rate: float) -> int | None:
        """Take the next request and wait for its time; None at the end."""
        with self.lock:
            tick = next(ticks)
        wait_s = self.began_at + tick / rate - time.monotonic()
        return None if self.over.wait(max(0.0, wait_s)) else tick

    def buy(self, tick: int) -> None:
        """Order a label, and retry with the same key, as a sensible client does."""
        key, deadline = self.orders.add(carrier_of(tick)), time.monotonic() + BUYER_TIMEOUT_S
        while True:
            answer = self.note("", "label", self.orders.send(self.port, key))
            if answer.status in FINAL or time.monotonic() > deadline:
                return
            time.sleep(float(answer.headers.get("retry-after", PAUSE_S)))

    def show(self) -> None:
        for kind in KINDS:
            records = self.of(kind)
            good_at = sorted(each.at for each in records if each.outcome in GOOD and each.at < self.ended_at)
            moments = [self.began_at, *good_at, self.ended_at]
            gap_s = max(after - before for before, after in itertools.pairwise(moments))
            slow_s, seen = slowest_s(records), counts(outcomes(records))
            print(f"  {kind:8} longest gap {gap_s:5.1f} s, slowest {slow_s:5.1f} s   {seen}", flush=True)
        first = Counter(answers[0].outcome for answers in self.orders.answers.values())
        label_s = max((answer.duration_s for answer in self.orders.seen if answer.status == 201), default=0.0)
        print(f"  first answers to orders: {counts(first)}; the slowest label took {label_s:.1f} s", flush=True)


def paths_of(samples: list[dict[str, str]]) -> dict[str, list[str]]:
    """Return the paths of look-ups and searches that find these parcels."""
    return {
        "look-up": [PARCELS + quote(sample["trackingId"]) for sample in samples],
        "search": [f"{SEARCH}?orderName={quote(sample['orderNumber'])}" for sample in samples],
    }

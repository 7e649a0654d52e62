"""Clients that look up and order without a pause, at one address or at several by turns."""

import itertools
import random
import threading
from collections import Counter, defaultdict
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from typing import Any, Self

from tests.drills.environment import Environment
from tests.drills.shop import carrier_of, new_key, order
from tests.support.http import Answer, Connection
from tests.support.paths import PARCELS, SHIPMENTS

Address = tuple[str, int]  # a host and a port

KEPT, NEW, BUYERS = 3, 2, 3  # clients that keep their connections, that open one for each look-up, that order
LOOK_UP_PACE_S, BUYER_PACE_S = 0.02, 0.1


class Load:
    """Clients of a service; answers, and the longest wait for one, are counted by phase."""

    def __init__(self, env: Environment, numbers: list[str]) -> None:
        self.env, self.numbers = env, numbers
        self.addresses: tuple[Address, ...] = ()
        self.turns = itertools.count()
        self.phase = ""
        self.answers: Counter[tuple[str, str]] = Counter()
        self.longest_s: defaultdict[tuple[str, str], float] = defaultdict(float)
        self.keys: dict[str, list[Answer]] = {}
        self.over = threading.Event()
        self.lock = threading.Lock()

    def __enter__(self) -> Self:
        self.pool = ThreadPoolExecutor(KEPT + NEW + BUYERS)
        clients = [self.look_up_kept] * KEPT + [self.look_up_new] * NEW + [self.buy] * BUYERS
        self.running = [self.pool.submit(client) for client in clients]
        return self

    def __exit__(self, *exc_info: object) -> None:
        """Let the clients finish; raise an error of theirs."""
        self.over.set()
        self.pool.shutdown()
        for client in self.running:
            client.result()

    def begin(self, phase: str, *addresses: Address) -> None:
        self.addresses, self.phase = addresses, phase

    def turn(self) -> Address:
        addresses = self.addresses
        return addresses[next(self.turns) % len(addresses)]

    def count(self, phase: str, what: str, answer: Answer) -> Answer:
        with self.lock:
            self.answers[phase, f"{what} {answer.outcome}"] += 1
            self.longest_s[phase, what] = max(self.longest_s[phase, what], answer.duration_s)
        return answer

    def look_up_kept(self) -> None:
        while not self.over.is_set():
            addresses = self.addresses
            with ExitStack() as stack:
                kept = [stack.enter_context(closing(Connection(port, host=host))) for host, port in addresses]
                for connection in itertools.cycle(kept):
                    if self.over.wait(LOOK_UP_PACE_S) or self.addresses != addresses:
                        break
                    path = PARCELS + random.choice(self.numbers)
                    self.count(self.phase, "look-up", connection.request("GET", path, headers=self.env.bearer))

    def look_up_new(self) -> None:
        while not self.over.wait(LOOK_UP_PACE_S):
            phase = self.phase
            self.count(phase, "look-up", self.ask("GET", PARCELS + random.choice(self.numbers)))

    def buy(self) -> None:
        """Order, repeat the order with the same key, and retrieve the label: each at the next address."""
        for number in itertools.count():
            if self.over.wait(BUYER_PACE_S):
                return
            phase, key = self.phase, new_key()
            body = order(key, carrier_of(number))
            sent = {"Idempotency-Key": key}
            seen = self.keys[key] = [self.count(phase, "order", self.ask("POST", SHIPMENTS, body, sent))]
            seen.append(self.count(phase, "repeated", self.ask("POST", SHIPMENTS, body, sent)))
            self.count(phase, "label", self.ask("GET", f"{SHIPMENTS}/{seen[0].body.get('id')}"))

    def ask(self, method: str, path: str, body: Any = None, headers: dict[str, str] | None = None) -> Answer:
        """Send one request over a connection of its own."""
        host, port = self.turn()
        with closing(Connection(port, host=host)) as connection:
            return connection.request(method, path, body, self.env.bearer | (headers or {}))

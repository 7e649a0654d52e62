"""Clients that take turns at several servers, and send each order once more to the next one."""

import itertools
import random
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from typing import Self

from tests.drills.environment import Environment
from tests.drills.http_client import Answer, Connection, call
from tests.drills.shop import carrier_of, new_key, order
from tests.drills.versions import Version
from tests.support.paths import PARCELS, SHIPMENTS

LOOK_UP_CLIENTS, LOOK_UP_PACE_S = 4, 0.02
BUYERS, BUYER_PACE_S = 3, 0.1


class Load:
    """Clients that take turns at the servers in rotation; answers are counted by phase."""

    def __init__(self, env: Environment, numbers: list[str]) -> None:
        self.env, self.numbers = env, numbers
        self.headers = {"Authorization": f"Bearer {env.token}"}
        self.rotation: tuple[int, ...] = ()
        self.turns = itertools.count()
        self.phase = ""
        self.answers: Counter[tuple[str, str]] = Counter()
        self.keys: dict[str, list[Answer]] = {}
        self.over = threading.Event()
        self.lock = threading.Lock()

    def __enter__(self) -> Self:
        self.pool = ThreadPoolExecutor(LOOK_UP_CLIENTS + BUYERS)
        clients = [self.look_up] * LOOK_UP_CLIENTS + [self.buy] * BUYERS
        self.running = [self.pool.submit(client) for client in clients]
        return self

    def __exit__(self, *exc_info: object) -> None:
        """Let the clients finish; raise an error of theirs."""
        self.over.set()
        self.pool.shutdown()
        for client in self.running:
            client.result()

    def begin(self, phase: str, *rotation: Version) -> None:
        self.rotation, self.phase = tuple(version.port for version in rotation), phase

    def turn(self) -> int:
        rotation = self.rotation
        return rotation[next(self.turns) % len(rotation)]

    def count(self, phase: str, what: str, answer: Answer) -> None:
        with self.lock:
            self.answers[phase, f"{what} {answer.outcome}"] += 1

    def look_up(self) -> None:
        with ExitStack() as stack:
            connections: dict[int, Connection] = {}
            while not self.over.wait(LOOK_UP_PACE_S):
                phase, port = self.phase, self.turn()
                if port not in connections:
                    connections[port] = stack.enter_context(closing(Connection(port)))
                path = PARCELS + random.choice(self.numbers)
                self.count(phase, "look-up", connections[port].request("GET", path, headers=self.headers))

    def buy(self) -> None:
        """Order at one server, repeat it at the next with the same key, and retrieve the label there too."""
        for number in itertools.count():
            if self.over.wait(BUYER_PACE_S):
                return
            phase, key = self.phase, new_key()
            body = order(key, carrier_of(number))
            seen = self.keys[key] = [self.env.buy(self.turn(), key, body)]
            self.count(phase, "order", seen[0])
            seen.append(self.env.buy(self.turn(), key, body))
            self.count(phase, "repeated", seen[1])
            path = f"{SHIPMENTS}/{seen[0].body.get('id')}"
            self.count(phase, "label", call(self.turn(), "GET", path, headers=self.headers))

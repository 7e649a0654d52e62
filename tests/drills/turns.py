"""Clients that look up and order without a pause, at one address or at several by turns."""

import itertools
import random
from contextlib import ExitStack, closing
from typing import Any

from tests.drills.environment import Environment
from tests.drills.load import Load
from tests.drills.shop import carrier_of
from tests.support.http import Answer, Connection
from tests.support.paths import PARCELS, SHIPMENTS

Address = tuple[str, int]  # a host and a port

KEPT, NEW, BUYERS = 3, 2, 3  # clients that keep their connections, that open one for each look-up, that order
LOOK_UP_PACE_S, BUYER_PACE_S = 0.02, 0.1


class Turns(Load):
    """Clients of a service, at addresses that change with the phase."""

    def __init__(self, env: Environment, numbers: list[str]) -> None:
        super().__init__(env, *[self.look_up_kept] * KEPT, *[self.look_up_new] * NEW, *[self.buy] * BUYERS)
        self.numbers = numbers
        self.addresses: tuple[Address, ...] = ()
        self.turns = itertools.count()

    def begin(self, phase: str, *addresses: Address) -> None:
        self.addresses, self.phase = addresses, phase

    def look_up_kept(self) -> None:
        while not self.over.is_set():
            addresses = self.addresses
            with ExitStack() as stack:
                kept = [stack.enter_context(closing(Connection(port, host=host))) for host, port in addresses]
                for connection in itertools.cycle(kept):
                    if self.over.wait(LOOK_UP_PACE_S) or self.addresses != addresses:
                        break
                    path = PARCELS + random.choice(self.numbers)
                    self.note(self.phase, "look-up", connection.request("GET", path, headers=self.env.bearer))

    def look_up_new(self) -> None:
        while not self.over.wait(LOOK_UP_PACE_S):
            phase = self.phase
            self.note(phase, "look-up", self.ask("GET", PARCELS + random.choice(self.numbers)))

    def buy(self) -> None:
        """Order, repeat the order with the same key, and retrieve the label: each at the next address."""
        for number in itertools.count():
            if self.over.wait(BUYER_PACE_S):
                return
            phase, key = self.phase, self.orders.add(carrier_of(number))
            body, seen, sent = self.orders.bodies[key], self.orders.answers[key], {"Idempotency-Key": key}
            for kind in ("order", "repeated"):
                seen.append(self.note(phase, kind, self.ask("POST", SHIPMENTS, body, sent)))
            self.note(phase, "label", self.ask("GET", f"{SHIPMENTS}/{seen[0].body.get('id')}"))

    def ask(self, method: str, path: str, body: Any = None, headers: dict[str, str] | None = None) -> Answer:
        """Send one request over a connection of its own, to the next address."""
        addresses = self.addresses
        host, port = addresses[next(self.turns) % len(addresses)]
        with closing(Connection(port, host=host)) as connection:
            return connection.request(method, path, body, self.env.bearer | (headers or {}))

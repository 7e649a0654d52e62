"""Acts of the database: a lost row, commits in doubt, a long absence."""

import random
import socket
import time
from collections.abc import Iterator
from concurrent.futures import wait
from contextlib import contextmanager, suppress
from enum import Enum, auto
from typing import Any

from django.db import connection

from tests.drills.audit import AuditResult
from tests.drills.edges.buyers import Buyers
from tests.drills.environment import Environment
from tests.support.proxies import Proxy, postgresql_target

# Most writes of a label are statements that commit by themselves.
COMMITS = (b"COMMIT", b'INSERT INTO "labels_shippinglabel"', b'UPDATE "labels_shippinglabel"')
LATE_S = 1.0


class Cut(Enum):
    """The place of the cut."""

    NONE = auto()
    BEFORE = auto()  # the database never sees the commit
    AFTER = auto()  # it commits, and its answer is lost
    LATE = auto()  # it commits after the client has lost the connection and come back


class SeveringProxy(Proxy):
    """Forwards connections and cuts them at some of their commits, chosen at random, while it `is_armed`."""

    def __init__(self, target: str | tuple[str, int]) -> None:
        super().__init__(target)
        self.is_armed = False
        self.cuts = 0
        self.random = random.Random(13)

    def pump(self, source: socket.socket, sink: socket.socket) -> None:
        if source.getsockname()[1:] != self.listener.getsockname()[1:]:
            super().pump(source, sink)  # what the database answers
            return
        with suppress(OSError):
            while data := source.recv(65_536):
                if self.is_armed and any(commit in data for commit in COMMITS) and self.cut_at(data, source, sink):
                    return
                sink.sendall(data)
        self.close(source, sink)

    def cut_at(self, data: bytes, client: socket.socket, database: socket.socket) -> bool:
        """Cut the connection, or not; tell if it was cut."""
        turn = self.random.choice(list(Cut))
        if turn is Cut.NONE:
            return False
        self.cuts += 1
        self.close(client)
        if turn is Cut.LATE:
            time.sleep(LATE_S)
        if turn is not Cut.BEFORE:
            with suppress(OSError):
                database.sendall(data)
                time.sleep(0.1)  # it reads what was sent before it sees the end
        self.close(database)
        return True

    @staticmethod
    def close(*ends: Any) -> None:
        for end in ends:
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)


def lost_row(env: Environment, point: str) -> AuditResult:
    """Lose the committed row after the carrier's yes."""
    buyers = Buyers(env, 6)
    with env.forking_server() as port:
        buyers.send_all(port, **{"X-Drill-Lose": point})
        buyers.settle(port, seconds=2)
        return buyers.asked_and_audited(port)


def severed(env: Environment) -> AuditResult:
    """Cut connections to the database at commits: before, after, or so that they are made late."""
    buyers = Buyers(env, 30)
    with served_through_proxy(env) as (proxy, port):
        proxy.is_armed = True
        buyers.send_all(port)
        proxy.is_armed = False
        buyers.settle(port)
        result = buyers.asked_and_audited(port)
    print(f"  {proxy.cuts} connections cut", flush=True)
    return result.with_faults([f"{result.held} held for a person, for nothing"] if result.held else [])


def database_away(env: Environment) -> AuditResult:
    """Take the database away from purchases in flight for longer than they wait for it."""
    buyers = Buyers(env, 6)
    with (
        served_through_proxy(env) as (proxy, port),
        env.faults({"fault": "slow", "delay_s": 2.0, "count": len(buyers.bodies)}),
    ):
        with buyers.asking(port) as asked:
            time.sleep(1)
            proxy.refuse()
            wait([asked])
        proxy.restore()
        buyers.settle(port)
        result = buyers.asked_and_audited(port)
    lost = result.held + result.states["failed"]
    return result.with_faults([f"{lost} PDFs are lost"] if lost else [])


@contextmanager
def served_through_proxy(env: Environment) -> Iterator[tuple[SeveringProxy, int]]:
    """Serve with a proxy in front of the database; yield the proxy and the server's port."""
    settings = connection.settings_dict
    with SeveringProxy(postgresql_target(settings)) as proxy:
        url = f"postgresql://{settings['USER']}@127.0.0.1:{proxy.port}/{settings['NAME']}"
        with env.setting({"DATABASE_URL": url}), env.forking_server() as port:
            yield proxy, port

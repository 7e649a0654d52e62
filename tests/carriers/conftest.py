"""Servers for the carriers' clients: the sandbox, and loopback servers with scripted answers."""

import gc
import socket
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from datetime import datetime
from ssl import SSLContext
from typing import Protocol

import pytest

from carriers import itinerary
from carriers.base import Carrier
from carriers.products import PARIS
from carriers.sandbox.server import SandboxServer
from tests.carriers.support.sandbox import reset, sandbox_clients
from tests.carriers.support.servers import LoopbackServer, Play
from tests.carriers.support.shipments import MONDAY


@pytest.fixture(autouse=True)
def collector_between_tests() -> Iterator[None]:
    """Keep the garbage collector out of answers nested too deeply, where an earlier test's connection can't close."""
    gc.disable()
    yield
    gc.enable()


class Serve(Protocol):
    """Starts a server that is closed at the end of the test."""

    def __call__(self, play: Play, tls: SSLContext | None = None) -> LoopbackServer: ...


@pytest.fixture
def serve() -> Iterator[Serve]:
    with ExitStack() as stack:

        def start(play: Play, tls: SSLContext | None = None) -> LoopbackServer:
            return stack.enter_context(LoopbackServer(play, tls))

        yield start


SetTime = Callable[[datetime], None]
Clients = Mapping[str, Carrier]


@pytest.fixture
def at(monkeypatch: pytest.MonkeyPatch) -> SetTime:
    """Set the time of the calls that follow."""

    def set_time(moment: datetime) -> None:
        monkeypatch.setattr(itinerary, "now", lambda: moment.astimezone(PARIS))

    return set_time


@pytest.fixture
def monday(at: SetTime) -> datetime:
    """Calls are made on Monday, 2 March 2026."""
    at(MONDAY)
    return MONDAY


@pytest.fixture
def closed() -> Iterator[socket.socket]:
    """A bound socket that refuses connections until it listens."""
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        yield held


@pytest.fixture
def closed_port(closed: socket.socket) -> int:
    return int(closed.getsockname()[1])


@pytest.fixture
def sandbox(sandbox_server: SandboxServer) -> SandboxServer:
    """The sandbox with an empty ledger, no faults and no counts."""
    reset(sandbox_server)
    return sandbox_server


@pytest.fixture
def clients(sandbox: SandboxServer) -> Clients:
    return sandbox_clients(sandbox)

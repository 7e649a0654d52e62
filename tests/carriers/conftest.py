"""A world of loopback servers for the carriers' clients."""

from collections.abc import Iterator
from contextlib import ExitStack
from typing import Protocol

import pytest

from tests.carriers.servers import LoopbackServer, Play, serving


class Serve(Protocol):
    """Starts a server that is closed with the test."""

    def __call__(self, play: Play) -> LoopbackServer: ...


@pytest.fixture
def serve() -> Iterator[Serve]:
    with ExitStack() as stack:

        def start(play: Play) -> LoopbackServer:
            return stack.enter_context(serving(play))

        yield start

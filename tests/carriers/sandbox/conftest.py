"""One sandbox for the tests of a module, reset before each."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import requests

from carriers.sandbox.server import SandboxServer

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(scope="module")
def running() -> Iterator[SandboxServer]:
    with SandboxServer() as server:
        yield server


@pytest.fixture
def sandbox(running: SandboxServer) -> SandboxServer:
    requests.post(f"{running.control_url}/reset", timeout=5).raise_for_status()
    return running

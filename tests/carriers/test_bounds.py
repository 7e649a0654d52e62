"""CPU time and memory that a flood costs the service, measured in a process of its own."""

import json
import os
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

from carriers.sandbox.faults import FAULTS
from carriers.sandbox.server import SandboxServer
from tests.carriers.conftest import Serve
from tests.carriers.support.broken_answers import ALPHA, FLOODS, QUICK
from tests.carriers.support.measured_buyer import UNARMED
from tests.carriers.support.servers import LABEL, always
from tests.carriers.support.shipments import BOTH
from tests.carriers.test_faults import END_OF, UNTIL_THE_DEADLINE

ROOT = Path(__file__).parents[2]
# Floods of 50 MB and of 300 MB unpacked are cut off at 20 MB.
MOST_BYTES = 64 * 1024 * 1024
MOST_S = 2.5


def measured(url: str, carrier: str, faults: list[str]) -> list[list[Any]]:
    """Return for each fault: name, class of the outcome, CPU seconds, bytes of memory added so far."""
    command = [sys.executable, "-m", "tests.carriers.support.measured_buyer", url, carrier, *faults]
    # Without the service's settings, which the clients do not need.
    environment = {"PATH": os.defpath}
    run = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, env=environment, check=False)
    assert run.returncode == 0, run.stderr
    return [json.loads(line) for line in run.stdout.splitlines()]


@BOTH
def test_no_fault_takes_much_memory_or_time(sandbox: SandboxServer, carrier: str) -> None:
    slow = {*UNTIL_THE_DEADLINE, "slow"}
    faults = [fault.name for fault in FAULTS if carrier in fault.carriers and fault.name not in slow]
    rows = measured(sandbox.url, carrier, faults)
    assert [row[:2] for row in rows] == [[fault, END_OF[carrier, fault].__name__] for fault in faults]
    assert max(took_s for _, _, took_s, _ in rows) < MOST_S
    assert rows[-1][3] < MOST_BYTES


def test_no_flood_takes_much_memory_or_time(serve: Serve) -> None:
    faults = [
        *("many tags", "many attributes", "depth without end"),
        *("the answer has 50 MB", "the chunks have 50 MB", "a small answer unpacks to 300 MB"),
        *("a header has no end", "there are a million headers", *FLOODS),
    ]
    plays = iter((always(LABEL["alpha"]), *((QUICK | ALPHA)[fault] for fault in faults)))

    def play(stream: socket.socket, request: bytes) -> bool:
        return next(plays)(stream, request)

    server = serve(play)
    rows = measured(server.url, "alpha", [UNARMED] * len(faults))
    ends = {fault: end for fault, (_, end, _, _) in zip(faults, rows, strict=True)}
    assert ends == dict.fromkeys(faults, "OutcomeUnknown")
    assert max(took_s for _, _, took_s, _ in rows) < MOST_S
    assert rows[-1][3] < MOST_BYTES

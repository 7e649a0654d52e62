"""The look-up benchmark: ``python -m tests.benchmarks [--parcels N]``, on a PostgreSQL and a Redis of its own.

It loads N parcels, serves them with the service and, side by side, with a bare WSGI program that does the same two
reads and nothing else, drives both, and prints what a request cost. CPU times hold the server's processes, not the
database's nor the driver's. On a shared machine only the ratio within one run means something.
"""

import argparse
import os
import random
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import django
from django.core.management import call_command

from tests.support.paths import TRACKING
from tests.support.processes import free_port
from tests.support.services import ENVIRONMENT, postgresql, redis_server

if TYPE_CHECKING:
    from tests.benchmarks.drive import Measurement

SHOP = "bench"
CONNECTIONS = 16
ROUNDS = 3
LOOK_UPS, SEARCHES = 12_000, 4_000
TARGETS = {"look-up": 0.65, "search": 1.2}  # milliseconds of CPU a request
SERVICE, BARE = "config.wsgi:application", "tests.benchmarks.bare:application"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks", description=__doc__)
    parser.add_argument("--parcels", type=int, default=200_000)
    parcels = parser.parse_args().parcels
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="bench-", ignore_cleanup_errors=True)))
        os.environ.update(environment(), XDG_RUNTIME_DIR=str(folder))
        os.environ["DATABASE_URL"] = stack.enter_context(postgresql(folder / "pg"))
        os.environ["REDIS_URL"] = stack.enter_context(redis_server(folder / "redis.sock"))
        token = prepare(parcels)
        servers = {name: stack.enter_context(serve(name)) for name in (BARE, SERVICE)}
        for kind, requests in workload(parcels, token).items():
            compare(kind, requests, servers, database_pid=postmaster(folder / "pg"))


def environment() -> dict[str, str]:
    return {
        **ENVIRONMENT,
        "RATE_LIMIT": "100000000/60s",  # counted, never reached
        "BENCHMARK_SHOP": SHOP,
    }


def prepare(parcels: int) -> str:
    """Make the tables, the shop and its parcels; return a token."""
    django.setup()
    from shops.models import AccessToken, Shop
    from tests.benchmarks.load import load

    call_command("migrate", verbosity=0)
    shop = Shop.objects.create(id=SHOP, name="Benchmark")
    started_at = time.monotonic()
    load(SHOP, parcels)
    print(f"{parcels} parcels loaded in {time.monotonic() - started_at:.0f} s")
    return AccessToken.issue(shop=shop)[1]


@contextmanager
def serve(application: str) -> Iterator[tuple[int, int]]:
    """Serve a WSGI application with one worker a core and one thread a worker; yield process id and port."""
    port = free_port()
    command = [sys.executable, "-m", "granian", "--interface", "wsgi", "--host", "127.0.0.1", "--port", str(port)]
    command += ["--workers", str(len(os.sched_getaffinity(0))), "--blocking-threads", "1", application]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        wait_for(port)
        yield process.pid, port
        process.terminate()


def wait_for(port: int) -> None:
    for _ in range(300):
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.1)
    raise TimeoutError(f"no server on port {port}")


def workload(parcels: int, token: str) -> dict[str, list[bytes]]:
    """Requests spread over all parcels; each search returns 50 (but for the last customer's)."""
    from tests.benchmarks.drive import get
    from tests.benchmarks.load import PARCELS_A_CUSTOMER, numbers

    rng = random.Random(1)
    base = TRACKING
    any_number = (rng.choice(numbers(rng.randrange(parcels))) for _ in range(LOOK_UPS))
    any_customer = (rng.randrange(parcels // PARCELS_A_CUSTOMER) for _ in range(SEARCHES))
    return {
        "look-up": [get(f"{base}/parcels/{number}", token) for number in any_number],
        "search": [get(f"{base}/search?email=customer%2B{who}@example.com", token) for who in any_customer],
    }


def postmaster(folder: Path) -> int:
    """The process id of the PostgreSQL whose data is in `folder`."""
    return int((folder / "postmaster.pid").read_text().split()[0])


def compare(kind: str, requests: list[bytes], servers: dict[str, tuple[int, int]], *, database_pid: int) -> None:
    """Drive both servers in turns, print each round and then the best of both."""
    from tests.benchmarks.drive import measure

    for server in servers.values():
        measure(*server, requests[: len(requests) // 4], connections=CONNECTIONS, database_pid=database_pid)  # warm
    best: dict[str, Measurement] = {}
    for number in range(ROUNDS):
        for name, server in servers.items():
            run = measure(*server, requests, connections=CONNECTIONS, database_pid=database_pid)
            print(f"{kind} round {number + 1} {label(name)} {describe(run)}")
            best[name] = min(best.get(name, run), run, key=lambda each: each.cpu_ms)
    bare, service = best[BARE], best[SERVICE]
    print(
        f"{kind}: {service.cpu_ms:.2f} ms CPU a request (target {TARGETS[kind]}), "
        f"{service.cpu_ms / bare.cpu_ms:.1f} times the bare program's {bare.cpu_ms:.2f} ms; "
        f"PostgreSQL's {service.database_cpu_ms:.3f} ms"
    )


def label(application: str) -> str:
    return {SERVICE: "service", BARE: "bare   "}[application]


def describe(run: "Measurement") -> str:
    return (
        f"{run.per_second:6.0f}/s  p50 {run.p50_ms:5.1f}  p95 {run.p95_ms:5.1f}  p99 {run.p99_ms:5.1f} ms  "
        f"CPU {run.cpu_ms:.3f} ms, PostgreSQL's {run.database_cpu_ms:.3f} ms a request  {run.failures} failed"
    )


if __name__ == "__main__":
    main()

"""The load one machine holds: ``python -m tests.benchmarks.mixed [--cores 2] [--parcels N] [--rates 200,400,...]``.

Serves on PostgreSQL (with fsync on) and Redis of its own, all on `--cores` cores; whoever asks, and the carriers'
sandbox, run on the machine's other cores where it has any. 95 % look-ups, 4 % searches of 50 and 1 % labels arrive at
random moments at a given mean rate, whether or not earlier ones are answered, and a latency counts from the moment a
request was due. The rates are tried in turn until the 99th percentile of all requests is no longer below 50 ms.
"""

import argparse
import os
import queue
import random
import sys
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack, contextmanager
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from statistics import quantiles
from threading import Thread
from typing import Any, NamedTuple

import orjson

from tests.benchmarks.drive import cpu_s, descendants
from tests.drills.environment import SHOP, Process, Stage, new_key, order, stage
from tests.support.paths import SHIPMENTS, TRACKING

LIMIT_MS = 50.0
SHARES = {"look-up": 0.95, "search": 0.04, "label": 0.01}
DRIVERS, CONNECTIONS = 2, 48  # processes, and connections of each
DURATION_S = 20.0
WARM_RATE = 200
RATES = "200,400,600,800,1000,1200,1400,1600,1800,2000,2400"


class Request(NamedTuple):
    """What is asked, and when: seconds after the start."""

    due_s: float
    kind: str
    method: str
    path: str
    body: bytes | None


class Outcome(NamedTuple):
    kind: str
    status: int
    latency_ms: float


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.mixed", description=__doc__)
    parser.add_argument("--cores", type=int, default=2)
    parser.add_argument("--parcels", type=int, default=200_000)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--threads", type=int, help="default: as many as `serve` has of itself")
    parser.add_argument("--rates", default=RATES)
    options = parser.parse_args()
    cores = sorted(os.sched_getaffinity(0))
    served, others = set(cores[: options.cores]), set(cores[options.cores :]) or set(cores)
    with ExitStack() as stack:
        os.sched_setaffinity(0, served)  # what is started from here on inherits it
        world = stack.enter_context(stage("postgresql", {"CARRIER_CONCURRENCY": 4}, redis=True))
        prepare(options.parcels)
        port, process = stack.enter_context(world.served(workers=options.workers, threads=options.threads))
        move([os.getpid(), *sandboxes()], others)
        server = f"served on {len(served)} cores by {options.workers} workers"
        print(f"{options.parcels} parcels; {server}, driven from {len(others)} cores")
        run(world, port, process, WARM_RATE, options.parcels)  # until every thread has its connections
        for rate in map(int, options.rates.split(",")):
            if show(rate, run(world, port, process, rate, options.parcels)) >= LIMIT_MS:
                break


def prepare(parcels: int) -> None:
    """Load the parcels, and let the database keep what it is told to."""
    from django.db import connection, connections

    from tests.benchmarks.load import load

    load(SHOP, parcels)
    with connection.cursor() as cursor:
        for setting in ("fsync", "full_page_writes"):
            cursor.execute(f"ALTER SYSTEM SET {setting} = on")
        cursor.execute("SELECT pg_reload_conf()")
    connections.close_all()


def move(processes: list[int], cores: set[int]) -> None:
    for process in processes:
        for task in Path(f"/proc/{process}/task").iterdir():
            os.sched_setaffinity(int(task.name), cores)


def sandboxes() -> Iterator[int]:
    for child in descendants(os.getpid()):
        if b"carriers.sandbox" in Path(f"/proc/{child}/cmdline").read_bytes():
            yield child


def run(world: Stage, port: int, process: Process, rate: int, parcels: int) -> tuple[list[Outcome], float]:
    """Ask at `rate` requests a second; return every outcome and the service's CPU seconds a second."""
    before_s, started_s = cpu_s(process.popen.pid), time.monotonic()
    with ProcessPoolExecutor(DRIVERS) as pool:
        shares = [arrivals(random.Random(number), rate / DRIVERS, parcels) for number in range(DRIVERS)]
        outcomes = [
            each for share in pool.map(drive, [port] * DRIVERS, [world.token] * DRIVERS, shares) for each in share
        ]
    return outcomes, (cpu_s(process.popen.pid) - before_s) / (time.monotonic() - started_s)


def arrivals(rng: random.Random, rate: float, parcels: int) -> list[Request]:
    requests, due_s = [], 0.5
    while due_s < DURATION_S:
        due_s += rng.expovariate(rate)
        kind = rng.choices(list(SHARES), list(SHARES.values()))[0]
        requests.append(Request(due_s, kind, *REQUESTS[kind](rng, parcels)))
    return requests


def look_up(rng: random.Random, parcels: int) -> tuple[str, str, None]:
    from tests.benchmarks.load import numbers

    return "GET", f"{TRACKING}/parcels/{rng.choice(numbers(rng.randrange(parcels)))}", None


def search(rng: random.Random, parcels: int) -> tuple[str, str, None]:
    from tests.benchmarks.load import PARCELS_A_CUSTOMER

    customer = rng.randrange(parcels // PARCELS_A_CUSTOMER)
    return "GET", f"{TRACKING}/search?email=customer%2B{customer}@example.com", None


def label(rng: random.Random, parcels: int) -> tuple[str, str, bytes]:
    return "POST", SHIPMENTS, orjson.dumps(order(new_key(), rng.choice(["alpha", "beta"])))


REQUESTS: dict[str, Any] = {"look-up": look_up, "search": search, "label": label}


def drive(port: int, token: str, requests: list[Request]) -> list[Outcome]:
    """Send each request when it is due, over the first connection that is free."""
    outcomes: list[Outcome] = []
    due: queue.SimpleQueue[Request | None] = queue.SimpleQueue()
    started_s = time.perf_counter()
    workers = [Thread(target=work, args=(port, token, due, started_s, outcomes)) for _ in range(CONNECTIONS)]
    for worker in workers:
        worker.start()
    for request in requests:
        time.sleep(max(0.0, started_s + request.due_s - time.perf_counter()))
        due.put(request)
    for _ in workers:
        due.put(None)
    for worker in workers:
        worker.join()
    return outcomes


def work(
    port: int, token: str, due: "queue.SimpleQueue[Request | None]", started_s: float, outcomes: list[Outcome]
) -> None:
    with connected(port) as connection:
        while request := due.get():
            headers = {"Authorization": f"Bearer {token}"}
            if request.body:
                headers |= {"Content-Type": "application/json", "Idempotency-Key": new_key()}
            try:
                connection.request(request.method, request.path, request.body, headers)
                response = connection.getresponse()
                response.read()
                status = response.status
            except (HTTPException, OSError):
                status = 0
                connection.close()
            latency_ms = (time.perf_counter() - started_s - request.due_s) * 1000
            outcomes.append(Outcome(request.kind, status, latency_ms))


@contextmanager
def connected(port: int) -> Iterator[HTTPConnection]:
    connection = HTTPConnection("127.0.0.1", port, timeout=60)
    try:
        yield connection
    finally:
        connection.close()


def show(rate: int, result: tuple[list[Outcome], float]) -> float:
    """Print a rate's figures; return the 99th percentile of all requests, in milliseconds."""
    outcomes, cpu = result
    print(f"{rate}/s asked for {DURATION_S:.0f} s; the service used {cpu:.2f} cores")
    for kind in [*SHARES, "all"]:
        chosen = [each for each in outcomes if kind in (each.kind, "all")]
        if len(chosen) > 1:
            cuts = quantiles((each.latency_ms for each in chosen), n=100)
            statuses = dict(Counter(each.status for each in chosen))
            print(f"  {kind:8} p50 {cuts[49]:6.1f}  p95 {cuts[94]:6.1f}  p99 {cuts[98]:6.1f} ms  by status {statuses}")
    sys.stdout.flush()
    return cuts[98]


if __name__ == "__main__":
    main()

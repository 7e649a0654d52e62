"""The load one machine holds: ``python -m tests.benchmarks.mixed [--cores 2] [--parcels N] [--rates 200,400,...]``.

The service, PostgreSQL (with fsync) and Redis share `--cores` cores; the clients and the carriers' sandbox run on the
machine's other cores if there are any. 95 % look-ups, 4 % searches of 50 and 1 % labels arrive at random moments at a
given mean rate, whether or not earlier ones are answered (an open loop), and a latency counts from the moment a request
was due. The rates are tried in turn until the 99th percentile of all requests reaches 50 ms. Without `--threads` the
service has its own number of them.
"""

import argparse
import os
import random
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from tests.drills.environment import Environment
from tests.drills.harness import play
from tests.drills.load import Record
from tests.drills.printing import counts, percentiles_ms
from tests.drills.process import metered, process_tree
from tests.drills.shop import SHOP, new_key, order
from tests.drills.sql import write_to_disk
from tests.support.http import Connection
from tests.support.paths import PARCELS, SEARCH, SHIPMENTS
from tests.support.programs import Process

LIMIT_MS = 50.0
SHARES = {"look-up": 0.95, "search": 0.04, "label": 0.01}
DRIVERS, CONNECTIONS = 2, 48  # processes, and connections of each
DURATION_S = 20.0
CLIENT_TIMEOUT_S = 60
WARM_RATE = 200
ALL_CORES = sorted(os.sched_getaffinity(0))
RATES = "200,400,600,800,1000,1200,1400,1600,1800,2000,2400"


class Request(NamedTuple):
    """A request, due some seconds after the start."""

    due_s: float
    kind: str
    method: str
    path: str
    body: dict[str, Any] | None = None


def settings(options: argparse.Namespace) -> dict[str, object]:
    os.sched_setaffinity(0, cores(options)[0])  # inherited by every process started from here on
    return {"CARRIER_CONCURRENCY": 4}


def cores(options: argparse.Namespace) -> tuple[set[int], set[int]]:
    """Return the cores of the service, and those of its clients."""
    served = set(ALL_CORES[: options.cores])
    return served, set(ALL_CORES) - served or served


def benchmark(env: Environment, options: argparse.Namespace) -> None:
    served, others = cores(options)
    prepare(options.parcels)
    with env.served(workers=options.workers, threads=options.threads) as server:
        move([os.getpid(), *sandboxes()], others)
        how = f"served on {len(served)} cores by {options.workers} workers"
        print(f"{options.parcels} parcels; {how}, driven from {len(others)} cores")
        run(env, server, WARM_RATE, options.parcels)  # every thread connects
        for rate in map(int, options.rates.split(",")):
            if show(rate, *run(env, server, rate, options.parcels)) >= LIMIT_MS:
                break


def prepare(parcels: int) -> None:
    """Load the parcels, and let the database write as in production."""
    from tests.benchmarks.parcels import load_parcels

    load_parcels(SHOP, parcels)
    write_to_disk()


def move(processes: list[int], cores: set[int]) -> None:
    for process in processes:
        for task in Path(f"/proc/{process}/task").iterdir():
            os.sched_setaffinity(int(task.name), cores)


def sandboxes() -> Iterator[int]:
    for process in process_tree(os.getpid()):
        if b"carriers.sandbox" in Path(f"/proc/{process}/cmdline").read_bytes():
            yield process


def run(env: Environment, server: Process, rate: int, parcels: int) -> tuple[list[Record], float]:
    """Send `rate` requests a second; return every outcome and the service's CPU seconds a second."""
    shares = [arrivals(random.Random(number), rate / DRIVERS, parcels) for number in range(DRIVERS)]
    drivers = [Driver(server.port, env.token, share) for share in shares]
    with metered(server.pid) as used, ProcessPoolExecutor(DRIVERS) as pool:
        outcomes = [outcome for share in pool.map(Driver.drive, drivers) for outcome in share]
    took_s, cpu_s = used
    return outcomes, cpu_s / took_s


def arrivals(rng: random.Random, rate: float, parcels: int) -> list[Request]:
    requests, due_s = [], 0.5
    while due_s < DURATION_S:
        due_s += rng.expovariate(rate)
        requests.append(any_request(rng, due_s, parcels))
    return requests


def any_request(rng: random.Random, due_s: float, parcels: int) -> Request:
    from tests.benchmarks.parcels import any_number, any_search

    match rng.choices(list(SHARES), list(SHARES.values()))[0]:
        case "look-up" as kind:
            return Request(due_s, kind, "GET", PARCELS + any_number(rng, parcels))
        case "search" as kind:
            return Request(due_s, kind, "GET", SEARCH + any_search(rng, parcels))
        case kind:
            return Request(due_s, kind, "POST", SHIPMENTS, order(new_key(), rng.choice(["alpha", "beta"])))


@dataclass(frozen=True)
class Driver:
    """Sends each request when it is due, over the first free connection."""

    port: int
    token: str
    requests: list[Request]

    def drive(self) -> list[Record]:
        requests, started_s = iter(self.requests), time.monotonic()
        with ThreadPoolExecutor(CONNECTIONS) as pool:
            shares = [pool.submit(self._send, requests, started_s) for _ in range(CONNECTIONS)]
            return [outcome for share in shares for outcome in share.result()]

    def _send(self, requests: Iterator[Request], started_s: float) -> list[Record]:
        outcomes = []
        with closing(Connection(self.port, CLIENT_TIMEOUT_S)) as connection:
            for request in requests:  # the threads share them
                time.sleep(max(0.0, started_s + request.due_s - time.monotonic()))
                headers = {"Authorization": f"Bearer {self.token}"}
                headers |= {"Idempotency-Key": new_key()} if request.body else {}
                answer = connection.request(request.method, request.path, request.body, headers)
                latency_s = time.monotonic() - started_s - request.due_s
                outcomes.append(Record(answer.outcome, latency_s, kind=request.kind))
        return outcomes


def show(rate: int, outcomes: list[Record], cpu: float) -> float:
    """Print a rate's figures; return the 99th percentile of all requests, in milliseconds."""
    print(f"{rate}/s sent for {DURATION_S:.0f} s; the service used {cpu:.2f} cores")
    for kind in [*SHARES, "all"]:
        chosen = [each for each in outcomes if kind in (each.kind, "all")]
        if len(chosen) > 1:
            p50, p95, p99 = percentiles_ms([each.duration_s for each in chosen])
            statuses = counts(each.outcome for each in chosen)
            print(f"  {kind:8} p50 {p50:6.1f}  p95 {p95:6.1f}  p99 {p99:6.1f} ms  by status {statuses}", flush=True)
    return p99


if __name__ == "__main__":
    play(benchmark, settings, redis=True, cores=2, parcels=200_000, workers=2, threads=0, rates=RATES)

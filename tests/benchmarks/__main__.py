"""The look-up benchmark: ``python -m tests.benchmarks [--parcels N]``, on a PostgreSQL and a Redis of its own.

It loads N parcels and serves them with the service and, side by side, with a bare WSGI program that does the same two
reads and nothing else. It drives both and prints the cost of a request. CPU times include the server's processes, not
the database's and the driver's. On a shared machine only the ratio within one run means something.
"""

import argparse
import os
import random
import time
from contextlib import ExitStack

from tests.benchmarks.driver import Measurement, measure
from tests.drills.environment import environment
from tests.drills.shop import SHOP
from tests.support.paths import PARCELS, SEARCH

CONNECTIONS = 16
ROUNDS = 3
LOOK_UPS, SEARCHES = 12_000, 4_000
TARGETS = {"look-up": 0.65, "search": 1.2}  # milliseconds of CPU a request
APPLICATIONS = {"bare": "tests.benchmarks.bare:application", "service": "config.wsgi:application"}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks", description=__doc__)
    parser.add_argument("--parcels", type=int, default=200_000)
    parcels = parser.parse_args().parcels
    with ExitStack() as stack:
        env = stack.enter_context(environment("postgresql", {"BENCHMARK_SHOP": SHOP}, redis=True))
        load(parcels)
        servers = {}
        for name, application in APPLICATIONS.items():
            # Without a log: writing it would be part of the measured cost.
            server = env.granian(application, workers=len(os.sched_getaffinity(0)), threads=1, log=os.devnull)
            port, process = stack.enter_context(server)
            servers[name] = process.popen.pid, port
        comparison = Comparison(servers, env.token, env.postmaster)
        for kind, paths in workload(parcels).items():
            comparison.show(kind, paths)


def load(parcels: int) -> None:
    from tests.benchmarks.parcels import load_parcels

    started_at = time.monotonic()
    load_parcels(SHOP, parcels)
    print(f"{parcels} parcels loaded in {time.monotonic() - started_at:.0f} s")


def workload(parcels: int) -> dict[str, list[str]]:
    """Return the paths of requests spread over all parcels."""
    from tests.benchmarks.parcels import any_number, any_search

    rng = random.Random(1)
    return {
        "look-up": [PARCELS + any_number(rng, parcels) for _ in range(LOOK_UPS)],
        "search": [SEARCH + any_search(rng, parcels) for _ in range(SEARCHES)],
    }


class Comparison:
    """Drives two servers, given as process id and port, in turn."""

    def __init__(self, servers: dict[str, tuple[int, int]], token: str, database_pid: int) -> None:
        self.servers = servers
        self.token = token
        self.database_pid = database_pid

    def measure(self, name: str, paths: list[str]) -> Measurement:
        pid, port = self.servers[name]
        return measure(pid, port, paths, token=self.token, connections=CONNECTIONS, database_pid=self.database_pid)

    def show(self, kind: str, paths: list[str]) -> None:
        """Print each round, and then the best of each server."""
        for name in self.servers:
            self.measure(name, paths[: len(paths) // 4])  # to warm up
        best: dict[str, Measurement] = {}
        for number in range(ROUNDS):
            for name in self.servers:
                run = self.measure(name, paths)
                print(f"{kind} round {number + 1} {name:7} {run}")
                best[name] = min(best.get(name, run), run, key=lambda each: each.cpu_ms)
        bare, service = best["bare"], best["service"]
        print(
            f"{kind}: {service.cpu_ms:.2f} ms CPU a request (target {TARGETS[kind]}), "
            f"{service.cpu_ms / bare.cpu_ms:.1f} times the bare program's {bare.cpu_ms:.2f} ms; "
            f"PostgreSQL's {service.database_cpu_ms:.3f} ms"
        )


if __name__ == "__main__":
    main()

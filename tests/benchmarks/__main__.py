"""The benchmark of look-ups and searches: ``python -m tests.benchmarks [--parcels N]``, on services of its own.

It loads N parcels and drives, in turn, the service as `serve` starts it, with its log and its rate limit, and a bare
WSGI program with two threads a worker that checks the token, counts and answers the same bytes, and does nothing else.
CPU times include the server's processes, not the driver's and Redis'. Everything shares the machine, so only the ratio
within one run means something.
"""

import os
import random
import time
from collections.abc import Iterator
from contextlib import ExitStack
from statistics import median

from tests.benchmarks.driver import Measurement, measure
from tests.drills.environment import environment
from tests.drills.options import read_options
from tests.drills.printing import print_table
from tests.drills.shop import SHOP
from tests.support.http import call
from tests.support.paths import PARCELS, SEARCH

CONNECTIONS = (16, 64)
ROUNDS = 3
LOOK_UPS, SEARCHES = 12_000, 4_000
WORKERS = 2
GOALS = {"look-up": 0.60, "search": 0.85}  # of the bare program's requests a second


def main() -> None:
    parcels = read_options(__doc__, parcels=200_000).parcels
    with ExitStack() as stack:
        env = stack.enter_context(environment("postgresql", {}, redis=True))
        load(parcels)
        bare = env.granian("tests.benchmarks.bare:application", workers=WORKERS, threads=2, log=os.devnull)
        bare_port, bare_process = stack.enter_context(bare)
        port, process = stack.enter_context(env.served(workers=WORKERS))
        servers = {"bare": (bare_process.popen.pid, bare_port), "service": (process.popen.pid, port)}
        comparison = Comparison(servers, env.token, env.postmaster)
        for connections in CONNECTIONS:
            for kind, paths in workload(parcels).items():
                comparison.run(kind, paths, connections)
        comparison.show(parcels)


def load(parcels: int) -> None:
    from tests.benchmarks.parcels import load_parcels

    started_at = time.monotonic()
    load_parcels(SHOP, parcels)
    print(f"{parcels} parcels loaded in {time.monotonic() - started_at:.0f} s", flush=True)


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
        self.rows: list[list[str]] = []

    def measure(self, name: str, paths: list[str], connections: int) -> Measurement:
        pid, port = self.servers[name]
        return measure(pid, port, paths, token=self.token, connections=connections, database_pid=self.database_pid)

    def run(self, kind: str, paths: list[str], connections: int) -> None:
        """Warm up, then measure and print each round; raise ValueError if the servers' answers differ."""
        own = {"Authorization": f"Bearer {self.token}"}
        if len({call(port, "GET", paths[0], None, own).content for _, port in self.servers.values()}) > 1:
            raise ValueError(f"the answers to a {kind} differ")
        for name in self.servers:
            self.measure(name, paths[: len(paths) // 4], connections)
        rounds: dict[str, list[Measurement]] = {name: [] for name in self.servers}
        for number in range(ROUNDS):
            for name, measured in rounds.items():
                measured.append(self.measure(name, paths, connections))
                print(f"{kind} x{connections} round {number + 1} {name:7} {measured[-1]}", flush=True)
        self.rows.append([f"{kind}, {connections} connections", *self.medians(kind, rounds)])

    def medians(self, kind: str, rounds: dict[str, list[Measurement]]) -> Iterator[str]:
        """Yield the service's requests a second as a share of the bare program's, and figures of both."""
        rates = zip(rounds["service"], rounds["bare"], strict=True)
        yield f"{median(own.per_second / bare.per_second for own, bare in rates):.2f} (goal {GOALS[kind]:.2f})"
        for figure in ("cpu_ms", "database_cpu_ms", "p99_ms"):
            both = (median(getattr(each, figure) for each in rounds[name]) for name in ("bare", "service"))
            yield "; ".join(f"{value:.2f}" for value in both)

    def show(self, parcels: int) -> None:
        print(f"\nMedians of {ROUNDS} interleaved rounds, {parcels} parcels; bare and service, in ms:")
        print_table(["", "requests a second", "CPU", "PostgreSQL's", "p99"], self.rows)


if __name__ == "__main__":
    main()

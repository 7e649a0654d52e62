"""The benchmark of look-ups and searches: ``python -m tests.benchmarks [--parcels N]``, on services of its own.

It loads N parcels and drives, in turn, the service as `serve` starts it, with its log and its rate limit, and a bare
WSGI program with two threads a worker that checks the token, counts and answers the same bytes, and does nothing else.
CPU times include the server's processes, not the driver's and Redis'. Everything shares the machine, so only the ratio
within one run means something.
"""

import argparse
import os
import random
from collections.abc import Iterator
from functools import partial
from statistics import median

from tests.benchmarks.driver import measure
from tests.drills.environment import Environment
from tests.drills.harness import play
from tests.drills.load import LookUps
from tests.drills.printing import print_table, timed
from tests.drills.shop import SHOP
from tests.support.paths import PARCELS, SEARCH

CONNECTIONS = (16, 64)
ROUNDS = 3
LOOK_UPS, SEARCHES = 12_000, 4_000
WORKERS = 2
GOALS = {"look-up": 0.60, "search": 0.85}  # of the bare program's requests a second


def benchmark(env: Environment, options: argparse.Namespace) -> None:
    from tests.benchmarks.parcels import load_parcels

    parcels, rows = options.parcels, list[list[str]]()
    with timed(f"{parcels} parcels loaded"):
        load_parcels(SHOP, parcels)
    bare = env.granian("tests.benchmarks.bare:application", workers=WORKERS, threads=2, log=os.devnull)
    with bare, env.served(workers=WORKERS) as service:
        servers = {"bare": (bare.pid, bare.port), "service": (service.pid, service.port)}
        for connections in CONNECTIONS:
            for kind, paths in workload(parcels).items():
                rounds = compare(env, servers, kind, paths, connections)
                rows.append([f"{kind}, {connections} connections", *medians(kind, rounds)])
    print(f"\nMedians of {ROUNDS} interleaved rounds, {parcels} parcels; bare and service, in ms:")
    print_table(["", "requests a second", "CPU", "PostgreSQL's", "p99"], rows)


def workload(parcels: int) -> dict[str, list[str]]:
    """Return the paths of requests spread over all parcels."""
    from tests.benchmarks.parcels import any_number, any_search

    rng = random.Random(1)
    return {
        "look-up": [PARCELS + any_number(rng, parcels) for _ in range(LOOK_UPS)],
        "search": [SEARCH + any_search(rng, parcels) for _ in range(SEARCHES)],
    }


def compare(
    env: Environment, servers: dict[str, tuple[int, int]], kind: str, paths: list[str], connections: int
) -> dict[str, list[LookUps]]:
    """Drive servers, given as process id and port, by turns; raise ValueError if their answers differ."""
    if len({env.ask(port, "GET", paths[0]).content for _, port in servers.values()}) > 1:
        raise ValueError(f"the answers to a {kind} differ")
    drive = partial(measure, token=env.token, connections=connections, database_pid=env.postmaster)
    for server in servers.values():
        drive(*server, paths[: len(paths) // 4])
    rounds: dict[str, list[LookUps]] = {name: [] for name in servers}
    for number in range(ROUNDS):
        for name, measured in rounds.items():
            measured.append(drive(*servers[name], paths))
            cost = f"{measured[-1]}, PostgreSQL's {measured[-1].database_cpu_ms:.3f} ms"
            print(f"{kind} x{connections} round {number + 1} {name:7} {cost}", flush=True)
    return rounds


def medians(kind: str, rounds: dict[str, list[LookUps]]) -> Iterator[str]:
    """Yield the service's requests a second as a share of the bare program's, and figures of both."""
    rates = zip(rounds["service"], rounds["bare"], strict=True)
    yield f"{median(own.rate / bare.rate for own, bare in rates):.2f} (goal {GOALS[kind]:.2f})"
    figures = [[[each.cpu_ms, each.database_cpu_ms, each.percentiles_ms[2]] for each in own] for own in rounds.values()]
    for bare, own in zip(*([map(median, zip(*each, strict=True)) for each in figures]), strict=True):
        yield f"{bare:.2f}; {own:.2f}"


if __name__ == "__main__":
    play(benchmark, redis=True, parcels=200_000)

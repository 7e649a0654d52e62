"""The cost of an endpoint: ``python -m tests.benchmarks.webhooks [--parcels N] [--orders N]``, on PostgreSQL.

It imports parcels and buys labels, in turn without and with an endpoint that nothing is delivered to, and prints the
CPU time of the service and of PostgreSQL. Only the ratio within one run means something.
"""

import argparse
import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from itertools import islice, repeat

import orjson
from django.utils import timezone

from tests.benchmarks import purchases
from tests.benchmarks.importing import run
from tests.drills.environment import Environment
from tests.drills.harness import play
from tests.drills.printing import print_table
from tests.drills.process import metered
from tests.drills.shop import SHOP
from tests.drills.webhooks import world

ROUNDS = 10
NAMES = {False: "without", True: "with an endpoint"}


def benchmark(env: Environment, options: argparse.Namespace) -> None:
    world.add_endpoint(SHOP, "http://127.0.0.1:9999/")
    parcels = sample_lines(options.parcels)
    batch, orders = options.parcels // ROUNDS, options.orders // ROUNDS
    imports = (partial(run, list(islice(parcels, batch)), batch) for _ in repeat(None))
    show("import", options.parcels, compare(imports, ROUNDS, [os.getpid(), env.postmaster]))
    with env.served() as server:
        purchases.buy(env, server.port, 10, 1)  # not the first ones, which load code
        bought = repeat(partial(purchases.buy, env, server.port, orders, 1))
        show("purchase", options.orders, compare(bought, ROUNDS, [server.pid, env.postmaster]))


def sample_lines(count: int) -> Iterator[tuple[int, bytes]]:
    """Yield as many lines for each of the two cases."""
    from parcels.samples import sample_parcels

    return enumerate(map(orjson.dumps, sample_parcels(2 * count, now_ms=time.time_ns() // 10**6)), 1)


def compare(
    works: Iterator[Callable[[], object]],
    rounds: int,
    pids: Sequence[int],
    beside: Callable[[bool], AbstractContextManager[object]] = lambda _: nullcontext(),
) -> dict[bool, list[list[float]]]:
    """Work without and with the endpoint by turns; return the seconds of each round and the CPU seconds of processes.

    `beside` gives what else is to run meanwhile.
    """
    costs: dict[bool, list[list[float]]] = {False: [], True: []}
    for number in range(2 * rounds):
        has_endpoint = number % 2 == 1
        with beside(has_endpoint):
            switch(has_endpoint)
            work = next(works)
            with metered(*pids) as used:
                work()
        costs[has_endpoint].append(used)
    return costs


def switch(has_endpoint: bool) -> None:
    from shops.webhooks.models import WebhookEndpoint

    WebhookEndpoint.objects.update(revoked_at=None if has_endpoint else timezone.now())


def show(what: str, count: int, costs: dict[bool, list[list[float]]]) -> None:
    sums = {key: [sum(column) for column in zip(*rounds, strict=True)][1:] for key, rounds in costs.items()}
    without_s = sum(sums[False])
    rows = []
    for key, (own, its) in sums.items():
        both = own + its
        rows.append(
            [NAMES[key], f"{own:.2f}", f"{its:.2f}", f"{1000 * both / count:.3f}", f"{both / without_s - 1:+.1%}"]
        )
    print_table([f"{count} x {what}", "CPU, s", "PostgreSQL's, s", "both, ms each", "more"], rows)


if __name__ == "__main__":
    play(benchmark, world.SETTINGS, parcels=100_000, orders=400)

"""The cost of an endpoint: ``python -m tests.benchmarks.webhooks [--parcels N] [--orders N]``, on PostgreSQL.

It imports parcels and buys labels, in turn without and with an endpoint that nothing is delivered to, and prints the
CPU time of the service and of PostgreSQL. Only the ratio within one run means something.
"""

import os
import time
from collections.abc import Callable
from functools import partial
from itertools import islice

import orjson

from tests.benchmarks.importing import run
from tests.drills.environment import Environment, environment
from tests.drills.options import read_options
from tests.drills.printing import print_table
from tests.drills.process import metered
from tests.drills.shop import SHOP, carrier_of, new_key, order
from tests.drills.webhooks import world

ROUNDS = 10
NAMES = {False: "without", True: "with an endpoint"}
Cost = tuple[float, float]


def main() -> None:
    options = read_options(__doc__, parcels=100_000, orders=400)
    with environment("postgresql", world.SETTINGS) as env:
        world.add_endpoint(SHOP, "http://127.0.0.1:9999/")
        server = env.postmaster
        show("import", options.parcels, import_parcels(options.parcels // ROUNDS, server))
        with env.served() as (port, process):
            buy(env, port, 10)  # not the first ones, which load code
            work = partial(buy, env, port, options.orders // ROUNDS)
            costs = compare(lambda: work, process.popen.pid, server)
        show("purchase", options.orders, costs)


def import_parcels(count: int, server: int) -> dict[bool, Cost]:
    from parcels.samples import sample_parcels

    parcels = sample_parcels(2 * ROUNDS * count, now_ms=time.time_ns() // 10**6)

    def prepare() -> Callable[[], None]:
        lines = [orjson.dumps(parcel) for parcel in islice(parcels, count)]
        return lambda: run(enumerate(lines, 1), count)

    return compare(prepare, os.getpid(), server)


def buy(env: Environment, port: int, count: int) -> None:
    for number in range(count):
        key = new_key()
        assert env.buy(port, key, order(key, carrier_of(number))).status == 201


def compare(prepare: Callable[[], Callable[[], None]], pid: int, server: int) -> dict[bool, Cost]:
    """Run without and with the endpoint in turn; return the CPU seconds of each, the process's and PostgreSQL's."""
    costs: dict[bool, Cost] = {}
    for number in range(2 * ROUNDS):
        has_endpoint = number % 2 == 1
        switch(has_endpoint)
        work = prepare()
        with metered(pid, server) as used:
            work()
        before = costs.get(has_endpoint, (0.0, 0.0))
        costs[has_endpoint] = before[0] + used[1], before[1] + used[2]
    return costs


def switch(has_endpoint: bool) -> None:
    from django.utils import timezone

    from shops.webhooks.models import WebhookEndpoint

    WebhookEndpoint.objects.update(revoked_at=None if has_endpoint else timezone.now())


def show(what: str, count: int, costs: dict[bool, Cost]) -> None:
    rows = [
        [NAMES[key], f"{own:.2f}", f"{its:.2f}", f"{1000 * (own + its) / count:.3f}", f"{added(costs, key):+.1%}"]
        for key, (own, its) in costs.items()
    ]
    print_table([f"{count} x {what}", "CPU, s", "PostgreSQL's, s", "both, ms each", "more"], rows)


def added(costs: dict[bool, Cost], key: bool) -> float:
    return sum(costs[key]) / sum(costs[False]) - 1


if __name__ == "__main__":
    main()

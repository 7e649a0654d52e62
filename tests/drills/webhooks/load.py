"""Deliveries under load: ``python -m tests.drills.webhooks.load [--events N] [--processes N] [--database D]``.

First the delay of events for 50 endpoints, without and with one more that hangs or floods, and the peak of the memory
of the process that delivers; then the rate at which a backlog for
all of them, and one for a single endpoint, is delivered, and the CPU time of a delivery.
"""

import argparse
import time

from django.db import transaction

from tests.drills.environment import Environment
from tests.drills.harness import play
from tests.drills.printing import percentiles_ms, print_table
from tests.drills.process import metered, peak_mb
from tests.drills.webhooks import world
from tests.drills.webhooks.receiver import FLOOD, HANG, SLOW, deliveries
from tests.support.waiting import until

ENDPOINTS, ROUNDS, PACE_S = 50, 8, 0.04


def drill(env: Environment, options: argparse.Namespace) -> None:
    shops = [f"shop-{number}" for number in range(ENDPOINTS)]
    with world.Receiver(env.folder) as receiver:
        for shop_id in shops:
            world.add_endpoint(shop_id, receiver.url(SLOW))
        rows = [["50 endpoints", *delays(receiver, shops)]]
        for name, path in (("hangs", HANG), ("floods", FLOOD)):
            world.add_endpoint(name, receiver.url(path))
            world.emit_all([name], 100, "old")
            rows.append([f"and one that {name}", *delays(receiver, shops, name)])
        print_table(["delay of an event", "p50, ms", "p95, ms", "p99, ms", "peak, MB"], rows)
        rates = [rate(env, receiver, each, options.events, options.processes) for each in (shops, shops[:1])]
        print_table(["backlog", "a second", "CPU, ms", "PostgreSQL's, ms"], rates)


def delays(receiver: world.Receiver, shops: list[str], hostile: str = "") -> list[str]:
    """Tell events at a pace; return the percentiles of the time until they arrive, and the peak of memory."""
    told: dict[str, float] = {}
    name = f"event-{hostile}"
    with world.delivering() as children:
        time.sleep(3)
        for number in range(ROUNDS):
            for shop_id in [*shops, *([hostile] if hostile else [])]:
                subject = f"{name}-{shop_id}-{number}"
                with transaction.atomic():
                    world.tell(shop_id, subject, 0)
                if shop_id != hostile:
                    told[subject] = time.time()
                time.sleep(PACE_S)
        until(lambda: told.keys() <= {each.subject for each in deliveries(receiver.log)})
        most_mb = peak_mb(children[0].pid)
    waits = [each.at - told[each.subject] for each in deliveries(receiver.log) if each.subject in told]
    return [*(f"{each:.0f}" for each in percentiles_ms(waits)), f"{most_mb:.0f}"]


def rate(env: Environment, receiver: world.Receiver, shops: list[str], events: int, processes: int) -> list[str]:
    """Deliver a backlog for these shops; return the rate, and the CPU time of a delivery here and in PostgreSQL."""
    name = f"backlog-{len(shops)}-"
    world.emit_all(shops, events // len(shops), name)

    def arrived() -> int:
        return receiver.log.read_text().count(name)

    with world.delivering(processes) as children:
        until(arrived)
        before, server = arrived(), [env.postmaster] if (env.folder / "pg").exists() else []
        with metered(*(child.pid for child in children), *server) as used:
            until(lambda: arrived() >= events, timeout_s=600)
    count, (took_s, *own_s) = events - before, used
    server_s = own_s.pop() if server else 0.0
    figures = count / took_s, 1000 * sum(own_s) / count, 1000 * server_s / count
    return [f"{len(shops)} endpoints, {processes} processes", *(f"{figure:.2f}" for figure in figures)]


if __name__ == "__main__":
    play(drill, world.SETTINGS, events=5000, processes=2, database="postgresql")

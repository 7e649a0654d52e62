"""Deliveries under load: ``python -m tests.drills.webhooks.load [--events N] [--processes N] [--database D]``.

First the delay of events for 50 endpoints, without and with one more that hangs; then the rate at which a backlog is
delivered.
"""

import argparse
import time

from tests.drills.environment import Environment, environment
from tests.drills.printing import print_table
from tests.drills.webhooks import world
from tests.drills.webhooks.receiver import HANG, SLOW, deliveries
from tests.support.waiting import until

ENDPOINTS, ROUNDS, PACE_S = 50, 8, 0.04


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.drills.webhooks.load", description=__doc__)
    parser.add_argument("--events", type=int, default=5000)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--database", choices=["sqlite", "postgresql"], default="postgresql")
    options = parser.parse_args()
    with environment(options.database, world.SETTINGS) as env:
        shops = [f"shop-{number}" for number in range(ENDPOINTS)]
        receiver = world.Receiver(env.folder)
        for shop_id in shops:
            world.add_endpoint(shop_id, receiver.url(SLOW))
        world.close()
        receiver.start()
        rows = [["50 endpoints", *delays(receiver, shops)]]
        add_hanging(env, receiver)
        rows.append(["and one that hangs", *delays(receiver, shops, "hanging")])
        print_table(["delay of an event", "p50, ms", "p95, ms", "p99, ms"], rows)
        rate(receiver, shops, options.events, options.processes)
        receiver.kill()


def add_hanging(env: Environment, receiver: world.Receiver) -> None:
    """Add an endpoint that never answers, with a backlog."""
    world.add_endpoint("hanging", receiver.url(HANG))
    tell_all(["hanging"], 100, "old")


def tell_all(shops: list[str], count: int, name: str) -> None:
    from django.db import transaction

    with transaction.atomic():
        for number in range(count):
            for shop_id in shops:
                world.tell(shop_id, f"{name}-{number}", 0)
    world.close()


def delays(receiver: world.Receiver, shops: list[str], hanging: str = "") -> list[str]:
    """Tell events at a pace; return the percentiles of the time until they arrive."""
    from django.db import transaction

    told: dict[str, float] = {}
    name = f"event-{bool(hanging)}"
    with world.delivering():
        time.sleep(3)
        for number in range(ROUNDS):
            for shop_id in [*shops, *([hanging] if hanging else [])]:
                subject = f"{name}-{shop_id}-{number}"
                with transaction.atomic():
                    world.tell(shop_id, subject, 0)
                if shop_id != hanging:
                    told[subject] = time.time()
                time.sleep(PACE_S)
        until(lambda: told.keys() <= {each.subject for each in deliveries(receiver.log)})
    world.close()
    waits = [each.at - told[each.subject] for each in deliveries(receiver.log) if each.subject in told]
    return [f"{world.percentile_ms(waits, percent):.0f}" for percent in (50, 95, 99)]


def rate(receiver: world.Receiver, shops: list[str], events: int, processes: int) -> None:
    tell_all(shops, events // len(shops), "backlog")

    def arrived() -> int:
        return receiver.log.read_text().count("backlog-")

    with world.delivering(processes):
        until(arrived)
        started_s, before = time.monotonic(), arrived()
        until(lambda: arrived() >= events, timeout_s=600)
        took_s = time.monotonic() - started_s
    print(f"{(events - before) / took_s:.0f} deliveries a second by {processes} processes, {events} queued")


if __name__ == "__main__":
    main()

"""Deliveries while a shop buys: ``python -m tests.drills.webhooks.buying [--seconds N] [--clients N] [--database D]``.

One shop buys as fast as it can; then again, beside two other shops with four endpoints that answer after ten seconds.
Each label's event has to arrive, and 99 of 100 within two seconds of the commit.
"""

import argparse
import time

from tests.drills.environment import Environment
from tests.drills.harness import play
from tests.drills.load import Clients
from tests.drills.printing import percentiles_ms, print_table
from tests.drills.shop import SHOP
from tests.drills.webhooks import world
from tests.drills.webhooks.receiver import TARDY, deliveries
from tests.support.waiting import until

LONGEST_S, LEFT_S = 2.0, 60.0
OTHERS, EVENTS = ("tardy-1", "tardy-2"), 40  # events for each of their endpoints


def drill(env: Environment, options: argparse.Namespace) -> list[str]:
    faults: list[str] = []
    with world.Receiver(env.folder) as receiver:
        world.add_endpoint(SHOP, receiver.url())
        rows = [["alone", *bought(env, receiver, options.seconds, options.clients, faults)]]
        for shop_id in OTHERS:
            for _ in range(2):
                world.add_endpoint(shop_id, receiver.url(TARDY))
            world.emit_all([shop_id], EVENTS, shop_id)
        rows.append(["beside tardy endpoints", *bought(env, receiver, options.seconds, options.clients, faults)])
    print_table(["buying", "events", "meanwhile", "p50, ms", "p99, ms", "longest, ms"], rows)
    return faults


def bought(env: Environment, receiver: world.Receiver, seconds: float, clients: int, faults: list[str]) -> list[object]:
    """Buy for so long; return how many events there were, how many came meanwhile, and their delays."""
    with world.delivering(), env.served(workers=2) as server:
        answers = Clients(env, server.port, clients, seconds, 0).labels()
        ends_at = time.time()
        label_ids = {answer.body["id"] for seen in answers.values() for answer in seen if answer.status == 201}
        until(lambda: label_ids <= {each.subject for each in deliveries(receiver.log)}, timeout_s=LEFT_S)
    told_at = told(label_ids)
    arrived_at = {each.subject: each.at for each in deliveries(receiver.log) if each.subject in label_ids}
    waits_s = [arrived_at[each] - told_at[each] for each in label_ids]
    p50_ms, _, p99_ms = percentiles_ms(waits_s)
    if p99_ms > 1000 * LONGEST_S:
        faults.append(f"99 of 100 events arrived within {p99_ms:.0f} ms only")
    meanwhile = sum(at < ends_at for at in arrived_at.values())
    return [len(waits_s), meanwhile, *(f"{each:.0f}" for each in (p50_ms, p99_ms, 1000 * max(waits_s)))]


def told(label_ids: set[str]) -> dict[str, float]:
    """Return when each label's event was written, in seconds."""
    from shops.webhooks.models import WebhookEvent

    rows = WebhookEvent.objects.filter(type="label.generated", shop=SHOP).values_list("subject", "created_at")
    return {subject: at.timestamp() for subject, at in rows if subject in label_ids}


if __name__ == "__main__":
    play(drill, world.SETTINGS, seconds=30.0, clients=16, database="postgresql")

"""Deliveries while a shop buys: ``python -m tests.drills.webhooks.buying [--seconds N] [--clients N] [--database D]``.

One shop buys as fast as it can; then again, beside two other shops with four endpoints that answer after ten seconds.
Each label's event has to arrive, and 99 of 100 within two seconds of the commit.
"""

import sys
import time
from concurrent.futures import ThreadPoolExecutor

from tests.drills.environment import Environment, environment
from tests.drills.forks import close_connections
from tests.drills.options import read_options
from tests.drills.printing import exit_code, print_table
from tests.drills.shop import SHOP, carrier_of, new_key, order
from tests.drills.webhooks import world
from tests.drills.webhooks.receiver import TARDY, deliveries
from tests.support.waiting import until

LONGEST_S, LEFT_S = 2.0, 60.0
OTHERS, EVENTS = ("tardy-1", "tardy-2"), 40  # events for each of their endpoints


def main() -> None:
    options = read_options(__doc__, seconds=30.0, clients=16, database="postgresql")
    faults: list[str] = []
    with environment(options.database, world.SETTINGS) as env:
        receiver = world.Receiver(env.folder)
        world.add_endpoint(SHOP, receiver.url())
        receiver.start()
        rows = [["alone", *bought(env, receiver, options.seconds, options.clients, faults)]]
        for shop_id in OTHERS:
            for _ in range(2):
                world.add_endpoint(shop_id, receiver.url(TARDY))
            world.tell_all([shop_id], EVENTS, shop_id)
        rows.append(["beside tardy endpoints", *bought(env, receiver, options.seconds, options.clients, faults)])
        receiver.kill()
    print_table(["buying", "events", "meanwhile", "p50, ms", "p99, ms", "longest, ms"], rows)
    sys.exit(exit_code(faults))


def bought(env: Environment, receiver: world.Receiver, seconds: float, clients: int, faults: list[str]) -> list[object]:
    """Buy for so long; return how many events there were, how many came meanwhile, and their delays."""
    with world.delivering(), env.served(workers=2) as (port, _), ThreadPoolExecutor(clients) as pool:
        ends_at = time.time() + seconds
        label_ids = set().union(*pool.map(lambda _: buy_until(env, port, ends_at), range(clients)))
        until(lambda: label_ids <= {each.subject for each in deliveries(receiver.log)}, timeout_s=LEFT_S)
    told_at = told(label_ids)
    arrived_at = {each.subject: each.at for each in deliveries(receiver.log) if each.subject in label_ids}
    waits = [arrived_at[each] - told_at[each] for each in label_ids]
    longest = world.percentile_ms(waits, 99)
    if longest > 1000 * LONGEST_S:
        faults.append(f"99 of 100 events arrived within {longest:.0f} ms only")
    meanwhile = sum(at < ends_at for at in arrived_at.values())
    return [len(waits), meanwhile, *(f"{world.percentile_ms(waits, percent):.0f}" for percent in (50, 99, 100))]


def buy_until(env: Environment, port: int, ends_at: float) -> set[str]:
    """Order one label after the other; return the ids of those that were bought."""
    found = set()
    for number in range(10**6):
        if time.time() >= ends_at:
            break
        key = new_key()
        answer = env.buy(port, key, order(key, carrier_of(number)))
        if answer.status == 201:
            found.add(answer.body["id"])
    return found


def told(label_ids: set[str]) -> dict[str, float]:
    """Return when each label's event was written, in seconds."""
    from shops.webhooks.models import WebhookEvent

    rows = WebhookEvent.objects.filter(type="label.generated", shop=SHOP).values_list("subject", "created_at")
    found = {subject: at.timestamp() for subject, at in rows if subject in label_ids}
    close_connections()
    return found


if __name__ == "__main__":
    main()

"""The concurrency drill: ``python -m tests.drills.concurrency [--keys N] [--database D]``.

It sends 20 concurrent posts with one Idempotency-Key to two server processes: each key buys one label, and every other
answer is a replay (201 with ``Idempotent-Replayed``) or a 409. Then as many concurrent posts of different keys; the
same with a carrier that refuses, where each refusal releases the key; and with two bodies for one key. Last,
cancellations of one label at once, and against reconciliations and retries.
"""

import argparse
import random
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from functools import partial
from typing import Any

from tests.drills import cancellations
from tests.drills.audit import CANCELLED, FAILED, GENERATED
from tests.drills.cancellations import PROCESSES, Result, Scenario, at_once
from tests.drills.environment import Environment
from tests.drills.harness import play
from tests.drills.orders import Orders
from tests.drills.printing import counts, print_table
from tests.drills.shop import carrier_of, order
from tests.support.http import Answer

POSTS = 20
# References that the sandbox refuses.
REFUSALS = {"alpha": "FAULT 38", "beta": "FAULT 30204"}
IN_PROGRESS, REUSED = "409 IDEMPOTENCY_KEY_IN_PROGRESS", "422 IDEMPOTENCY_KEY_REUSED"
FACTS = ("keys", "keys bought", "bought twice", "bought and unknown to us", "held for a person")
STATES = {"rows generated": GENERATED, "rows failed": FAILED, "rows cancelled": CANCELLED}


def drill(env: Environment, options: argparse.Namespace) -> list[str]:
    with ExitStack() as stack:
        ports = [stack.enter_context(env.served()).port for _ in range(PROCESSES)]
        print(f"{options.database}: {POSTS} posts at once with each of {options.keys} keys, to {PROCESSES} processes")
        results = {name: scenario(env, ports, options.keys) for name, scenario in SCENARIOS.items()}
    show(results)
    return [fault for _, result in results.values() for fault in result.faults]


def show(results: dict[str, Result]) -> None:
    seen = [Counter(answer.outcome for answer in orders.seen) for orders, _ in results.values()]
    print("\nclients' answers")
    print_table(["", *results], [[what, *(each[what] for each in seen)] for what in sorted({*sum(seen, Counter())})])
    audits = [result for _, result in results.values()]
    rows = [list(row) for row in zip(FACTS, *(each.figures for each in audits), strict=True)]
    rows += [[name, *(each.states[state] for each in audits)] for name, state in STATES.items()]
    slowest = [max(answer.duration_s for answer in orders.seen) for orders, _ in results.values()]
    print("\nledger and table")
    print_table(["", *results], [*rows, ["slowest answer, s", *(f"{each:.2f}" for each in slowest)]])


def post_at_once(orders: Orders, ports: list[int], key: str, bodies: list[dict[str, Any]]) -> list[Answer]:
    """Send all bodies with one key in the same instant."""
    orders.answers[key] = at_once([partial(orders.env.buy, key=key, body=body) for body in bodies], ports)
    return orders.answers[key]


def same_key(env: Environment, ports: list[int], keys: int) -> Result:
    orders = Orders(env, keys)
    for key, body in orders.bodies.items():
        post_at_once(orders, ports, key, [body] * POSTS)
    return orders, orders.audited().with_faults(one_label_each(orders))


def mixed_keys(env: Environment, ports: list[int], keys: int) -> Result:
    """Send the same number of concurrent posts, but of different keys."""
    orders = Orders(env, keys)
    posts = list(orders.bodies) * POSTS
    random.Random(1).shuffle(posts)
    with ThreadPoolExecutor(POSTS) as pool:
        list(pool.map(lambda number: orders.send(ports[number % len(ports)], posts[number]), range(len(posts))))
    return orders, orders.audited().with_faults(one_label_each(orders))


def one_label_each(orders: Orders) -> list[str]:
    """Return the keys that did not buy exactly one label, or met anything but replays and 409s besides."""
    return [
        f"{key}: {counts(answer.outcome for answer in seen)}"
        for key, seen in orders.answers.items()
        if not is_one_label(seen)
    ]


def is_one_label(seen: list[Answer]) -> bool:
    outcomes = Counter(answer.outcome for answer in seen)
    return (
        outcomes["201"] == 1
        and not set(outcomes) - {"201", "201 replayed", IN_PROGRESS}
        and len({answer.body["id"] for answer in seen if answer.status == 201}) == 1
        and all("retry-after" in answer.headers for answer in seen if answer.status == 409)
    )


def refused(env: Environment, ports: list[int], keys: int) -> Result:
    orders = Orders(env)
    for number in range(keys // 4):
        carrier = carrier_of(number)
        key = orders.add(carrier, reference=REFUSALS[carrier])
        post_at_once(orders, ports, key, [orders.bodies[key]] * POSTS)
    unexpected = orders.unexpected({"400 ALPHA_ADDRESS_REJECTED", "400 BETA_ADDRESS_REJECTED", IN_PROGRESS})
    return orders, orders.audited().with_faults([answer.outcome for answer in unexpected])


def two_bodies(env: Environment, ports: list[int], keys: int) -> Result:
    """Send two bodies with one key: the row decides which was first; until it exists, the other may get a 409."""
    orders, faults = Orders(env, keys // 4), list[str]()
    for key, body in orders.bodies.items():
        bodies = [body, order(key, body["carrierCode"], parcels=2)]
        outcomes = Counter(each.outcome for each in post_at_once(orders, ports, key, bodies * (POSTS // 2)))
        if set(outcomes) - {"201", "201 replayed", IN_PROGRESS, REUSED} or outcomes["201"] != 1:
            faults.append(f"{key}: {counts(outcomes)}")
        later = Counter(env.buy(ports[0], key, each).outcome for each in bodies)
        if set(later) != {"201 replayed", REUSED}:
            faults.append(f"{key}, later: {counts(later)}")
    return orders, orders.audited().with_faults(faults)


SCENARIOS: dict[str, Scenario] = {
    "one body": same_key,
    "keys mixed": mixed_keys,
    "a carrier that refuses": refused,
    "two bodies": two_bodies,
    **cancellations.SCENARIOS,
}


if __name__ == "__main__":
    play(drill, redis=True, keys=200, database="postgresql")

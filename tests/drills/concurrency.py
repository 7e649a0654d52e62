"""The rush drill: ``python -m tests.drills.concurrency [--keys N] [--database D]``: many requests with one key at once.

20 concurrent posts with one Idempotency-Key, to two server processes in turns: one purchase a key, every other answer
a replay (201 with ``Idempotent-Replayed``) or a 409. Then as many at once of different keys; the same with a carrier
that refuses, where a key is free again after each refusal; and with two bodies for one key.
"""

import argparse
import random
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

from tests.drills.environment import Answer, Stage, new_key, order, stage
from tests.drills.judging import FAILED, GENERATED, Judge, Verdict
from tests.drills.kill import line
from tests.drills.tables import show

POSTS = 20
PROCESSES = 2
# A refusal each carrier knows, asked for with a magic reference.
REFUSALS = {"alpha": "FAULT 38", "beta": "FAULT 30204"}


@dataclass
class Result:
    """What became of the keys of one act."""

    outcomes: Counter[str]
    slowest_s: float
    verdict: Verdict
    faults: list[str]


FACTS: dict[str, Callable[[Result], object]] = {
    "keys": lambda result: result.verdict.keys,
    "keys bought": lambda result: result.verdict.bought,
    "bought twice": lambda result: result.verdict.bought_twice,
    "bought and unknown to us": lambda result: result.verdict.unknown_to_us,
    "rows generated": lambda result: result.verdict.states[GENERATED],
    "rows failed": lambda result: result.verdict.states[FAILED],
    "rows in another state": lambda result: (
        result.verdict.states.total() - result.verdict.states[GENERATED] - result.verdict.states[FAILED]
    ),
    "slowest answer, s": lambda result: f"{result.slowest_s:.2f}",
}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.drills.concurrency", description=__doc__)
    parser.add_argument("--keys", type=int, default=200)
    parser.add_argument("--database", choices=["sqlite", "postgresql"], default="postgresql")
    options = parser.parse_args()
    started_s = time.monotonic()
    with ExitStack() as stack:
        redis = options.database == "postgresql"
        world = stack.enter_context(stage(options.database, {}, redis=redis))
        ports = [stack.enter_context(world.served())[0] for _ in range(PROCESSES)]
        print(f"{options.database}: {POSTS} posts at once with each of {options.keys} keys, to {PROCESSES} processes")
        results = {name: act(world, ports, options.keys) for name, act in ACTS.items()}
    print("\nwhat the clients saw")
    outcomes = sorted({outcome for result in results.values() for outcome in result.outcomes})
    show(["", *results], [[outcome, *(each.outcomes[outcome] for each in results.values())] for outcome in outcomes])
    print("\nwhat the ledger and the table say")
    show(["", *results], [[name, *(get(each) for each in results.values())] for name, get in FACTS.items()])
    faults = [fault for result in results.values() for fault in result.faults]
    print(f"\n{options.database}: {len(faults)} faults, {time.monotonic() - started_s:.0f} s")
    for fault in faults[:20]:
        print(f"  FAULT {fault}")
    sys.exit(1 if faults else 0)


def rush(world: Stage, ports: list[int], key: str, bodies: list[dict[str, Any]]) -> list[Answer]:
    """Send all bodies in the same instant."""
    barrier = threading.Barrier(len(bodies))

    def post(number: int) -> Answer:
        barrier.wait()
        return world.buy(ports[number % len(ports)], key, bodies[number])

    with ThreadPoolExecutor(len(bodies)) as pool:
        return list(pool.map(post, range(len(bodies))))


def carrier_of(number: int) -> str:
    return "alpha" if number % 2 else "beta"


def same_key(world: Stage, ports: list[int], keys: int) -> Result:
    answers = {}
    for number in range(keys):
        key = new_key()
        answers[key] = rush(world, ports, key, [order(key, carrier_of(number))] * POSTS)
    return judged(world, answers, [fault for key, seen in answers.items() for fault in one_label(key, seen)])


def one_label(key: str, seen: list[Answer]) -> list[str]:
    """What is wrong, if anything, where one key and one body were sent: one label, and nothing but replays and 409s."""
    outcomes = Counter(answer.outcome for answer in seen)
    is_right = (
        outcomes["201"] == 1
        and not set(outcomes) - {"201", "201 replayed", "409 IDEMPOTENCY_KEY_IN_PROGRESS"}
        and len({answer.body["id"] for answer in seen if answer.status == 201}) == 1
        and all("retry-after" in answer.headers for answer in seen if answer.status == 409)
    )
    return [] if is_right else [f"{key}: {line(outcomes)}"]


def mixed_keys(world: Stage, ports: list[int], keys: int) -> Result:
    """As many at once as before, but of different keys."""
    carriers = {new_key(): carrier_of(number) for number in range(keys)}
    posts = list(carriers) * POSTS
    random.Random(1).shuffle(posts)

    def post(number: int) -> Answer:
        key = posts[number]
        return world.buy(ports[number % len(ports)], key, order(key, carriers[key]))

    answers: dict[str, list[Answer]] = {key: [] for key in carriers}
    with ThreadPoolExecutor(POSTS) as pool:
        for number, answer in enumerate(pool.map(post, range(len(posts)))):
            answers[posts[number]].append(answer)
    return judged(world, answers, [fault for key, seen in answers.items() for fault in one_label(key, seen)])


def refused(world: Stage, ports: list[int], keys: int) -> Result:
    answers = {}
    for number in range(keys // 4):
        key, carrier = new_key(), carrier_of(number)
        answers[key] = rush(world, ports, key, [order(key, carrier, reference=REFUSALS[carrier])] * POSTS)
    codes = {"400 ALPHA_ADDRESS_REJECTED", "400 BETA_ADDRESS_REJECTED", "409 IDEMPOTENCY_KEY_IN_PROGRESS"}
    faults = [
        f"{key}: {answer.outcome}" for key, seen in answers.items() for answer in seen if answer.outcome not in codes
    ]
    return judged(world, answers, faults)


def two_bodies(world: Stage, ports: list[int], keys: int) -> Result:
    """Which body was first is known when its purchase has a row, at the latest; until then the other's may be a 409."""
    answers, faults = {}, []
    codes = {"201", "201 replayed", "409 IDEMPOTENCY_KEY_IN_PROGRESS", "422 IDEMPOTENCY_KEY_REUSED"}
    for number in range(keys // 4):
        key, carrier = new_key(), carrier_of(number)
        bodies = [order(key, carrier), order(key, carrier, parcels=2)]
        answers[key] = rush(world, ports, key, bodies * (POSTS // 2))
        later = [world.buy(ports[0], key, body) for body in bodies]
        outcomes = Counter(answer.outcome for answer in answers[key])
        if set(outcomes) - codes or outcomes["201"] != 1:
            faults.append(f"{key}: {line(outcomes)}")
        if {answer.outcome for answer in later} != {"201 replayed", "422 IDEMPOTENCY_KEY_REUSED"}:
            faults.append(f"{key}, later: {line(Counter(answer.outcome for answer in later))}")
    return judged(world, answers, faults)


def judged(world: Stage, answers: dict[str, list[Answer]], faults: list[str]) -> Result:
    seen = [answer for each in answers.values() for answer in each]
    verdict = Judge(world).keys(answers)
    outcomes = Counter(answer.outcome for answer in seen)
    return Result(outcomes, max(answer.duration_s for answer in seen), verdict, faults + verdict.faults)


ACTS: dict[str, Callable[[Stage, list[int], int], Result]] = {
    "one body": same_key,
    "keys mixed": mixed_keys,
    "a carrier that refuses": refused,
    "two bodies": two_bodies,
}


if __name__ == "__main__":
    main()

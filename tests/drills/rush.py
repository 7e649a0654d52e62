"""The rush drill: ``python -m tests.drills.rush [--keys N] [--database D]``: many requests with one key at once.

20 concurrent posts with one Idempotency-Key, to two server processes in turns: one purchase a key, every other answer
a replay (201 with ``Idempotent-Replayed``) or a 409. Then the same with a carrier that refuses, where a key is free
again after each refusal, and with two bodies for one key.
"""

import argparse
import sys
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from typing import Any

from tests.drills.judging import Judge, Verdict
from tests.drills.kill import line
from tests.drills.stage import Answer, Stage, new_key, order, stage

POSTS = 20
PROCESSES = 2
# A refusal each carrier knows, asked for with a magic reference.
REFUSALS = {"alpha": "FAULT 38", "beta": "FAULT 30204"}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.drills.rush", description=__doc__)
    parser.add_argument("--keys", type=int, default=200)
    parser.add_argument("--database", choices=["sqlite", "postgresql"], default="postgresql")
    options = parser.parse_args()
    started_s = time.monotonic()
    with ExitStack() as stack:
        redis = options.database == "postgresql"
        world = stack.enter_context(stage(options.database, {"CARRIER_CONCURRENCY": 16}, redis=redis))
        ports = [stack.enter_context(world.granian(blocking_threads=12))[0] for _ in range(PROCESSES)]
        print(f"{options.database}: {POSTS} posts at once with each of {options.keys} keys, to {PROCESSES} processes")
        faults = [fault for act in ACTS for fault in act(world, ports, options.keys)]
    print(f"{options.database}: {len(faults)} faults, {time.monotonic() - started_s:.0f} s")
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


def same_key(world: Stage, ports: list[int], keys: int) -> list[str]:
    answers = {}
    for number in range(keys):
        key = new_key()
        answers[key] = rush(world, ports, key, [order(key, carrier_of(number))] * POSTS)
    faults = [
        f"{key}: {line(Counter(answer.outcome for answer in seen))}"
        for key, seen in answers.items()
        if Counter(answer.outcome for answer in seen)["201"] != 1
        or {answer.outcome for answer in seen} - {"201", "201 replayed", "409 IDEMPOTENCY_KEY_IN_PROGRESS"}
        or len({answer.body["id"] for answer in seen if answer.status == 201}) != 1
        or any("retry-after" not in answer.headers for answer in seen if answer.status == 409)
    ]
    return faults + report("one body, a willing carrier", world, answers)


def refused(world: Stage, ports: list[int], keys: int) -> list[str]:
    answers = {}
    for number in range(keys // 4):
        key, carrier = new_key(), carrier_of(number)
        answers[key] = rush(world, ports, key, [order(key, carrier, reference=REFUSALS[carrier])] * POSTS)
    codes = {"400 ALPHA_ADDRESS_REJECTED", "400 BETA_ADDRESS_REJECTED", "409 IDEMPOTENCY_KEY_IN_PROGRESS"}
    faults = [
        f"{key}: {answer.outcome}" for key, seen in answers.items() for answer in seen if answer.outcome not in codes
    ]
    return faults + report("one body, a carrier that refuses", world, answers)


def two_bodies(world: Stage, ports: list[int], keys: int) -> list[str]:
    answers = {}
    for number in range(keys // 4):
        key, carrier = new_key(), carrier_of(number)
        bodies = [order(key, carrier), order(key, carrier, parcels=2)] * (POSTS // 2)
        answers[key] = rush(world, ports, key, bodies)
    codes = {"201", "201 replayed", "409 IDEMPOTENCY_KEY_IN_PROGRESS", "422 IDEMPOTENCY_KEY_REUSED"}
    faults = [
        f"{key}: {line(Counter(answer.outcome for answer in seen))}"
        for key, seen in answers.items()
        if Counter(answer.outcome for answer in seen)["422 IDEMPOTENCY_KEY_REUSED"] != POSTS // 2
        or {answer.outcome for answer in seen} - codes
    ]
    return faults + report("two bodies with one key", world, answers)


def report(name: str, world: Stage, answers: dict[str, list[Answer]]) -> list[str]:
    seen = [answer for each in answers.values() for answer in each]
    verdict: Verdict = Judge(world).keys(answers)
    print(f"  {name}: {line(Counter(answer.outcome for answer in seen))}")
    print(
        f"  {'':{len(name)}}  {verdict}; slowest answer {max(answer.duration_s for answer in seen):.2f} s", flush=True
    )
    return verdict.faults


ACTS = (same_key, refused, two_bodies)


if __name__ == "__main__":
    main()

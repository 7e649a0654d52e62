"""The concurrency drill: ``python -m tests.drills.concurrency [--keys N] [--database D]``.

It sends 20 concurrent posts with one Idempotency-Key to two server processes: each key buys one label, and every other
answer is a replay (201 with ``Idempotent-Replayed``) or a 409. Then as many concurrent posts of different keys; the
same with a carrier that refuses, where each refusal releases the key; and with two bodies for one key. Last,
cancellations of one label at once, and against reconciliations and retries.
"""

import random
import sys
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from functools import partial
from typing import Any

from tests.drills import cancellations
from tests.drills.audit import Audit
from tests.drills.concurrency_result import FACTS, Keys, Result, at_once
from tests.drills.environment import Environment, environment
from tests.drills.options import read_options
from tests.drills.printing import counts, exit_code, print_table
from tests.drills.shop import carrier_of, new_key, order
from tests.support.http import Answer

POSTS = 20
PROCESSES = 2
# References that the sandbox refuses.
REFUSALS = {"alpha": "FAULT 38", "beta": "FAULT 30204"}
IN_PROGRESS, REUSED = "409 IDEMPOTENCY_KEY_IN_PROGRESS", "422 IDEMPOTENCY_KEY_REUSED"


def main() -> None:
    options = read_options(__doc__, keys=200, database="postgresql")
    started_s = time.monotonic()
    with ExitStack() as stack:
        env = stack.enter_context(environment(options.database, {}, redis=options.database == "postgresql"))
        ports = [stack.enter_context(env.served())[0] for _ in range(PROCESSES)]
        print(f"{options.database}: {POSTS} posts at once with each of {options.keys} keys, to {PROCESSES} processes")
        results = {name: scenario(env, ports, options.keys) for name, scenario in SCENARIOS.items()}
    show(results)
    faults = [fault for result in results.values() for fault in result.faults]
    print(f"\n{options.database}: {len(faults)} faults, {time.monotonic() - started_s:.0f} s")
    sys.exit(exit_code(faults))


def show(results: dict[str, Result]) -> None:
    print("\nclients' answers")
    outcomes = sorted({outcome for result in results.values() for outcome in result.outcomes})
    rows = [[outcome, *(each.outcomes[outcome] for each in results.values())] for outcome in outcomes]
    print_table(["", *results], rows)
    print("\nledger and table")
    print_table(["", *results], [[name, *(get(each) for each in results.values())] for name, get in FACTS.items()])


def post_at_once(env: Environment, ports: list[int], key: str, bodies: list[dict[str, Any]]) -> list[Answer]:
    """Send all bodies with one key in the same instant."""
    return at_once([partial(env.buy, key=key, body=body) for body in bodies], ports)


def same_key(env: Environment, ports: list[int], keys: int) -> Result:
    answers: Keys = {}
    for number in range(keys):
        key = new_key()
        answers[key] = post_at_once(env, ports, key, [order(key, carrier_of(number))] * POSTS)
    return audited(env, answers, one_label_each(answers))


def mixed_keys(env: Environment, ports: list[int], keys: int) -> Result:
    """Send the same number of concurrent posts, but of different keys."""
    carriers = {new_key(): carrier_of(number) for number in range(keys)}
    posts = list(carriers) * POSTS
    random.Random(1).shuffle(posts)

    def post(number: int) -> Answer:
        key = posts[number]
        return env.buy(ports[number % len(ports)], key, order(key, carriers[key]))

    answers: Keys = {key: [] for key in carriers}
    with ThreadPoolExecutor(POSTS) as pool:
        for number, answer in enumerate(pool.map(post, range(len(posts)))):
            answers[posts[number]].append(answer)
    return audited(env, answers, one_label_each(answers))


def one_label_each(answers: Keys) -> list[str]:
    """Return the keys that did not buy exactly one label, or met anything but replays and 409s besides."""
    return [
        f"{key}: {counts(Counter(answer.outcome for answer in seen))}"
        for key, seen in answers.items()
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
    answers: Keys = {}
    for number in range(keys // 4):
        key, carrier = new_key(), carrier_of(number)
        answers[key] = post_at_once(env, ports, key, [order(key, carrier, reference=REFUSALS[carrier])] * POSTS)
    expected = {"400 ALPHA_ADDRESS_REJECTED", "400 BETA_ADDRESS_REJECTED", IN_PROGRESS}
    faults = [
        f"{key}: {answer.outcome}" for key, seen in answers.items() for answer in seen if answer.outcome not in expected
    ]
    return audited(env, answers, faults)


def two_bodies(env: Environment, ports: list[int], keys: int) -> Result:
    """Send two bodies with one key: the row decides which was first; until it exists, the other may get a 409."""
    answers: Keys = {}
    faults: list[str] = []
    for number in range(keys // 4):
        key, carrier = new_key(), carrier_of(number)
        bodies = [order(key, carrier), order(key, carrier, parcels=2)]
        answers[key] = post_at_once(env, ports, key, bodies * (POSTS // 2))
        outcomes = Counter(answer.outcome for answer in answers[key])
        if set(outcomes) - {"201", "201 replayed", IN_PROGRESS, REUSED} or outcomes["201"] != 1:
            faults.append(f"{key}: {counts(outcomes)}")
        later = Counter(env.buy(ports[0], key, body).outcome for body in bodies)
        if set(later) != {"201 replayed", REUSED}:
            faults.append(f"{key}, later: {counts(later)}")
    return audited(env, answers, faults)


def audited(env: Environment, answers: Keys, faults: list[str]) -> Result:
    seen = [answer for each in answers.values() for answer in each]
    result = Audit(env).keys(answers)
    outcomes = Counter(answer.outcome for answer in seen)
    return Result(outcomes, max(answer.duration_s for answer in seen), result, faults + result.faults)


SCENARIOS: dict[str, Callable[[Environment, list[int], int], Result]] = {
    "one body": same_key,
    "keys mixed": mixed_keys,
    "a carrier that refuses": refused,
    "two bodies": two_bodies,
    **cancellations.SCENARIOS,
}


if __name__ == "__main__":
    main()

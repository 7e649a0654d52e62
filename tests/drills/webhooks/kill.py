"""The kill drill: ``python -m tests.drills.webhooks.kill [--kills N] [--database D]``.

Several processes deliver and one receives, while changes are committed and rolled back. All the time one of them, the
receiver in every fourth case, is killed with SIGKILL and replaced. In the end every committed event has to have
arrived, no event of a change that was rolled back, and the events of a subject in their order.
"""

import argparse
import random
import time
from collections import Counter, defaultdict
from multiprocessing.synchronize import Event
from pathlib import Path

from django.db import transaction

from tests.drills.environment import Environment
from tests.drills.forks import FORKS, Child
from tests.drills.harness import play
from tests.drills.webhooks import world
from tests.drills.webhooks.receiver import Delivery, deliveries
from tests.support.waiting import until

LEASE_S, DRAIN_S = 3.0, 1200.0
PROCESSES, TELLERS, SUBJECTS = 2, 2, 200
TELL_S = 0.05
SHOPS, KEPT = ("one", "two"), 0.8
# Between two kills: a forked process has connected to the database and is in the midst of a batch.
PAUSE_S = (0.05, 1.0)


def drill(env: Environment, options: argparse.Namespace) -> list[str]:
    receiver, told, is_over = world.Receiver(env.folder), env.folder / "told.log", FORKS.Event()
    for shop_id in SHOPS:
        world.add_endpoint(shop_id, receiver.url(f"/{shop_id}"))
    with receiver, world.delivering(PROCESSES, LEASE_S) as children:
        tellers = [Child(tell_events, name, told, is_over).start() for name in range(TELLERS)]
        for kill in range(options.kills):
            time.sleep(random.uniform(*PAUSE_S))
            if kill % 4 == 3:
                receiver.restart()
            else:
                random.choice(children).restart()
        is_over.set()
        for teller in tellers:
            teller.process.join()
        print(f"  {world.queued()} queued after the last kill", flush=True)
        until(world.is_drained, timeout_s=DRAIN_S)
    return audit(told.read_text().splitlines(), list(deliveries(receiver.log)), options.kills)


def tell_events(name: int, log: Path, is_over: Event) -> None:
    """Commit changes of subjects of two shops, and roll others back; note each when that is done."""
    with log.open("a", buffering=1) as output:
        for sequence in range(10**9):
            if is_over.is_set():
                return
            shop_id, subject = random.choice(SHOPS), f"subject-{name}-{random.randrange(SUBJECTS)}"
            is_kept = random.random() < KEPT
            with transaction.atomic():
                world.tell(shop_id, subject, sequence)
                transaction.set_rollback(not is_kept)
            time.sleep(TELL_S)
            output.write(f"{shop_id} {subject} {sequence} {'kept' if is_kept else 'undone'}\n")


def audit(told: list[str], received: list[Delivery], kills: int) -> list[str]:
    first: dict[str, list[int]] = defaultdict(list)
    seen: Counter[tuple[str, int]] = Counter()
    for each in received:
        subject = f"{each.path[1:]} {each.subject}"
        if not seen[subject, each.sequence]:
            first[subject].append(each.sequence)
        seen[subject, each.sequence] += 1
    events = [line.rsplit(" ", 2) for line in told]
    committed = {(subject, int(sequence)) for subject, sequence, end in events if end == "kept"}
    missing, invented = committed - set(seen), set(seen) - committed
    disordered = [subject for subject, numbers in first.items() if numbers != sorted(numbers)]
    duplicates = sum(seen.values()) - len(seen)
    print(
        f"{kills} kills; {len(committed)} events committed, {len(events) - len(committed)} rolled back; "
        f"{len(missing)} never delivered, {len(invented)} delivered without a committed change, "
        f"{len(disordered)} subjects out of order, {duplicates} delivered twice"
    )
    return [f"{kind}: {each}" for kind, found in (("missing", missing), ("invented", invented)) for each in found] + [
        f"out of order: {subject}" for subject in disordered
    ]


if __name__ == "__main__":
    play(drill, world.SETTINGS | {"WEBHOOK_PACE": 600}, kills=1000, database="postgresql")

"""A receiver that is down for three days: ``python -m tests.drills.webhooks.down [--pace N] [--database D]``.

Time is compressed by WEBHOOK_PACE. Events of many subjects are committed all the time while nothing listens; then the
receiver is there. Everything has to arrive, in order for a subject, and nothing may be given up.
"""

import argparse
import time
from collections import defaultdict

from django.db import transaction

from tests.drills.environment import Environment
from tests.drills.harness import play
from tests.drills.webhooks import world
from tests.drills.webhooks.receiver import deliveries
from tests.support.waiting import until

DOWN_S = 3 * 86_400
EVENTS = 5  # of each subject


def settings(options: argparse.Namespace) -> dict[str, object]:
    return world.SETTINGS | {"WEBHOOK_PACE": options.pace}


def drill(env: Environment, options: argparse.Namespace) -> list[str]:
    from shops.webhooks.models import WebhookDelivery, WebhookEndpoint

    receiver, subjects, down_s = world.Receiver(env.folder), options.subjects, DOWN_S / options.pace
    world.add_endpoint("shop", receiver.url())
    with world.delivering():
        ends_at = time.monotonic() + down_s
        for sequence in range(EVENTS):
            for subject in range(subjects):
                with transaction.atomic():
                    world.tell("shop", f"subject-{subject}", sequence)
            time.sleep(max(0.0, (ends_at - time.monotonic()) / (EVENTS - sequence)))
        with receiver:
            until(world.is_drained, timeout_s=600)
    order: dict[str, list[int]] = defaultdict(list)
    for each in deliveries(receiver.log):
        order[each.subject].append(each.sequence)
    wrong = [subject for subject, numbers in order.items() if numbers != list(range(EVENTS))]
    dead = WebhookDelivery.objects.filter(state="dead").count()
    attempts = sorted(WebhookDelivery.objects.values_list("attempts", flat=True))
    print(
        f"down for {down_s:.0f} s; {subjects * EVENTS} events, {sum(map(len, order.values()))} received, "
        f"{dead} given up, {len(wrong)} subjects not complete and in order; the most attempts {attempts[-1]}; "
        f"the endpoint is {WebhookEndpoint.objects.get().state}"
    )
    missing = subjects - len(order)
    return [f"not complete, or out of order: {subject}" for subject in wrong] + ["missing"] * (missing + dead)


if __name__ == "__main__":
    play(drill, settings, pace=4000.0, subjects=100, database="postgresql")

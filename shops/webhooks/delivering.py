"""Delivers what is due, many at a time; for the background process, of which any number may run."""

import logging
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from time import sleep

from django.conf import settings
from django.db import InterfaceError, OperationalError, connection

from shops.webhooks.claims import Claim, claim
from shops.webhooks.outcomes import record
from shops.webhooks.sending import Outcome, send

# New deliveries are looked for as often, also while attempts are under way.
POLL_S = 0.5
# When an attempt has ended, those that end soon after are written down with it.
GATHER_S = 0.05
logger = logging.getLogger("webhooks.delivery")


def deliver_due(is_stopping: Callable[[], bool] = lambda: False) -> int:
    """Deliver until nothing is due and nothing is under way, or nothing more is to be begun; return the attempts.

    The calls are made in threads that know no database; this thread claims rows and writes outcomes down, in short
    transactions. Slow endpoints have half of the places, of a single one that.
    """
    attempts = 0
    under_way: dict[Future[Outcome], Claim] = {}
    with ThreadPoolExecutor(settings.WEBHOOK_CONCURRENCY, thread_name_prefix="webhook") as pool:
        while True:
            if not is_stopping():
                slow = sum(bool(each.endpoint.is_slow) for each in under_way.values())
                places = settings.WEBHOOK_CONCURRENCY
                claims = claim(places - len(under_way), slow_limit=(places + 1) // 2 - slow)
                under_way |= {pool.submit(send, each): each for each in claims}
            if not under_way:
                return attempts
            if wait(under_way, timeout=POLL_S, return_when=FIRST_COMPLETED).done:
                wait(under_way, timeout=GATHER_S)
            ended = wait(under_way, timeout=0).done
            under_way = {future: each for future, each in under_way.items() if future not in ended}
            write_down([future.result() for future in ended])
            attempts += len(ended)


def write_down(outcomes: list[Outcome]) -> None:
    """Write outcomes down; while the database is away, try again for as long as one of them holds its lease."""
    while True:
        try:
            return record(outcomes)
        except (OperationalError, InterfaceError) as error:
            connection.close()
            if all(each.claim.time > each.claim.leased_until for each in outcomes):
                raise
            logger.warning("webhook outcomes wait for the database", extra={"reason": type(error).__name__})
            sleep(POLL_S)

"""Delivers what is due, many at a time; for the background process, of which any number may run."""

from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait

from django.conf import settings

from shops.webhooks.claims import claim
from shops.webhooks.outcomes import record
from shops.webhooks.sending import Outcome, send

# New deliveries are looked for as often, also while attempts are under way.
POLL_S = 0.5
# When an attempt has ended, those that end soon after are written down with it.
GATHER_S = 0.05


def deliver_due(*, is_stopping: Callable[[], bool] = lambda: False) -> int:
    """Deliver until nothing is due and nothing is under way, or nothing more is to be begun; return the attempts.

    The calls are made in threads that know no database; this thread claims rows and writes outcomes down, in short
    transactions.
    """
    attempts = 0
    under_way: set[Future[Outcome]] = set()
    with ThreadPoolExecutor(settings.WEBHOOK_CONCURRENCY, thread_name_prefix="webhook") as pool:
        while True:
            if not is_stopping():
                claims = claim(settings.WEBHOOK_CONCURRENCY - len(under_way))
                under_way |= {pool.submit(send, each) for each in claims}
            if not under_way:
                return attempts
            if wait(under_way, timeout=POLL_S, return_when=FIRST_COMPLETED).done:
                wait(under_way, timeout=GATHER_S)
            ended, under_way = wait(under_way, timeout=0)
            record([future.result() for future in ended])
            attempts += len(ended)

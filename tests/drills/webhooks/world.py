"""The world of all drills of webhooks: shops with endpoints, events, and processes that deliver and receive."""

import logging
import time
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Self

from django.db import transaction

from tests.drills.forks import Child
from tests.drills.webhooks.receiver import serve
from tests.support.processes import free_port
from tests.support.programs import is_listening
from tests.support.waiting import until

SETTINGS: dict[str, object] = {"WEBHOOK_ALLOW_PRIVATE": 1, "LOG_FORMAT": "text"}


def deliver_forever(lease_s: float | None = None) -> None:
    """Deliver as `work` does; a short lease lets others take over soon what a killed process has begun."""
    from shops.webhooks import claims
    from shops.webhooks.delivering import POLL_S, deliver_due

    logging.disable()
    if lease_s:
        claims.LEASE, claims.DEADLINE_S = timedelta(seconds=lease_s), lease_s / 2
    while True:
        deliver_due()
        time.sleep(POLL_S)


@contextmanager
def delivering(processes: int = 1, lease_s: float | None = None) -> Iterator[list[Child]]:
    """Run processes that deliver."""
    with ExitStack() as stack:
        yield [stack.enter_context(Child(deliver_forever, lease_s)) for _ in range(processes)]


class Receiver(Child):
    """The receiver's process, on one port, with one log."""

    def __init__(self, folder: Path) -> None:
        self.port = free_port()
        self.log = folder / f"received-{self.port}.log"
        super().__init__(serve, self.port, self.log)

    def url(self, path: str = "/hook") -> str:
        return f"http://127.0.0.1:{self.port}{path}"

    def start(self) -> Self:
        super().start()
        until(lambda: is_listening(self.port))
        return self


def add_endpoint(shop_id: str, url: str) -> str:
    from shops.models import Shop
    from shops.webhooks import endpoints

    shop, _ = Shop.objects.get_or_create(id=shop_id, defaults={"name": shop_id})
    return endpoints.create(shop=shop, url=url)[0].id


def tell(shop_id: str, subject: str, sequence: int) -> None:
    """Tell of the next event of a subject, in the caller's transaction."""
    from shops.webhooks import outbox

    data = {"id": subject, "carrierCode": "alpha", "productCode": "alpha-13", "orderId": "", "code": str(sequence)}
    outbox.emit_all(shop_id, [outbox.Event("label.failed", subject, data)])


def emit_all(shops: Iterable[str], count: int, name: str) -> None:
    """Tell of so many subjects of each shop, in one transaction."""
    with transaction.atomic():
        for number in range(count):
            for shop_id in shops:
                tell(shop_id, f"{name}-{number}", 0)


def queued() -> int:
    """Count what active endpoints wait for."""
    from shops.webhooks.models import WebhookDelivery, WebhookEndpoint

    count: int = WebhookDelivery.objects.queued().filter(endpoint__in=WebhookEndpoint.objects.active()).count()
    return count


def is_drained() -> bool:
    time.sleep(0.2)  # so that looking costs the processes nothing
    return queued() == 0

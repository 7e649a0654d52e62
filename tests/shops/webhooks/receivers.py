"""A receiver of webhooks, as a shop runs one: it verifies with the standard's own rules, and answers as told."""

import json
import socket
from dataclasses import dataclass
from threading import Event
from typing import Any

from django.db import transaction
from django.utils import timezone

from shops.webhooks import outbox
from shops.webhooks.delivering import deliver_due
from shops.webhooks.models import DeliveryState, WebhookDelivery, WebhookEndpoint
from tests.carriers.support.servers import LoopbackServer, http
from tests.support.waiting import WAIT_TIMEOUT_S

ANSWER = b"the shop's secret answer"


@dataclass(frozen=True)
class Received:
    """A request that came, and the status that it was answered with."""

    headers: dict[str, str]
    body: bytes
    status: int = 200

    @property
    def id(self) -> str:
        return self.headers["webhook-id"]

    @property
    def content(self) -> Any:
        return json.loads(self.body)

    @property
    def data(self) -> Any:
        return self.content["data"]


class Receiver(LoopbackServer):
    """Keeps what comes, and answers with `status`; while it hangs it does not answer."""

    def __init__(self) -> None:
        self.status, self.answer = 200, ANSWER
        self.extra_headers: dict[str, str] = {}
        self.received: list[Received] = []
        self.released = Event()
        self.release()
        super().__init__(self.take)
        self.url += "/hook"

    def hang(self) -> None:
        self.released.clear()

    def release(self) -> None:
        self.released.set()

    def take(self, stream: socket.socket, request: bytes) -> bool:
        head, body = request.partition(b"\r\n\r\n")[::2]
        headers = dict(line.split(": ", 1) for line in head.decode().splitlines()[1:])
        self.received.append(Received({name.lower(): value for name, value in headers.items()}, body, self.status))
        self.released.wait(WAIT_TIMEOUT_S)
        further = "".join(f"{name}: {value}\r\n" for name, value in self.extra_headers.items())
        stream.sendall(http(self.answer, self.status, "text/plain", further))
        return True

    def __exit__(self, *exc_info: object) -> None:
        self.release()
        super().__exit__(*exc_info)


def tell_label(shop_id: str, subject: str = "label-1", *, code: str = "ALPHA_UNAVAILABLE") -> None:
    """Tell a shop of a label, in a transaction as every change has one."""
    data = {"id": subject, "orderId": "1", "carrierCode": "alpha", "productCode": "alpha-13", "code": code}
    with transaction.atomic():
        outbox.emit_all(shop_id, [outbox.Event("label.failed", subject, data)])


def tell_and_deliver(shop_id: str, subject: str = "label-1", *, code: str = "ALPHA_UNAVAILABLE") -> int:
    """Tell a shop of a label, and deliver what is due; return the attempts."""
    tell_label(shop_id, subject, code=code)
    return deliver_due()


def secret_of(endpoint: WebhookEndpoint) -> str:
    """The secret that signs now."""
    return endpoint.signing_secrets(timezone.now())[0]


def make_due() -> None:
    """Let all pauses between attempts be over."""
    WebhookDelivery.objects.filter(state=DeliveryState.QUEUED).update(due_at=timezone.now())

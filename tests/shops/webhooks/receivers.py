"""A receiver of webhooks, as a shop runs one: it verifies with the standard's own rules, and answers as told."""

import json
from contextlib import suppress
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread
from types import TracebackType
from typing import Any, Self

from django.db import transaction
from django.utils import timezone

from shops.webhooks import outbox
from shops.webhooks.models import DeliveryState, WebhookDelivery, WebhookEndpoint
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


class Receiver(ThreadingHTTPServer):
    """Keeps what comes, and answers with `status`; while `is_hanging` it does not answer."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server_port}/hook"
        self.status = 200
        self.extra_headers: dict[str, str] = {}
        self.answer = ANSWER
        self.received: list[Received] = []
        self.connections = 0
        self.released = Event()
        self.released.set()

    def hang(self) -> None:
        self.released.clear()

    def release(self) -> None:
        self.released.set()

    def get_request(self) -> Any:
        self.connections += 1
        return super().get_request()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing of a client that gave up."""

    def __enter__(self) -> Self:
        Thread(target=self.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.release()
        self.shutdown()
        self.server_close()


class Handler(BaseHTTPRequestHandler):
    """Answers one connection."""

    protocol_version = "HTTP/1.1"
    server: Receiver

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        headers = {name.lower(): value for name, value in self.headers.items()}
        received = Received(headers, body, self.server.status)
        self.server.received.append(received)
        self.server.released.wait(WAIT_TIMEOUT_S)
        with suppress(OSError):
            self.send_response(self.server.status)
            for name, value in self.server.extra_headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(self.server.answer)))
            self.end_headers()
            self.wfile.write(self.server.answer)

    def log_message(self, *args: Any) -> None:
        """Log nothing."""


def tell_label(shop_id: str, subject: str = "label-1", *, code: str = "ALPHA_UNAVAILABLE") -> None:
    """Tell a shop of a label, in a transaction as every change has one."""
    data = {"id": subject, "orderId": "1", "carrierCode": "alpha", "productCode": "alpha-13", "code": code}
    with transaction.atomic():
        outbox.tell(shop_id, "label.failed", subject, data)


def secret_of(endpoint: WebhookEndpoint) -> str:
    """The secret that signs now."""
    return endpoint.signing_secrets(timezone.now())[0]


def make_due() -> None:
    """Let all pauses between attempts be over."""
    WebhookDelivery.objects.filter(state=DeliveryState.QUEUED).update(due_at=timezone.now())

"""The demonstration's receiver of webhooks: shows each delivery on a line."""

from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any, Self

import orjson

from shops.webhooks import signing


class Receiver(ThreadingHTTPServer):
    """Serves a shop's endpoint on this machine; verifies the signature, as every receiver should."""

    secret = ""  # of the endpoint, once it is made

    def __init__(self, host: str, show: Callable[[str], None]) -> None:
        super().__init__((host, 0), Handler)
        self.show = show
        self.url = f"http://{host}:{self.server_port}/webhooks"

    def __enter__(self) -> Self:
        Thread(target=self.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *exc_info: Any) -> None:  # noqa: PYI036 - passed on as they are
        self.shutdown()
        super().__exit__(*exc_info)


class Handler(BaseHTTPRequestHandler):
    """Answers 204 to what the service has signed, 401 to all else."""

    server: Receiver

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        message_id, sent_at = self.headers.get("webhook-id", ""), self.headers.get("webhook-timestamp", "")
        is_signed = sent_at.isdigit() and self.headers.get("webhook-signature") == signing.sign(
            message_id, int(sent_at), body, keys=[self.server.secret]
        )
        if is_signed:  # shown first: the sender ends when it is answered, and then the demonstration
            self.server.show(summary(orjson.loads(body)))
        self.send_response(204 if is_signed else 401)
        self.end_headers()

    def log_message(self, *args: Any) -> None:
        """Write nothing: a delivery has its own line."""


def summary(event: dict[str, Any]) -> str:
    data = event["data"]
    number = next(iter(data.get("trackingNumbers", [])), data.get("id", ""))
    return " ".join(filter(None, ("webhook received:", event["type"], number, data.get("status"))))

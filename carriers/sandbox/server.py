"""The sandbox's HTTP server: sockets, threads, connections, and which path goes where."""

from __future__ import annotations

import logging
import socket
import socketserver
import sys
import threading
import time
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import parse_qsl, urlsplit

from carriers.sandbox.alpha import answer_shipping
from carriers.sandbox.alpha_tracking import answer_tracking
from carriers.sandbox.beta import BLOCKS, BUY, CHECK, answer_beta
from carriers.sandbox.control import CONTROL_PATHS, answer_control, answer_page
from carriers.sandbox.corruption import REDIRECTED_PATH
from carriers.sandbox.delivery import Sender
from carriers.sandbox.exchange import Answer, Request, json_answer, text_answer
from carriers.sandbox.ledger import Ledger
from carriers.sandbox.state import Depot

if TYPE_CHECKING:
    from pathlib import Path

logger = logging.getLogger("carriers.sandbox")

ALPHA_SHIPPING_PATH, ALPHA_TRACKING_PATH, BETA_PATH = "/alpha/shipping", "/alpha/tracking", "/beta/2.0"
BETA_PATHS = {f"/beta/{version}/{name}": (version, name) for version in BLOCKS for name in (BUY, CHECK)}
KNOWN_PATHS = {ALPHA_SHIPPING_PATH, ALPHA_TRACKING_PATH, *BETA_PATHS, REDIRECTED_PATH, "/", *CONTROL_PATHS}
LARGEST_REQUEST_BYTES = 1_048_576
IDLE_TIMEOUT_S = 300.0
CLOSING_S = 2.0
WAKE_S = 0.1


class SandboxServer:
    """Both carriers on one port; as a context manager it runs in a thread of its own."""

    def __init__(self, host: str = "127.0.0.1", port: int = 0, ledger_path: Path | None = None) -> None:
        self._ledger = Ledger(ledger_path)
        self.depot = Depot(self._ledger)
        self._listener = _Listener((host, port), self.depot)
        self._thread: threading.Thread | None = None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.close()

    @property
    def url(self) -> str:
        return self._listener.url

    @property
    def alpha_url(self) -> str:
        return self.url + ALPHA_SHIPPING_PATH

    @property
    def alpha_tracking_url(self) -> str:
        return self.url + ALPHA_TRACKING_PATH

    @property
    def beta_url(self) -> str:
        return self.url + BETA_PATH

    @property
    def control_url(self) -> str:
        return f"{self.url}/control"

    def start(self) -> None:
        """Serve in the background."""
        self._thread = threading.Thread(target=self._listener.serve_forever, args=(0.05,), daemon=True)
        self._thread.start()

    def serve_forever(self) -> None:
        """Serve until `close` is called, from another thread or a signal's handler."""
        self.start()
        # Not the event's own wait: a handler would set it under the wait's lock, and a signal that comes just before
        # the wait begins would not interrupt it.
        while not self.depot.closing.is_set():
            time.sleep(WAKE_S)

    def close(self) -> None:
        """Stop serving and break off what is still going on; does not wait for hung requests."""
        self.depot.close()
        if self._thread is not None:
            self._listener.shutdown()
            self._thread.join()
        self._listener.server_close()
        self._listener.disconnect()
        self._ledger.close()


class _Listener(ThreadingHTTPServer):
    request_queue_size = 512
    daemon_threads = True
    block_on_close = False

    def __init__(self, address: tuple[str, int], depot: Depot) -> None:
        self.address_family = socket.AF_INET6 if ":" in address[0] else socket.AF_INET
        self.depot = depot
        self._open: set[Any] = set()
        self._changed = threading.Condition()
        super().__init__(address, _Handler)

    @property
    def url(self) -> str:
        host, port = self.server_address[:2]
        return f"http://[{host!s}]:{port}" if self.address_family == socket.AF_INET6 else f"http://{host!s}:{port}"

    def server_bind(self) -> None:
        # HTTPServer's own asks the name service for this host's name, which can take seconds.
        socketserver.TCPServer.server_bind(self)

    def process_request(self, request: Any, client_address: Any) -> None:
        with self._changed:
            self._open.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        super().shutdown_request(request)
        with self._changed:
            self._open.discard(request)
            self._changed.notify_all()

    def disconnect(self) -> None:
        """Break every connection, which ends the threads that wait on them."""
        with self._changed:
            for connection in self._open:
                _break(connection)
            self._changed.wait_for(lambda: not self._open, CLOSING_S)

    def handle_error(self, request: Any, client_address: Any) -> None:
        logger.error("connection failed: %s", type(sys.exception()).__name__)


def _break(connection: socket.socket) -> None:
    try:
        connection.shutdown(socket.SHUT_RDWR)
    except OSError:
        logger.debug("already disconnected")


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = IDLE_TIMEOUT_S
    server: _Listener

    def handle(self) -> None:
        slow = self.server.depot.faults.pick_apart("accept")
        # What waited here when the sandbox was reset must not be bought in the ledger that starts then.
        if slow is not None and self.server.depot.wait(slow.delay_s):
            return
        try:
            super().handle()
        except OSError:
            logger.debug("the client went away")

    def do_GET(self) -> None:
        self._exchange()

    def do_POST(self) -> None:
        self._exchange()

    def do_DELETE(self) -> None:
        self._exchange()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 the parent's name
        """Stay silent: the parent's lines hold query strings."""

    def _exchange(self) -> None:
        url = urlsplit(self.path)
        answer = self._answer(url.path, dict(parse_qsl(url.query)))
        logger.info("%s %s %d %s", self.command, _known(url.path), answer.status, answer.delivery.name.lower())
        depot = self.server.depot
        is_kept = Sender(answer, self.connection, depot.wait).send()
        self.close_connection = self.close_connection or not is_kept or depot.closing.is_set()

    def _answer(self, path: str, query: dict[str, str]) -> Answer:
        length = self.headers.get("Content-Length", "0")
        if "Transfer-Encoding" in self.headers or not length.isdecimal():
            self.close_connection = True
            return text_answer("a Content-Length is expected", 411)
        if int(length) > LARGEST_REQUEST_BYTES:
            self.close_connection = True
            return text_answer("the request is too large", 413)
        headers = {name.lower(): value for name, value in self.headers.items()}
        body = self.rfile.read(int(length))
        request = Request(self.command, path, query, headers, body)
        try:
            return _route(self.server, request)
        except Exception:
            logger.exception("request failed")
            return text_answer("the sandbox failed; its log says why", 500)


def _route(listener: _Listener, request: Request) -> Answer:
    depot = listener.depot
    depot.count(_known(request.path))
    if request.path == ALPHA_SHIPPING_PATH:
        answer = answer_shipping(depot, request)
    elif request.path == ALPHA_TRACKING_PATH:
        answer = answer_tracking(depot, request)
    elif request.path in BETA_PATHS:
        answer = answer_beta(depot, request, *BETA_PATHS[request.path])
    elif request.path == "/":
        answer = answer_page(listener.url)
    elif request.path == REDIRECTED_PATH:
        answer = json_answer({"message": "this redirect was not to be followed"})
    else:
        answer = answer_control(depot, request)
    return _with_full_location(answer, listener)


def _with_full_location(answer: Answer, listener: _Listener) -> Answer:
    """Complete a redirect with another host name than the client's."""
    if "Location" not in answer.headers:
        return answer
    location = f"http://localhost:{listener.server_address[1]}{answer.headers['Location']}"
    return replace(answer, headers={"Location": location})


def _known(path: str) -> str:
    """Return a path for logs and counts: a stranger's can hold anything."""
    return path if path in KNOWN_PATHS else "other"

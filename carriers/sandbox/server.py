"""The sandbox's HTTP server: sockets, threads and connections."""

import logging
import signal
import socket
import socketserver
import sys
import threading
import time
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self
from urllib.parse import parse_qsl, urlsplit

from carriers.sandbox import routes
from carriers.sandbox.http import Request, Response, text_response, whole
from carriers.sandbox.journeys import REAL_TIME
from carriers.sandbox.ledger import Ledger
from carriers.sandbox.state import State

logger = logging.getLogger("carriers.sandbox")

LARGEST_REQUEST_BYTES = 1_048_576
IDLE_TIMEOUT_S = 300.0
CLOSING_TIMEOUT_S = 2.0
WAKE_INTERVAL_S = 0.1


class SandboxServer:
    """Both carriers on one port; a context manager that serves in a thread.

    Parcels travel `pace` seconds of their journey a second.
    """

    def __init__(self, host: str = "127.0.0.1", port: int = 0, pace: float = REAL_TIME) -> None:
        self.state = State(Ledger(pace))
        self._listener = _Listener((host, port), self.state)
        self._thread = threading.Thread(target=self._listener.serve_forever, args=(0.05,), daemon=True)
        self.url = self._listener.url
        self.control_url = f"{self.url}/control"
        self.urls = routes.urls(self.url)  # by the settings that take them

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.close()

    def close(self) -> None:
        """Stop serving and break off open requests, hung ones too."""
        self.state.close()
        if self._thread.is_alive():
            self._listener.shutdown()
            self._thread.join()
        self._listener.server_close()
        self._listener.disconnect()


def serve(host: str, port: int, pace: float) -> None:
    """Print the URLs on standard error and serve until SIGINT or SIGTERM, in the main thread."""
    with SandboxServer(host, port, pace) as server:
        for signum in (signal.SIGINT, signal.SIGTERM):
            signal.signal(signum, lambda *_: server.state.closing.set())
        names = [(row["name"], row["path"]) for row in routes.SERVICES] + [("ledger", "/ledger"), ("help", "/")]
        sys.stderr.writelines(f"{name:<15} {server.url}{path}\n" for name, path in names)
        sys.stderr.flush()
        # Polled, not `closing.wait()`: a signal handler that sets the event would need the lock that the wait holds,
        # and a signal just before the wait begins would not interrupt it.
        while not server.state.closing.is_set():
            time.sleep(WAKE_INTERVAL_S)


class _Listener(ThreadingHTTPServer):
    request_queue_size = 512
    block_on_close = False

    def __init__(self, address: tuple[str, int], state: State) -> None:
        self.address_family = socket.AF_INET6 if ":" in address[0] else socket.AF_INET
        self.state = state
        self._open: set[Any] = set()
        self._changed = threading.Condition()
        super().__init__(address, _Handler)

    @property
    def url(self) -> str:
        host, port = self.server_address[:2]
        return f"http://[{host!s}]:{port}" if self.address_family == socket.AF_INET6 else f"http://{host!s}:{port}"

    def server_bind(self) -> None:
        # HTTPServer's own looks up this host's name, which can take seconds.
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
                with suppress(OSError):  # it is disconnected already
                    connection.shutdown(socket.SHUT_RDWR)
            self._changed.wait_for(lambda: not self._open, CLOSING_TIMEOUT_S)

    def handle_error(self, request: Any, client_address: Any) -> None:
        logger.error("connection failed: %s", type(sys.exception()).__name__)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = IDLE_TIMEOUT_S
    server: _Listener

    def handle(self) -> None:
        unread = self.server.state.faults.pick_named("accept")
        # A purchase that waits here during a reset must not show up in the ledger that starts then.
        if unread is not None and self.server.state.wait(unread.delay_s):
            return
        with suppress(OSError):  # the client went away
            super().handle()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 the parent's name
        """Log nothing here: the parent's lines hold query strings."""

    def _exchange(self) -> None:
        url = urlsplit(self.path)
        response = self._respond(url.path, dict(parse_qsl(url.query)))
        send, state = response.transmission, self.server.state
        logger.info("%s %s %d %s", self.command, routes.known(url.path), response.status, send.__name__)
        send(response, self.connection, state.wait)
        self.close_connection = self.close_connection or send is not whole or state.closing.is_set()

    do_GET = do_POST = do_DELETE = _exchange  # noqa: N815 the parent's names

    def _respond(self, path: str, query: dict[str, str]) -> Response:
        length = self.headers.get("Content-Length", "0")
        if "Transfer-Encoding" in self.headers or not length.isdecimal():
            self.close_connection = True
            return text_response("a Content-Length is expected", 411)
        if int(length) > LARGEST_REQUEST_BYTES:
            self.close_connection = True
            return text_response("the request is too large", 413)
        headers = {name.lower(): value for name, value in self.headers.items()}
        body = self.rfile.read(int(length))
        request = Request(self.server.url, self.command, path, query, headers, body)
        try:
            return routes.route(self.server.state, request)
        except Exception:
            logger.exception("request failed")
            return text_response("the sandbox failed; its log says why", 500)

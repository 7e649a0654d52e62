"""A gateway before the carriers, which records requests and may answer them after it has passed them on."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import requests

JSON, XML = "application/json", "text/xml; charset=utf-8"
SOAP = '<soap:Envelope xmlns:soap="http://schemas.xmlsoap.org/soap/envelope/"><soap:Body>{}</soap:Body></soap:Envelope>'
FAULT = SOAP.format("<soap:Fault><faultcode>soap:Server</faultcode><faultstring>{}</faultstring></soap:Fault>")
ALPHA_CODE = SOAP.format(
    '<p:shippingMultiParcelV4Response xmlns:p="http://cxf.shipping.soap.chronopost.fr/"><return>'
    "<errorCode>{}</errorCode><errorMessage>Unexpected end of upstream</errorMessage>"
    "</return></p:shippingMultiParcelV4Response>"
)
BETA_CODE = '{{"messages": [{{"id": "{}", "type": "ERROR", "messageContent": "Unexpected end of upstream"}}]}}'


@dataclass(frozen=True)
class GatewayAnswer:
    """An answer that is not the carrier's."""

    status: int
    media_type: str
    body: str


# By carrier; the carrier itself has made the parcel each time.
ANSWERS = {
    "alpha": [
        GatewayAnswer(500, XML, FAULT.format("Read timed out")),
        GatewayAnswer(500, XML, FAULT.format("Could not send Message.")),
        GatewayAnswer(200, XML, FAULT.format("Read timed out")),
        GatewayAnswer(502, JSON, '{"message": "Bad Gateway"}'),
        GatewayAnswer(504, JSON, '{"message": "Endpoint request timed out"}'),
        GatewayAnswer(200, XML, ALPHA_CODE.format(99)),
        GatewayAnswer(504, XML, ALPHA_CODE.format(38)),
    ],
    "beta": [
        GatewayAnswer(500, JSON, '{"message": "Internal Server Error"}'),
        GatewayAnswer(502, JSON, '{"error": "Bad Gateway", "message": "upstream closed"}'),
        GatewayAnswer(504, JSON, '{"message": "Endpoint request timed out"}'),
        GatewayAnswer(503, JSON, '{"errorCode": "503", "errorLabel": "overloaded"}'),
        GatewayAnswer(400, JSON, BETA_CODE.format(99999)),
        GatewayAnswer(500, JSON, BETA_CODE.format(99999)),
    ],
}


class Gateway(ThreadingHTTPServer):
    """Records requests and passes them on to a sandbox; `answer` replaces what comes back while it is set."""

    daemon_threads = True

    def __init__(self, sandbox_port: int) -> None:
        self.sandbox_port = sandbox_port
        self.answer: GatewayAnswer | None = None
        self.bodies: list[bytes] = []
        super().__init__(("127.0.0.1", 0), Passing)


class Passing(BaseHTTPRequestHandler):
    """The service's requests of one connection."""

    server: Gateway
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.bodies.append(body)
        headers = {name: value for name, value in self.headers.items() if name not in ("Host", "Content-Length")}
        url = f"http://127.0.0.1:{self.server.sandbox_port}{self.path}"
        try:
            given = requests.post(url, body, headers=headers, timeout=60)
        except requests.RequestException:  # a fault that the sandbox plays
            self.close_connection = True
            return
        if answer := self.server.answer:
            self.send(answer.status, answer.media_type, answer.body.encode())
        else:
            self.send(given.status_code, given.headers.get("Content-Type", ""), given.content)

    def send(self, status: int, media_type: str, content: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", media_type)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *args: Any) -> None:
        """Write nothing."""


@contextmanager
def gateway(sandbox_port: int = 0) -> Iterator[Gateway]:
    with Gateway(sandbox_port) as made:
        Thread(target=made.serve_forever, args=(0.05,), daemon=True).start()
        try:
            yield made
        finally:
            made.shutdown()

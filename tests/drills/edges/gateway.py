"""A gateway before the carriers, which gives its own answers after it has passed an order on."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

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


class Gateway:
    """Passes requests on to the sandbox; `answer` replaces what comes back while it is set."""

    def __init__(self, sandbox_port: int) -> None:
        self.sandbox_port = sandbox_port
        self.answer: GatewayAnswer | None = None
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), self.handler())
        self.port = self.server.server_port

    def handler(self) -> type[BaseHTTPRequestHandler]:
        gateway = self

        class Handler(BaseHTTPRequestHandler):
            """Answers one request a connection."""

            def do_POST(self) -> None:
                answer = gateway.exchange(self)
                content = answer.body.encode() if isinstance(answer, GatewayAnswer) else answer.content
                self.send_response(answer.status)
                self.send_header("Content-Type", answer.media_type)
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 the parent's name
                """Stay silent."""

        return Handler

    def exchange(self, request: BaseHTTPRequestHandler) -> "GatewayAnswer | CarrierAnswer":
        carrier = HTTPConnection("127.0.0.1", self.sandbox_port, timeout=60)
        content = request.rfile.read(int(request.headers["Content-Length"]))
        headers = {name: value for name, value in request.headers.items() if name.lower() != "host"}
        carrier.request("POST", request.path, content, headers)
        response = carrier.getresponse()
        given = CarrierAnswer(response.status, response.headers["Content-Type"], response.read())
        carrier.close()
        return self.answer or given


@dataclass(frozen=True)
class CarrierAnswer:
    """The carrier's own answer."""

    status: int
    media_type: str
    content: bytes


@contextmanager
def gateway(sandbox_port: int) -> Iterator[Gateway]:
    made = Gateway(sandbox_port)
    thread = threading.Thread(target=made.server.serve_forever, args=(0.05,))
    thread.start()
    try:
        yield made
    finally:
        made.server.shutdown()
        thread.join()
        made.server.server_close()

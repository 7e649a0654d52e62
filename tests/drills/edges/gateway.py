"""A gateway before the carriers, which may answer requests after it has passed them on."""

import re
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from tests.carriers.support.servers import XML, http, serving

JSON = "application/json"
KEPT = re.compile(rb"\r\nConnection: [^\r]+", re.IGNORECASE)  # what the client says of its own connection
SOAP = '<soap:Envelope xmlns:soap="http://schemas.xmlsoap.org/soap/envelope/"><soap:Body>{}</soap:Body></soap:Envelope>'
FAULT = SOAP.format("<soap:Fault><faultcode>soap:Server</faultcode><faultstring>{}</faultstring></soap:Fault>")
ALPHA_CODE = SOAP.format(
    '<p:shippingMultiParcelV4Response xmlns:p="http://cxf.shipping.soap.chronopost.fr/"><return>'
    "<errorCode>{}</errorCode><errorMessage>Unexpected end of upstream</errorMessage>"
    "</return></p:shippingMultiParcelV4Response>"
)
BETA_CODE = '{{"messages": [{{"id": "{}", "type": "ERROR", "messageContent": "Unexpected end of upstream"}}]}}'


def answer(status: int, media_type: str, body: str) -> bytes:
    """Return an answer that is not the carrier's."""
    return http(body.encode(), status, media_type)


# By carrier; the carrier itself has made the parcel each time.
ANSWERS = {
    "alpha": [
        answer(500, XML, FAULT.format("Read timed out")),
        answer(500, XML, FAULT.format("Could not send Message.")),
        answer(200, XML, FAULT.format("Read timed out")),
        answer(502, JSON, '{"message": "Bad Gateway"}'),
        answer(504, JSON, '{"message": "Endpoint request timed out"}'),
        answer(200, XML, ALPHA_CODE.format(99)),
        answer(504, XML, ALPHA_CODE.format(38)),
    ],
    "beta": [
        answer(500, JSON, '{"message": "Internal Server Error"}'),
        answer(502, JSON, '{"error": "Bad Gateway", "message": "upstream closed"}'),
        answer(504, JSON, '{"message": "Endpoint request timed out"}'),
        answer(503, JSON, '{"errorCode": "503", "errorLabel": "overloaded"}'),
        answer(400, JSON, BETA_CODE.format(99999)),
        answer(500, JSON, BETA_CODE.format(99999)),
    ],
}


@dataclass
class Gateway:
    """Passes requests on to a sandbox; `answer` replaces what comes back while it is set."""

    sandbox_port: int
    port: int = 0
    answer: bytes | None = None

    def play(self, stream: socket.socket, request: bytes) -> bool:
        """Pass a request on over a connection of its own, whose end is the answer's."""
        head, _, body = request.partition(b"\r\n\r\n")
        with socket.create_connection(("127.0.0.1", self.sandbox_port), timeout=60) as sandbox:
            sandbox.sendall(KEPT.sub(b"", head) + b"\r\nConnection: close\r\n\r\n" + body)
            given = b"".join(iter(lambda: sandbox.recv(65_536), b""))
        if given:  # else the sandbox plays a fault
            stream.sendall(self.answer or given)
        return False


@contextmanager
def gateway(sandbox_port: int) -> Iterator[Gateway]:
    made = Gateway(sandbox_port)
    with serving(made.play) as server:
        made.port = int(server.url.rpartition(":")[2])
        yield made

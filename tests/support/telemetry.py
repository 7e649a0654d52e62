"""A receiver of traces and error reports, which keeps what reaches it."""

import gzip
import json
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from tests.carriers.support.servers import http, serving


@dataclass
class Receiver:
    """OpenTelemetry's collector and Sentry in one."""

    url: str
    heads: list[str] = field(default_factory=list)
    bodies: dict[str, list[bytes]] = field(default_factory=dict)

    @property
    def settings(self) -> dict[str, str]:
        return {"OTEL_EXPORTER_OTLP_ENDPOINT": self.url, "SENTRY_DSN": f"{self.url.replace('://', '://key@')}/1"}

    def everything(self) -> bytes:
        """All that was sent: heads, and bodies as they were before they were compressed."""
        return b"\n".join([*map(str.encode, self.heads), *(body for some in self.bodies.values() for body in some)])

    def spans(self) -> list[Span]:
        requests = [ExportTraceServiceRequest.FromString(body) for body in self.bodies.get("/v1/traces", [])]
        return [
            span
            for sent in requests
            for traced in sent.resource_spans
            for part in traced.scope_spans
            for span in part.spans
        ]

    def reports(self) -> list[dict[str, Any]]:
        """The events, each the last line of an envelope."""
        return [json.loads(body.splitlines()[-1]) for body in self.bodies.get("/api/1/envelope/", [])]


@contextmanager
def receiving() -> Iterator[Receiver]:
    def play(stream: socket.socket, request: bytes) -> bool:
        head, body = request.partition(b"\r\n\r\n")[::2]
        receiver.heads.append(head.decode())
        is_packed = b"content-encoding: gzip" in head.lower()
        path = head.split()[1].decode()
        receiver.bodies.setdefault(path, []).append(gzip.decompress(body) if is_packed else body)
        stream.sendall(http(b""))
        return True

    with serving(play) as server:
        receiver = Receiver(server.url)
        yield receiver

"""A receiver of traces and error reports, which keeps what reaches it."""

import gzip
import json
import socket
from typing import Any

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from tests.carriers.support.servers import LoopbackServer, http


class Receiver(LoopbackServer):
    """OpenTelemetry's collector and Sentry in one."""

    def __init__(self) -> None:
        self.heads: list[str] = []
        self.bodies: dict[str, list[bytes]] = {}
        super().__init__(self.take)

    def take(self, stream: socket.socket, request: bytes) -> bool:
        head, body = request.partition(b"\r\n\r\n")[::2]
        self.heads.append(head.decode())
        is_packed = b"content-encoding: gzip" in head.lower()
        path = head.split()[1].decode()
        self.bodies.setdefault(path, []).append(gzip.decompress(body) if is_packed else body)
        stream.sendall(http(b""))
        return True

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

"""A receiver of traces and error reports, which keeps what reaches it."""

import gzip
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span


@dataclass
class Receiver:
    """OpenTelemetry's collector and Sentry in one, on a port of this machine."""

    port: int
    heads: list[str] = field(default_factory=list)
    bodies: dict[str, list[bytes]] = field(default_factory=dict)

    @property
    def settings(self) -> dict[str, str]:
        host = f"127.0.0.1:{self.port}"
        return {"OTEL_EXPORTER_OTLP_ENDPOINT": f"http://{host}", "SENTRY_DSN": f"http://key@{host}/1"}

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
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            receiver.heads.append(f"{self.requestline}\n{self.headers}")
            is_packed = self.headers["Content-Encoding"] == "gzip"
            receiver.bodies.setdefault(self.path, []).append(gzip.decompress(body) if is_packed else body)
            self.send_response(200)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the library's name
            """Print nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        receiver = Receiver(server.server_port)
        Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        try:
            yield receiver
        finally:
            server.shutdown()

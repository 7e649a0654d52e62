"""Drives an HTTP server over keep-alive connections and measures throughput, latency and CPU time."""

import re
import selectors
import socket
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass

from tests.drills.printing import percentiles
from tests.drills.process import metered

CONTENT_LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)
HEAD_END = b"\r\n\r\n"
WAIT_TIMEOUT_S = 30


@dataclass(frozen=True)
class Measurement:
    """One run: throughput in requests a second, latencies in milliseconds, CPU in milliseconds a request."""

    failures: int
    per_second: float
    p50_ms: float
    p99_ms: float
    cpu_ms: float
    database_cpu_ms: float

    def __str__(self) -> str:
        return (
            f"{self.per_second:6.0f}/s  p50 {self.p50_ms:5.1f}  p99 {self.p99_ms:5.1f} ms  "
            f"CPU {self.cpu_ms:.3f} ms, PostgreSQL's {self.database_cpu_ms:.3f} ms a request  {self.failures} failed"
        )


def measure(pid: int, port: int, paths: list[str], *, token: str, connections: int, database_pid: int) -> Measurement:
    """Get `paths` over `connections` connections from the server with this process id."""
    with metered(pid, database_pid) as used, ProcessPoolExecutor(1) as pool:  # the driver has an interpreter of its own
        latencies, failures = pool.submit(drive, port, paths, token, connections).result()
    elapsed_s, used_s, database_used_s = used
    p50_s, _, p99_s = percentiles(latencies)
    return Measurement(
        failures=failures,
        per_second=len(paths) / elapsed_s,
        p50_ms=p50_s * 1000,
        p99_ms=p99_s * 1000,
        cpu_ms=used_s / len(paths) * 1000,
        database_cpu_ms=database_used_s / len(paths) * 1000,
    )


def drive(port: int, paths: list[str], token: str, connections: int) -> tuple[list[float], int]:
    """Return the latency of each request in seconds, and the number not answered with 200.

    One thread serves all connections: threads of the driver would wait for each other and call it the server's time.
    """
    rest, latencies, statuses = iter(paths), [], []
    with selectors.DefaultSelector() as selector:
        for _ in range(connections):
            own = GetConnection(port, token)
            if own.send_next(rest):
                selector.register(own.socket, selectors.EVENT_READ, own)
        while selector.get_map():
            ready = selector.select(WAIT_TIMEOUT_S)
            if not ready:
                raise TimeoutError("the server no longer answers")
            for key, _ in ready:
                status = key.data.receive()
                if status:
                    statuses.append(status)
                    latencies.append(time.perf_counter() - key.data.sent_at)
                    if not key.data.send_next(rest):
                        selector.unregister(key.fileobj)
                        key.data.close()
    return latencies, len(paths) - statuses.count(b"200")


class GetConnection:
    """A keep-alive connection for GET requests on a bare socket, which costs the driver little CPU time."""

    def __init__(self, port: int, token: str, timeout_s: float = WAIT_TIMEOUT_S) -> None:
        self.sent_at = 0.0
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=timeout_s)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._head = f"HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {token}\r\nAccept: */*\r\n\r\n"
        self._received = b""

    def send(self, path: str) -> None:
        self._received, self.sent_at = b"", time.perf_counter()
        self.socket.sendall(f"GET {path} {self._head}".encode())

    def send_next(self, paths: Iterator[str]) -> bool:
        """Send the next request; return False if there is none."""
        path = next(paths, None)
        if path is not None:
            self.send(path)
        return path is not None

    def receive(self) -> bytes:
        """Read what has come; return the status once the answer, which has a Content-Length, is whole."""
        data = self.socket.recv(262_144)
        if not data:
            raise ConnectionError("closed")
        self._received += data
        head, end, body = self._received.partition(HEAD_END)
        length = CONTENT_LENGTH.search(head) if end else None
        return head[9:12] if length and len(body) >= int(length[1]) else b""

    def close(self) -> None:
        self.socket.close()

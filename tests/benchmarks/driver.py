"""Drives an HTTP server over keep-alive connections and measures throughput, latency and CPU time."""

import socket
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import dataclass
from statistics import quantiles

from tests.drills.process import cpu_s


@dataclass(frozen=True)
class Measurement:
    """One run: throughput in requests a second, latencies in milliseconds, CPU in milliseconds a request."""

    failures: int
    per_second: float
    p50_ms: float
    p95_ms: float
    p99_ms: float
    cpu_ms: float
    database_cpu_ms: float

    def __str__(self) -> str:
        return (
            f"{self.per_second:6.0f}/s  p50 {self.p50_ms:5.1f}  p95 {self.p95_ms:5.1f}  p99 {self.p99_ms:5.1f} ms  "
            f"CPU {self.cpu_ms:.3f} ms, PostgreSQL's {self.database_cpu_ms:.3f} ms a request  {self.failures} failed"
        )


def measure(pid: int, port: int, paths: list[str], *, token: str, connections: int, database_pid: int) -> Measurement:
    """Get `paths` over `connections` connections from the server with this process id."""
    before_s, database_before_s, started_at = cpu_s(pid), cpu_s(database_pid), time.perf_counter()
    with ProcessPoolExecutor(1) as pool:  # the driver has an interpreter of its own
        latencies, failures = pool.submit(drive, port, paths, token, connections).result()
    elapsed_s, used_s = time.perf_counter() - started_at, cpu_s(pid) - before_s
    database_used_s = cpu_s(database_pid) - database_before_s
    cuts = quantiles(latencies, n=100)
    return Measurement(
        failures=failures,
        per_second=len(paths) / elapsed_s,
        p50_ms=cuts[49] * 1000,
        p95_ms=cuts[94] * 1000,
        p99_ms=cuts[98] * 1000,
        cpu_ms=used_s / len(paths) * 1000,
        database_cpu_ms=database_used_s / len(paths) * 1000,
    )


def drive(port: int, paths: list[str], token: str, connections: int) -> tuple[list[float], int]:
    """Return the latency of each request in seconds, and the number not answered with 200."""
    latencies: list[float] = []
    statuses: list[str] = []

    def work(share: list[str]) -> None:
        connection = GetConnection(port, token)
        for path in share:
            started_at = time.perf_counter()
            statuses.append(connection.get(path))
            latencies.append(time.perf_counter() - started_at)

    with ThreadPoolExecutor(connections) as pool:
        list(pool.map(work, (paths[number::connections] for number in range(connections))))
    return latencies, len(paths) - statuses.count("200")


class GetConnection:
    """A keep-alive connection for GET requests on a bare socket, which costs the driver little CPU time."""

    def __init__(self, port: int, token: str, timeout_s: float | None = None) -> None:
        self._port = port
        self._timeout_s = timeout_s
        self._head = f"HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {token}\r\nAccept: */*\r\n\r\n"
        self._socket: socket.socket | None = None

    def get(self, path: str) -> str:
        """Return the status, empty if the connection failed; the next call opens a new one."""
        try:
            connection = self._connected()
            connection.sendall(f"GET {path} {self._head}".encode())
            return read_answer(connection)[9:12].decode()
        except OSError:
            self.close()
            return ""

    def close(self) -> None:
        if self._socket:
            self._socket.close()
        self._socket = None

    def _connected(self) -> socket.socket:
        if self._socket is None:
            self._socket = socket.create_connection(("127.0.0.1", self._port), timeout=self._timeout_s)
            self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return self._socket


def read_answer(connection: socket.socket) -> bytes:
    """Read one answer that has a Content-Length; return its head."""
    data = receive(connection)
    while b"\r\n\r\n" not in data:
        data += receive(connection)
    head, _, body = data.partition(b"\r\n\r\n")
    length = int(head.lower().partition(b"content-length:")[2].partition(b"\r\n")[0])
    while len(body) < length:
        body += receive(connection)
    return head


def receive(connection: socket.socket) -> bytes:
    data = connection.recv(65_536)
    if not data:
        raise ConnectionError("closed")
    return data

"""Drives an HTTP server over keep-alive connections, and weighs what a request cost it in CPU time."""

import os
import socket
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from statistics import quantiles
from threading import Thread

CLOCK_TICKS_S = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Measurement:
    """What one run showed: rates in requests a second, latencies in milliseconds, CPU in milliseconds a request."""

    requests: int
    failures: int
    per_second: float
    p50_ms: float
    p95_ms: float
    p99_ms: float
    cpu_ms: float
    database_cpu_ms: float


def cpu_s(pid: int) -> float:
    """CPU time, user and system, of a process and of all below it."""
    total = 0.0
    for process in [pid, *descendants(pid)]:
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
        total += (int(fields[11]) + int(fields[12])) / CLOCK_TICKS_S
    return total


def descendants(pid: int) -> list[int]:
    children = [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    return children + [each for child in children for each in descendants(child)]


def measure(pid: int, port: int, requests: list[bytes], *, connections: int, database_pid: int) -> Measurement:
    """Send `requests` over `connections` connections to the server with this process id."""
    before_s, database_before_s, started_at = cpu_s(pid), cpu_s(database_pid), time.perf_counter()
    with ProcessPoolExecutor(1) as pool:  # the driver has an interpreter of its own
        latencies, failures = pool.submit(drive, port, requests, connections).result()
    elapsed_s, used_s = time.perf_counter() - started_at, cpu_s(pid) - before_s
    database_used_s = cpu_s(database_pid) - database_before_s
    cuts = quantiles(latencies, n=100)
    return Measurement(
        requests=len(requests),
        failures=failures,
        per_second=len(requests) / elapsed_s,
        p50_ms=cuts[49] * 1000,
        p95_ms=cuts[94] * 1000,
        p99_ms=cuts[98] * 1000,
        cpu_ms=used_s / len(requests) * 1000,
        database_cpu_ms=database_used_s / len(requests) * 1000,
    )


def drive(port: int, requests: list[bytes], connections: int) -> tuple[list[float], int]:
    """Return the latency of each request in seconds, and how many were not answered with 200."""
    latencies: list[float] = []
    statuses: list[bytes] = []

    def work(share: list[bytes]) -> None:
        with socket.create_connection(("127.0.0.1", port)) as connection:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            for request in share:
                started_at = time.perf_counter()
                connection.sendall(request)
                statuses.append(read_answer(connection.recv)[9:12])
                latencies.append(time.perf_counter() - started_at)

    threads = [Thread(target=work, args=(requests[number::connections],)) for number in range(connections)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return latencies, len(requests) - statuses.count(b"200")


def read_answer(receive: Callable[[int], bytes]) -> bytes:
    """Read one answer that has a Content-Length."""
    data = receive(65536)
    while b"\r\n\r\n" not in data:
        data += receive(65536)
    head, _, body = data.partition(b"\r\n\r\n")
    length = int(head.lower().partition(b"content-length:")[2].partition(b"\r\n")[0])
    while len(body) < length:
        body += receive(65536)
    return head


def get(path: str, token: str) -> bytes:
    head = f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {token}\r\nAccept: */*\r\n\r\n"
    return head.encode()

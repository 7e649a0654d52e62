"""Drives an HTTP server over keep-alive connections, as fast as it answers, from a process of its own."""

import selectors
import time
from concurrent.futures import ProcessPoolExecutor

from tests.drills.load import LookUps, Record
from tests.drills.process import metered
from tests.support.http import GetConnection

WAIT_TIMEOUT_S = 30


def measure(pid: int, port: int, paths: list[str], *, token: str, connections: int, database_pid: int) -> LookUps:
    """Get `paths` over `connections` connections from the server with this process id."""
    with metered(pid, database_pid) as used, ProcessPoolExecutor(1) as pool:  # the driver has an interpreter of its own
        records = pool.submit(drive, port, paths, token, connections).result()
    return LookUps(records, *used)


def drive(port: int, paths: list[str], token: str, connections: int) -> list[Record]:
    """Get the paths.

    One thread serves all connections: threads of the driver would wait for each other and call it the server's time.
    """
    rest, records = iter(paths), []
    with selectors.DefaultSelector() as selector:
        for _ in range(connections):
            own = GetConnection(port, token, WAIT_TIMEOUT_S)
            if own.send_next(rest):
                selector.register(own.socket, selectors.EVENT_READ, own)
        while selector.get_map():
            ready = selector.select(WAIT_TIMEOUT_S)
            if not ready:
                raise TimeoutError("the server no longer answers")
            for key, _ in ready:
                if status := key.data.receive():
                    records.append(Record(status.decode(), time.perf_counter() - key.data.sent_at))
                    if not key.data.send_next(rest):
                        selector.unregister(key.fileobj)
                        key.data.close()
    return records

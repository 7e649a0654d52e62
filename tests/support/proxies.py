"""A proxy that lets a server seem gone, or silent, while it runs on undisturbed; and a server that is silent."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, Self


class Proxy:
    """Forwards TCP connections to a server's address, until told otherwise."""

    def __init__(self, target: str | tuple[str, int]) -> None:
        self.target = target
        self.family = socket.AF_UNIX if isinstance(target, str) else socket.AF_INET
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=128)
        self.port: int = self.listener.getsockname()[1]
        self.accepted = 0  # connections so far
        self.passed = 0  # bytes so far, both ways
        self.open = threading.Event()
        self.open.set()
        self.pairs: list[socket.socket] = []
        self.is_refusing = False
        threading.Thread(target=self.accept, daemon=True).start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.listener.close()
        self.open.set()
        self.cut()

    def silence(self) -> None:
        """Accept connections and bytes, and pass nothing on."""
        self.open.clear()

    def refuse(self) -> None:
        """Reset what is open, and whatever is opened from now on."""
        self.is_refusing = True
        self.cut()

    def restore(self) -> None:
        """Connections from before a silence are cut, as no network keeps them for long."""
        self.is_refusing = False
        if not self.open.is_set():
            self.cut()
        self.open.set()

    def cut(self) -> None:
        pairs, self.pairs = self.pairs, []
        for end in pairs:
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def accept(self) -> None:
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            self.accepted += 1
            if self.is_refusing:
                client.close()
                continue
            threading.Thread(target=self.serve, args=(client,), daemon=True).start()

    def serve(self, client: socket.socket) -> None:
        server = socket.socket(self.family)
        self.pairs += [client, server]
        self.open.wait()
        try:
            server.connect(self.target)
        except OSError:
            client.close()
            server.close()
            return
        threading.Thread(target=self.pump, args=(server, client), daemon=True).start()
        self.pump(client, server)

    def pump(self, source: socket.socket, sink: socket.socket) -> None:
        with suppress(OSError):
            while data := source.recv(65_536):
                self.open.wait()
                self.passed += len(data)
                sink.sendall(data)
        for end in (source, sink):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()


def postgresql_target(settings: dict[str, Any]) -> str | tuple[str, int]:
    """Return the address of the server in Django's settings."""
    host = settings["HOST"] or settings["OPTIONS"].get("host", "")
    port = int(settings["PORT"] or 5432)
    return f"{host}/.s.PGSQL.{port}" if host.startswith("/") else (host, port)


@contextmanager
def silent_server() -> Iterator[int]:
    """Accept connections and stay silent; yield the port."""
    with socket.create_server(("127.0.0.1", 0), backlog=1024) as listener:
        yield listener.getsockname()[1]

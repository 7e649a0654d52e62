"""Both carriers' tracking services over HTTP: what has happened to each number, and what they were asked."""

import socket
from collections import defaultdict
from datetime import UTC, datetime
from typing import Any

from tests.carriers.support.servers import http
from tests.carriers.support.tracking import ASKED_NUMBER, history

OUTAGE = http(b"<html>Are you a robot?</html>", 503, "text/html")


class Carriers:
    """Both tracking services: what has happened to each number, and what they were asked."""

    def __init__(self) -> None:
        self.restart()

    def restart(self) -> None:
        self.events: dict[str, list[tuple[int, str]]] = defaultdict(list)  # time in milliseconds, code
        self.number_at: dict[int, tuple[str, str]] = {}
        self.carrier_of: dict[str, str] = {}
        self.needle_of: dict[str, str] = {}
        self.happened_s: dict[tuple[str, str], float] = {}
        self.faults: set[str] = set()
        self.answered: list[str] = []
        self.before: Any = lambda: None  # called in the middle of each call

    def happen(self, carrier: str, number: str, code: str, at: int, now_s: float) -> None:
        self.carrier_of[number] = carrier
        self.happened_s[number, code] = now_s
        while at in self.number_at:
            at += 1000
        self.number_at[at] = (number, code)
        self.events[number].append((at, code))
        self.events[number].sort()

    def play(self, stream: socket.socket, request: bytes) -> bool:
        match = ASKED_NUMBER.search(request)
        assert match
        number, carrier = (match[1] or match[2]).decode(), "alpha" if match[1] else "beta"
        self.before()
        if number in self.faults:
            stream.sendall(OUTAGE)
            return True
        events = self.events[number] if self.carrier_of.get(number) == carrier else []
        text = f"Remis {self.needle_of.get(number, '')}"
        told = [(code, datetime.fromtimestamp(at / 1000, UTC), text) for at, code in events]
        stream.sendall(history(carrier, number, told))
        self.answered.append(number)
        return True

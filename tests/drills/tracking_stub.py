"""Both carriers' tracking services, which answer at once: ``python -m tests.drills.tracking_stub --port P``.

A parcel's journey depends on its number alone, and goes on with time (``--step-s``) or with the questions asked
(``--step-asks``). The stub notes when each question came. ``POST /control`` sets what happens to questions.
"""

import json
import socket
import time
from collections import defaultdict
from datetime import UTC, datetime, timedelta
from threading import Event
from zlib import crc32

from tests.carriers.support.servers import LoopbackServer, http
from tests.carriers.support.tracking import ASKED_NUMBER, history
from tests.drills.harness import read_options

# Codes in the order they come; a last one that nobody lists stands for what is new.
JOURNEYS = {
    "alpha": (
        "DC DB DY SC TS TS SD TA D",
        "DC DB SC TS SD TA P TA D",
        "DC DB SC TS TA P R TS D",
        "DC DB ZZ SC TS AB RI",
    ),
    "beta": (
        "PCHMQT PCHCFM PCHTRI AARDOU MLVTRA LIVCFM",
        "PCHMQT PCHCFM PCHTRI MLVTRA RENARV MLVTRA LIVGAR",
        "PCHMQT PCHCFM PCHTRI AARREL LIVRLI LIVRTI",
        "PCHMQT PCHCFM QQQQQQ PCHTRI RENAVA LIVREO",
    ),
}
EVENT_GAP = timedelta(hours=3)
JSON = "application/json"
FAULTS = {
    "html": http(b"<html><body>Are you a robot?</body></html>", content_type="text/html"),
    "429": http(b"{}", 429, JSON),
    "garbage": http(b"\x00\xff<<{{" * 20, content_type="application/octet-stream"),
    "hang": b"",
}


class Stub:
    """The state of the stub: its mode, its clock and the questions it got."""

    def __init__(self, base: datetime, step_s: float, step_asks: int) -> None:
        self.base, self.step_s, self.step_asks = base, step_s, step_asks
        self.started_at = time.monotonic()
        self.mode = "normal"
        self.calls: dict[str, list[float]] = {"alpha": [], "beta": []}
        self.asked: dict[bytes, int] = defaultdict(int)

    def events(self, carrier: str, number: bytes) -> list[tuple[str, datetime]]:
        """Return the events of a number that have happened by now."""
        seed = crc32(number)
        codes = JOURNEYS[carrier][seed % len(JOURNEYS[carrier])].split()
        self.asked[number] += 1
        if self.step_asks:
            count = 1 + (self.asked[number] + seed % self.step_asks) // self.step_asks
        else:
            count = 1 + int((time.monotonic() - self.started_at) / self.step_s + seed % 3)
        return [(code, self.base + place * EVENT_GAP) for place, code in enumerate(codes[:count])]

    def play(self, stream: socket.socket, request: bytes) -> bool:
        head, _, body = request.partition(b"\r\n\r\n")
        path = head.split(b" ", 2)[1].decode().strip("/")
        if path == "control":
            vars(self).update(json.loads(body))
        if path in self.calls:
            stream.sendall(self.answer(path, body))
        else:
            stream.sendall(http(json.dumps(self.calls).encode(), content_type=JSON))
        return True

    def answer(self, carrier: str, body: bytes) -> bytes:
        self.calls[carrier].append(time.time())
        if self.mode in FAULTS:
            return FAULTS[self.mode]
        match = ASKED_NUMBER.search(body)
        assert match
        number, text = match[1] or match[2], "Parcel scanned: {}"  # in no language that a table of codes is checked in
        events = [(code, at, text.format(code)) for code, at in self.events(carrier, number)]
        return history(carrier, number.decode(), events)


def main() -> None:
    options = read_options(port=0, base="", step_s=5.0, step_asks=0)
    base = datetime.fromisoformat(options.base) if options.base else datetime.now(UTC) - timedelta(days=2)
    with LoopbackServer(Stub(base, options.step_s, options.step_asks).play, port=options.port):
        Event().wait()


if __name__ == "__main__":
    main()

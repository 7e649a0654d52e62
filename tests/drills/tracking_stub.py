"""Both carriers' tracking services, which answer at once: ``python -m tests.drills.tracking_stub --port P``.

A parcel's journey depends on its number alone, and goes on with time (``--step-s``) or with the questions asked
(``--step-asks``). The stub notes when each question came. ``POST /control`` sets what happens to questions.
"""

import argparse
import asyncio
import json
import re
import time
from collections import defaultdict
from datetime import UTC, datetime, timedelta
from zlib import crc32

NUMBER = {"alpha": re.compile(rb"<skybillNumber>(\w+)<"), "beta": re.compile(rb'"parcelNumber": ?"(\w+)"')}
LENGTH = re.compile(rb"content-length: (\d+)", re.IGNORECASE)
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
HEAD = b"HTTP/1.1 %d Status\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n"
EVENT_GAP = timedelta(hours=3)


class Stub:
    """The state of the stub: its mode, its clock and the questions it got."""

    def __init__(self, base: datetime, step_s: float, step_asks: int) -> None:
        self.base, self.step_s, self.step_asks = base, step_s, step_asks
        self.started_at = time.monotonic()
        self.mode = "normal"
        self.delay_s = 0.0
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

    def answer(self, carrier: str, body: bytes) -> tuple[int, bytes, bytes] | None:
        """Return status, media type and body; None to stay silent."""
        self.calls[carrier].append(time.time())
        match self.mode:
            case "hang":
                return None
            case "html":
                return 200, b"text/html", b"<html><body>Are you a robot?</body></html>"
            case "429":
                return 429, b"application/json", b"{}"
            case "garbage":
                return 200, b"application/octet-stream", b"\x00\xff<<{{" * 20
        match = NUMBER[carrier].search(body)
        assert match
        write = alpha if carrier == "alpha" else beta
        return 200, b"text/xml" if carrier == "alpha" else b"application/json", write(match[1], self)


def alpha(number: bytes, stub: Stub) -> bytes:
    events = "".join(
        f"<events><code>{code}</code><eventDate>{at.isoformat()}</eventDate><eventLabel>{text(code)}</eventLabel>"
        "<highPriority>false</highPriority><NPC>M</NPC><officeLabel>LYON CHRONOPOST</officeLabel>"
        "<zipCode>69800</zipCode></events>"
        for code, at in stub.events("alpha", number)
    )
    return (
        '<?xml version="1.0" encoding="UTF-8"?><soap:Envelope xmlns:soap="http://schemas.xmlsoap.org/soap/envelope/">'
        '<soap:Body><ns1:trackSkybillV2Response xmlns:ns1="http://cxf.tracking.soap.chronopost.fr/"><return><errorCode>0'
        f"</errorCode><listEventInfoComp>{events}<skybillNumber>{number.decode()}</skybillNumber></listEventInfoComp>"
        "</return></ns1:trackSkybillV2Response></soap:Body></soap:Envelope>"
    ).encode()


def beta(number: bytes, stub: Stub) -> bytes:
    events = [
        {
            "date": (at + timedelta(hours=1)).replace(tzinfo=None).isoformat(),
            "code": code,
            "labelLong": text(code),
            "siteCode": "692690",
            "siteName": "PLATEFORME LYON",
            "siteZipCode": 69125,
        }
        for code, at in stub.events("beta", number)
    ]
    parcel = {"parcelNumber": number.decode(), "step": [], "event": events, "removalPoint": None}
    return json.dumps({"lang": "fr_FR", "status": [{"code": "0", "message": "OK"}], "parcel": parcel}).encode()


def text(code: str) -> str:
    return f"Parcel scanned: {code}"  # in no language that a table of codes is checked in


class Connection(asyncio.Protocol):
    """One connection of a client, which sends a request after the other."""

    def __init__(self, stub: Stub) -> None:
        self.stub = stub
        self.buffer = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        self.buffer += data
        head, separator, body = self.buffer.partition(b"\r\n\r\n")
        length = LENGTH.search(head)
        if separator and len(body) >= int(length[1] if length else 0):
            self.buffer = b""
            self.answer(head.split(b" ", 2)[1].decode(), body)

    def answer(self, path: str, body: bytes) -> None:
        if path == "/control":
            vars(self.stub).update(json.loads(body))
            self.send(200, b"application/json", b"{}")
        elif path == "/calls":
            self.send(200, b"application/json", json.dumps(self.stub.calls).encode())
        else:
            answer = self.stub.answer(path.strip("/"), body)
            if answer:
                asyncio.get_running_loop().call_later(self.stub.delay_s, self.send, *answer)

    def send(self, status: int, media_type: bytes, body: bytes) -> None:
        if not self.transport.is_closing():
            self.transport.write(HEAD % (status, media_type, len(body)) + body)


async def serve(stub: Stub, port: int) -> None:
    server = await asyncio.get_running_loop().create_server(lambda: Connection(stub), "127.0.0.1", port, backlog=512)
    await server.serve_forever()


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.drills.tracking_stub", description=__doc__)
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--base", type=datetime.fromisoformat, default=datetime.now(UTC) - timedelta(days=2))
    parser.add_argument("--step-s", type=float, default=5.0)
    parser.add_argument("--step-asks", type=int, default=0)
    options = parser.parse_args()
    asyncio.run(serve(Stub(options.base, options.step_s, options.step_asks), options.port))


if __name__ == "__main__":
    main()

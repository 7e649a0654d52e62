"""Every failure that the sandbox plays, as data, and the names by which it is asked for.

A shop developer asks through the API, with a magic `reference`; a test asks at the control endpoint. Both
use the names in `FAULTS`, or a carrier's error code, or a routing error (`ROUTING...`). `fault_table()`
is the table for people; the sandbox's page at `/` shows it.

The magic reference is `FAULT <name>`, in any case, as in `"reference": "FAULT HANG"` or `"FAULT 33"`.
`FAULT <k> <name>` fails only the k-th of beta's linked parcels: `"FAULT 2 40015"`. The reference is the one
public field that is free, is optional and steers no validation, so a fault can be asked for with any
address and product. alpha receives it as `recipientRef` (as `content1` for relay products), beta as
`senderParcelRef`. Names are of letters and digits, because alpha's text drops everything else, and of at most
nine, because beta's field holds 15 characters.
"""

from __future__ import annotations

import enum
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from carriers.sandbox import spoiling
from carriers.sandbox.exchange import Delivery

if TYPE_CHECKING:
    from carriers.sandbox.spoiling import Spoiler

ALPHA, BETA = ("alpha",), ("beta",)
BOTH = ALPHA + BETA
HANG_S = 120.0  # longer than any client's deadline
LATE_S = 60.0
SLOW_S = 5.0
DRIP_S = 1.0


class Kind(enum.Enum):
    """Who plays a fault."""

    REFUSAL = enum.auto()  # the carrier's endpoint, in the carrier's words, and buys nothing
    CONTENT = enum.auto()  # the carrier's endpoint: it sells, and gets its answer wrong
    WIRE = enum.auto()  # `spoil`, which takes any answer
    TIMING = enum.auto()  # whoever waits: the exchange goes well in the end


@dataclass(frozen=True)
class Fault:
    """One failure: what it is, and whether the parcel is bought although it happens."""

    name: str
    is_made: bool
    does: str
    kind: Kind = Kind.WIRE
    carriers: tuple[str, ...] = BOTH
    delay_s: float = 0.0
    spoil: Spoiler | None = None


def _wire(name: str, is_made: bool, does: str, spoil: Spoiler, **more: float) -> Fault:  # noqa: FBT001 a row of the table
    return Fault(name, is_made, does, spoil=spoil, **more)


FAULTS = (
    # Silence and broken connections.
    _wire("hang", False, "no answer, closed after the delay", spoiling.delivered(Delivery.HANG), delay_s=HANG_S),
    _wire("hangmade", True, "the same, after buying", spoiling.delivered(Delivery.HANG), delay_s=HANG_S),
    _wire("reset", False, "connection reset instead of an answer", spoiling.delivered(Delivery.RESET)),
    _wire("resetmade", True, "the same, after buying", spoiling.delivered(Delivery.RESET)),
    _wire("close", False, "connection closed without an answer", spoiling.delivered(Delivery.CLOSE)),
    _wire("closemade", True, "the same, after buying", spoiling.delivered(Delivery.CLOSE)),
    _wire("cutoff", True, "closed after half of the announced body", spoiling.delivered(Delivery.CUT)),
    _wire("driphead", True, "a byte a second, from the headers on", spoiling.delivered(Delivery.DRIP_HEAD), delay_s=DRIP_S),
    _wire("dripbody", True, "a byte a second, from the body on", spoiling.delivered(Delivery.DRIP_BODY), delay_s=DRIP_S),
    Fault("slow", True, "buys and answers well, both only after the delay, even if nobody waits for it", Kind.TIMING, delay_s=SLOW_S),
    # Answers of somebody else.
    _wire("empty", True, "HTTP 200 with an empty body", spoiling.empty),
    _wire("html200", False, "HTTP 200 with an HTML page", spoiling.html(200)),
    _wire("html502", False, "HTTP 502 with an HTML page", spoiling.html(502)),
    _wire("html503", False, "HTTP 503 with an HTML page", spoiling.html(503)),
    _wire("made502", True, "the same as html502, after buying", spoiling.html(502)),
    _wire("redirect", False, "HTTP 307 to another host", spoiling.redirect),
    # Answers that cannot be read.
    _wire("truncated", True, "half the body, announced as if it were all", spoiling.truncated),
    _wire("garbled", True, "every byte of the body changed", spoiling.garbled),
    _wire("charset", True, "Latin-1 text in an answer that says UTF-8", spoiling.wrong_charset),
    _wire("deep", True, "200,000 levels of XML or JSON", spoiling.deep),
    _wire("huge", True, "50 MB, chunked, in place of the label", spoiling.delivered(Delivery.HUGE)),
    _wire("gzipbomb", True, "50 MB in 50 kB of gzip", spoiling.gzip_bomb),
    Fault("doctype", True, "a DOCTYPE with an entity", carriers=ALPHA, spoil=spoiling.doctype),
    Fault("base64", True, "the label's base64 cut in the middle", Kind.CONTENT, ALPHA),
    # Answers that can be read and are wrong.
    Fault("nolabel", True, "a yes with a number and no label", Kind.CONTENT),
    Fault("notpdf", True, "a yes with a label that is no PDF", Kind.CONTENT),
    Fault("twin", True, "the number that was given out last, for every parcel", Kind.CONTENT),
    Fault("late", True, "closed without an answer; the search finds the parcel after the delay", Kind.CONTENT, delay_s=LATE_S),
    # Refusals beyond the codes.
    Fault("contract", False, "product not on the contract (alpha 33 with such a text, beta 30009)", Kind.REFUSAL),
    Fault("soapfault", False, "HTTP 500 with a SOAP fault", Kind.REFUSAL, ALPHA),
    Fault("json500", False, "HTTP 500 with a message", Kind.REFUSAL, BETA),
    Fault("error200", False, "HTTP 200 with a message of type ERROR (30204)", Kind.REFUSAL, BETA),
    Fault("errorpart", False, "HTTP 400, multipart with only jsonInfos (30204)", Kind.REFUSAL, BETA),
    Fault("errorbare", False, 'HTTP 400 with {"error", "message"}', Kind.REFUSAL, BETA),
    Fault("errorlist", False, 'HTTP 400 with {"errors": [{code, message}]} (30204)', Kind.REFUSAL, BETA),
    Fault("errorflat", False, 'HTTP 400 with {"errorCode", "errorLabel"} (30204)', Kind.REFUSAL, BETA),
    # Good answers of another shape.
    Fault("warning", True, "no failure: a success with a WARNING", Kind.CONTENT, BETA),
    Fault("mixed", True, "no failure: multipart/mixed, CRLF behind the last boundary", Kind.CONTENT, BETA),
    # What a client cannot ask for with a purchase: at the control endpoint only.
    Fault("unfound", True, "searches do not find parcels younger than the delay", Kind.TIMING, ALPHA, LATE_S),
    Fault("accept", True, "new connections are not read from before the delay has passed", Kind.TIMING, delay_s=SLOW_S),
)  # fmt: skip
_BY_NAME = {fault.name: fault for fault in FAULTS}
_MAGIC = re.compile(r"FAULT (?:([1-9]) )?([A-Z0-9]+)")
_CODE = re.compile(r"\d{1,5}|ROUTING[A-Z0-9_]*")


def fault_named(name: str, carrier: str | None) -> Fault | None:
    """Return a fault by its name or a carrier's error code; None when that carrier has no such fault."""
    if _CODE.fullmatch(name.upper()):
        return Fault(name.upper(), is_made=False, does="the carrier's error of that code", kind=Kind.REFUSAL)
    fault = _BY_NAME.get(name.lower())
    return fault if fault and (carrier is None or carrier in fault.carriers) else None


def magic_in(text: str) -> tuple[int | None, str] | None:
    """Return the parcel's rank and the fault's name that a magic reference asks for."""
    match = _MAGIC.fullmatch(" ".join(text.upper().split()))
    return (int(match[1]) if match[1] else None, match[2]) if match else None


def fault_table() -> str:
    """Return the table of faults as Markdown."""
    rows = [f"| {f.name} | {' '.join(f.carriers)} | {'yes' if f.is_made else 'no'} | {f.does} |" for f in FAULTS]
    return "\n".join(["| fault | carrier | bought | what happens |", "|---|---|---|---|", *rows])

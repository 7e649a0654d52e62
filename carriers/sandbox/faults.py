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

from carriers.sandbox import corruption
from carriers.sandbox.exchange import Delivery

if TYPE_CHECKING:
    from carriers.sandbox.corruption import Spoiler

Carriers = tuple[str, ...]
ALPHA: Carriers = ("alpha",)
BETA: Carriers = ("beta",)
BOTH = ALPHA + BETA
HANG_S = 120.0  # longer than any client's deadline
LATE_S = 60.0
SLOW_S = 5.0
DRIP_S = 1.0


class Kind(enum.Enum):
    """Who plays a fault."""

    REFUSAL = enum.auto()  # the carrier's endpoint, in the carrier's words, and buys nothing
    ANSWER = enum.auto()  # the carrier's endpoint, which writes its answer wrong, or `spoil`
    TIMING = enum.auto()  # whoever waits: the exchange goes well in the end


@dataclass(frozen=True)
class Fault:
    """One failure: what it is, and whether the parcel is bought although it happens."""

    name: str
    is_made: bool
    does: str
    kind: Kind = Kind.ANSWER
    carriers: Carriers = BOTH
    delay_s: float = 0.0
    spoil: Spoiler | None = None


def _sent(name: str, is_made: bool, does: str, way: Delivery, delay_s: float = 0.0) -> Fault:  # noqa: FBT001 a column of the table
    """Return a row whose answer is right and is sent badly."""
    return Fault(name, is_made, does, delay_s=delay_s, spoil=corruption.delivered(way))


def _spoilt(name: str, is_made: bool, does: str, spoil: Spoiler, carriers: Carriers = BOTH) -> Fault:  # noqa: FBT001 a column of the table
    """Return a row whose answer is changed."""
    return Fault(name, is_made, does, carriers=carriers, spoil=spoil)


FAULTS = (
    # Silence and broken connections.
    _sent("hang", False, "no answer; closed after the delay", Delivery.HANG, HANG_S),
    _sent("hangmade", True, "the same, after buying", Delivery.HANG, HANG_S),
    _sent("reset", False, "connection reset instead of an answer", Delivery.RESET),
    _sent("resetmade", True, "the same, after buying", Delivery.RESET),
    _sent("close", False, "connection closed without an answer", Delivery.CLOSE),
    _sent("closemade", True, "the same, after buying", Delivery.CLOSE),
    _sent("cutoff", True, "closed after half of the announced body", Delivery.CUT),
    _sent("driphead", True, "a byte a second, from the headers on", Delivery.DRIP_HEAD, DRIP_S),
    _sent("dripbody", True, "a byte a second, from the body on", Delivery.DRIP_BODY, DRIP_S),
    _sent("late", True, "closed without an answer; found by the search after the delay", Delivery.CLOSE, LATE_S),
    Fault("slow", True, "buys and answers after the delay, waited for or not", Kind.TIMING, delay_s=SLOW_S),
    # Answers of somebody else.
    _spoilt("empty", True, "HTTP 200 with an empty body", corruption.empty),
    _spoilt("html200", False, "HTTP 200 with an HTML page", corruption.html(200)),
    _spoilt("html502", False, "HTTP 502 with an HTML page", corruption.html(502)),
    _spoilt("html503", False, "HTTP 503 with an HTML page", corruption.html(503)),
    _spoilt("made502", True, "HTTP 502 with an HTML page, after buying", corruption.html(502)),
    _spoilt("redirect", False, "HTTP 307 to another host", corruption.redirect),
    # Answers that cannot be read.
    _spoilt("truncated", True, "half the body, announced as if it were all", corruption.truncated),
    _spoilt("garbled", True, "every byte of the body changed", corruption.garbled),
    _spoilt("charset", True, "Latin-1 text in an answer that says UTF-8", corruption.wrong_charset),
    _spoilt("deep", True, "200,000 levels of XML or JSON", corruption.deep),
    _sent("huge", True, "50 MB, chunked, in place of the label", Delivery.HUGE),
    _spoilt("gzipbomb", True, "50 MB in 50 kB of gzip", corruption.gzip_bomb),
    _spoilt("doctype", True, "a DOCTYPE with an entity", corruption.doctype, ALPHA),
    Fault("base64", True, "the label's base64 cut in the middle", carriers=ALPHA),
    # Answers that can be read and are wrong.
    Fault("nolabel", True, "a yes with a number and no label"),
    Fault("notpdf", True, "a yes with a label that is no PDF"),
    Fault("twin", True, "the number that was given out last, for every parcel"),
    # Refusals beyond the codes.
    Fault("contract", False, "product not on the contract (alpha 33 that says so, beta 30009)", Kind.REFUSAL),
    Fault("soapfault", False, "HTTP 500 with a SOAP fault", Kind.REFUSAL, ALPHA),
    Fault("json500", False, "HTTP 500 with a message", Kind.REFUSAL, BETA),
    Fault("flat500", False, 'HTTP 500 with {"id", "type", "messageContent"}', Kind.REFUSAL, BETA),
    Fault("error200", False, "HTTP 200 with a message of type ERROR (30204)", Kind.REFUSAL, BETA),
    Fault("errorpart", False, "HTTP 400, multipart with only jsonInfos (30204)", Kind.REFUSAL, BETA),
    Fault("errorbare", False, 'HTTP 400 with {"error", "message"}', Kind.REFUSAL, BETA),
    Fault("errorlist", False, 'HTTP 400 with {"errors": [{code, message}]} (30204)', Kind.REFUSAL, BETA),
    Fault("errorflat", False, 'HTTP 400 with {"errorCode", "errorLabel"} (30204)', Kind.REFUSAL, BETA),
    # Good answers of another shape.
    Fault("warning", True, "no failure: a success with a WARNING", carriers=BETA),
    _spoilt("mixed", True, "no failure: multipart/mixed, CRLF behind the last boundary", corruption.mixed, BETA),
    # What no purchase can ask for: at the control endpoint only.
    Fault("unfound", True, "searches do not find parcels younger than the delay", Kind.TIMING, ALPHA, LATE_S),
    Fault("accept", True, "new connections are read from after the delay only", Kind.TIMING, delay_s=SLOW_S),
)
_BY_NAME = {fault.name: fault for fault in FAULTS}
# alpha's `content1` holds a description of the goods, too, before the reference.
_MAGIC = re.compile(r"(?:.* )?FAULT (?:([1-9]) )?([A-Z0-9]+)")
_CODE = re.compile(r"\d{1,5}|ROUTING[A-Z0-9_]*")


def fault_named(name: str, carrier: str | None) -> Fault | None:
    """Return a fault by its name or a carrier's error code; None when that carrier has no such fault."""
    if _CODE.fullmatch(name.upper()):
        code = "ROUTING_ERROR" if name.upper() == "ROUTING" else name.upper()
        return Fault(code, is_made=False, does="the carrier's error of that code", kind=Kind.REFUSAL)
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

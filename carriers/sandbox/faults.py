"""The faults that the sandbox can inject, as data, and the names that ask for them.

A shop developer asks through the API, with a magic `reference`; a test asks at the control endpoint. Both use
the names in `FAULTS`, a carrier's error code, or a routing error (`ROUTING...`).

The magic reference is `FAULT <name>`, in any case, as in `"reference": "FAULT HANG"` or `"FAULT 33"`.
`FAULT <k> <name>` fails only the k-th of beta's linked parcels: `"FAULT 2 40015"`. Parcels are linked overseas only;
elsewhere each one is the first.

The reference is the one public field that is free text, optional and not validated against others, so a fault can be
asked for with any address and product. alpha receives it as `recipientRef` (as `content1` for relay products), beta as
`senderParcelRef`. Names consist of letters and digits, because alpha's text drops everything else, and have at most
nine characters, because beta's field holds 15.

A parcel whose label was lost by a fault is never handed in, as nobody could print it.
"""

import enum
import re
from dataclasses import dataclass

from carriers.sandbox import corruption, transmission
from carriers.sandbox.corruption import Corruption, sent

Carriers = tuple[str, ...]
ALPHA: Carriers = ("alpha",)
BETA: Carriers = ("beta",)
BOTH = ALPHA + BETA
HANG_S = 120.0  # longer than any client's deadline
LATE_S = 60.0
SLOW_S = 5.0
DRIP_S = 1.0


class Kind(enum.Enum):
    """The part of the sandbox that injects a fault."""

    REFUSAL = enum.auto()  # the carrier refuses in its own words and buys nothing
    RESPONSE = enum.auto()  # the carrier's answer is written wrong, or corrupted by `corrupt`
    DELAY = enum.auto()  # the operation waits and then succeeds
    CONTROL_ONLY = enum.auto()  # looked up by name where it matters; a purchase can't ask for it


@dataclass(frozen=True)
class Fault:
    """One failure; `is_made` says that the parcel is bought all the same."""

    name: str
    is_made: bool
    does: str
    corrupt: Corruption | None = None
    kind: Kind = Kind.RESPONSE
    carriers: Carriers = BOTH
    delay_s: float = 0.0

    @property
    def loses_label(self) -> bool:
        """Tell if the client gets no label that can be printed, though the parcel is bought."""
        is_unreadable = self.corrupt not in (None, corruption.mixed)
        return self.is_made and (is_unreadable or self.name in {"base64", "nolabel", "notpdf"})


FAULTS = (
    # Silence and broken connections.
    Fault("hang", False, "no answer; connection closed after the delay", sent(transmission.hang), delay_s=HANG_S),
    Fault("hangmade", True, "the same, after buying", sent(transmission.hang), delay_s=HANG_S),
    Fault("reset", False, "connection reset instead of an answer", sent(transmission.reset)),
    Fault("resetmade", True, "the same, after buying", sent(transmission.reset)),
    Fault("close", False, "connection closed without an answer", sent(transmission.close)),
    Fault("closemade", True, "the same, after buying", sent(transmission.close)),
    Fault("cutoff", True, "closed after half of the announced body", sent(transmission.cut)),
    Fault("driphead", True, "a byte a second, from the headers on", sent(transmission.drip_head), delay_s=DRIP_S),
    Fault("dripbody", True, "a byte a second, from the body on", sent(transmission.drip_body), delay_s=DRIP_S),
    Fault("late", True, "no answer; the search finds it after the delay", sent(transmission.close), delay_s=LATE_S),
    Fault("slow", True, "buys and answers late, even if the client is gone", kind=Kind.DELAY, delay_s=SLOW_S),
    # Answers of a proxy or another server.
    Fault("empty", True, "HTTP 200 with an empty body", corruption.empty),
    Fault("html200", False, "HTTP 200 with an HTML page", corruption.html(200)),
    Fault("http401", False, "HTTP 401 with an HTML page", corruption.html(401)),
    Fault("http403", False, "HTTP 403 with an HTML page", corruption.html(403)),
    Fault("html429", False, "HTTP 429 with an HTML page", corruption.html(429)),
    Fault("html502", False, "HTTP 502 with an HTML page", corruption.html(502)),
    Fault("html503", False, "HTTP 503 with an HTML page", corruption.html(503)),
    Fault("made502", True, "HTTP 502 with an HTML page, after buying", corruption.html(502)),
    Fault("redirect", False, "HTTP 307 to another host", corruption.redirect),
    # Answers that can't be read.
    Fault("truncated", True, "half the body, announced as if it were all", corruption.truncated),
    Fault("garbled", True, "every byte of the body changed", corruption.garbled),
    Fault("charset", True, "Latin-1 text in an answer that says UTF-8", corruption.wrong_charset),
    Fault("deep", True, "200,000 levels of XML or JSON", corruption.deep),
    Fault("huge", True, "50 MB, chunked, in place of the label", sent(transmission.huge)),
    Fault("gzipbomb", True, "50 MB in 50 kB of gzip", corruption.gzip_bomb),
    Fault("doctype", True, "a DOCTYPE with an entity", corruption.doctype, carriers=ALPHA),
    Fault("base64", True, "the label's base64 cut in the middle", carriers=ALPHA),
    # Answers that can be read and are wrong.
    Fault("nolabel", True, "success with a number and no label"),
    Fault("notpdf", True, "success with a label that is no PDF"),
    Fault("twin", True, "the number that was given out last, for every parcel"),
    Fault("nocn23", True, "success without the customs form", carriers=BETA),
    Fault("badcn23", True, "success with a customs form that is no PDF", carriers=BETA),
    # Successes that show later.
    Fault("young", True, "bought; search and cancellation know it after the delay", carriers=ALPHA, delay_s=LATE_S),
    Fault("collected", True, "bought and taken in charge: can't be cancelled any more", carriers=ALPHA),
    # Refusals beyond the codes.
    Fault("contract", False, "product not on the contract (alpha 33 that says so, beta 30009)", kind=Kind.REFUSAL),
    Fault("colisacct", False, "33, Invalid accesColis account number", kind=Kind.REFUSAL, carriers=ALPHA),
    Fault("colispwd", False, "33, Invalid accesColis password", kind=Kind.REFUSAL, carriers=ALPHA),
    Fault("webpropwd", False, "33, Invalid identWebPro password", kind=Kind.REFUSAL, carriers=ALPHA),
    Fault("badformat", False, "33, a badly formatted value", kind=Kind.REFUSAL, carriers=ALPHA),
    Fault("soapfault", False, "HTTP 500 with a SOAP fault", kind=Kind.REFUSAL, carriers=ALPHA),
    Fault("json500", False, "HTTP 500 with a message", kind=Kind.REFUSAL, carriers=BETA),
    Fault("flat500", False, 'HTTP 500 with {"id", "type", "messageContent"}', kind=Kind.REFUSAL, carriers=BETA),
    Fault("error200", False, "HTTP 200 with a message of type ERROR (30204)", kind=Kind.REFUSAL, carriers=BETA),
    Fault("errorpart", False, "HTTP 400, multipart with only jsonInfos (30204)", kind=Kind.REFUSAL, carriers=BETA),
    Fault("errorbare", False, 'HTTP 400 with {"error", "message"}', kind=Kind.REFUSAL, carriers=BETA),
    Fault("errorlist", False, 'HTTP 400 with {"errors": [{code, message}]} (30204)', kind=Kind.REFUSAL, carriers=BETA),
    Fault("errorflat", False, 'HTTP 400 with {"errorCode", "errorLabel"} (30204)', kind=Kind.REFUSAL, carriers=BETA),
    # Good answers of another shape.
    Fault("warning", True, "no failure: a success with a WARNING", carriers=BETA),
    Fault("mixed", True, "no failure: multipart/mixed, CRLF after the last boundary", corruption.mixed, carriers=BETA),
    # At the control endpoint only.
    Fault(
        "unfound",
        True,
        "search and cancellation miss parcels younger than the delay",
        None,
        Kind.CONTROL_ONLY,
        ALPHA,
        LATE_S,
    ),
    Fault("accept", True, "new connections are read only after the delay", kind=Kind.CONTROL_ONLY, delay_s=SLOW_S),
)
_BY_NAME = {fault.name: fault for fault in FAULTS}
# alpha's `content1` holds a description of the goods, too, before the reference.
_MAGIC = re.compile(r"(?:.* )?FAULT (?:([1-9]) )?([A-Z0-9]+)")
# beta's magic reference has no room for the names of its routing errors: R18 is ROUTING_18, IV106 GEO_ROUTING_IV106.
_CODE = re.compile(r"\d{1,5}|ROUTING(_\w+)?|(?:ROUTING|R)(\d{1,3})|(?:GEO_ROUTING_)?IV(\d{3})")


def fault_named(name: str, carrier: str | None) -> Fault | None:
    """Return a fault by its name or a carrier's error code; None when that carrier has no such fault."""
    if match := _CODE.fullmatch(name.upper()):
        return Fault(_code(match), is_made=False, does="the carrier's error of that code", kind=Kind.REFUSAL)
    fault = _BY_NAME.get(name.lower())
    return fault if fault and (carrier is None or carrier in fault.carriers) else None


def _code(match: re.Match[str]) -> str:
    """Return the carrier's own spelling of an error code."""
    if match[2]:
        return f"ROUTING_{match[2]}"
    if match[3]:
        return f"GEO_ROUTING_IV{match[3]}"
    return "ROUTING_ERROR" if match[0] == "ROUTING" else match[0]


def magic_in(text: str) -> tuple[int | None, str] | None:
    """Return the parcel's rank and the fault's name that a magic reference asks for."""
    match = _MAGIC.fullmatch(" ".join(text.upper().split()))
    return (int(match[1]) if match[1] else None, match[2]) if match else None


def fault_table() -> str:
    """Return the table of faults as Markdown."""
    rows = [
        (f.name, " ".join(f.carriers), "yes" if f.is_made else "no", f"{f.delay_s:g} s" if f.delay_s else "", f.does)
        for f in FAULTS
    ]
    header = ["| fault | carrier | bought | delay | what happens |", "|---|---|---|---|---|"]
    return "\n".join([*header, *(f"| {' | '.join(row)} |" for row in rows)])

"""Answers of the tracking services: the recorded ones with other values, and trackers that get them."""

import json
import re
from collections.abc import Sequence
from datetime import datetime
from typing import Any
from xml.sax.saxutils import escape
from zoneinfo import ZoneInfo

from carriers import TRACKERS
from carriers.client import Limits
from carriers.tracking import Tracker, TrackingAnswer
from tests.carriers.conftest import Serve
from tests.carriers.support.servers import always, answer_file, http
from tests.carriers.support.shipments import CREDENTIALS, LENIENT

# The number that a request asks about, as each carrier has it.
ASKED_NUMBER = re.compile(rb'<skybillNumber>(\w+)<|"parcelNumber": "(\w+)"')
PARIS = ZoneInfo("Europe/Paris")
NUMBERS = {"alpha": "XU000000415FR", "beta": "6A12345678901"}
HISTORY = {
    "alpha": http(answer_file("alpha_history.xml")),
    "beta": http(answer_file("beta_timeline.json"), content_type="application/json"),
}

Details = dict[str, str]


def tracker(carrier: str, url: str, limits: Limits = LENIENT) -> Tracker:
    return TRACKERS[carrier](url, limits)


def told(serve: Serve, carrier: str, answer: bytes, number: str = "") -> TrackingAnswer:
    """Return what the tracker makes of an answer."""
    client = tracker(carrier, serve(always(answer)).url)
    return client.track(number or NUMBERS[carrier], CREDENTIALS[carrier])


def alpha_event(code: str, date: str, label: str, details: Details | None = None, **more: str) -> str:
    leaves = {"code": code, "eventDate": date, "eventLabel": label, **more}
    texts = [f"<{name}>{escape(value)}</{name}>" for name, value in leaves.items()]
    texts += [
        f"<infoCompList><name>{escape(name)}</name><value>{escape(value)}</value></infoCompList>"
        for name, value in (details or {}).items()
    ]
    return f"<events>{''.join(texts)}</events>"


def alpha_history(*events: str, number: str = NUMBERS["alpha"], code: str = "0", status: int = 200) -> bytes:
    """Return an answer of alpha with these events."""
    found = f"<listEventInfoComp>{''.join(events)}<skybillNumber>{number}</skybillNumber></listEventInfoComp>"
    result = f"<return><errorCode>{code}</errorCode>{found}</return>"
    operation = f'<t:trackSkybillV2Response xmlns:t="http://cxf.tracking.soap.chronopost.fr/">{result}'
    envelope = '<s:Envelope xmlns:s="http://schemas.xmlsoap.org/soap/envelope/"><s:Body>'
    body = f"{envelope}{operation}</t:trackSkybillV2Response></s:Body></s:Envelope>"
    return http(body.encode(), status)


def beta_event(code: str, date: str, label: str = "texte", **more: Any) -> dict[str, Any]:
    return {"code": code, "date": date, "labelLong": label, **more}


def beta_timeline(event: Any, status: int = 200, **parcel: Any) -> bytes:
    """Return an answer of beta with these events and other values of the parcel."""
    parcel = {"parcelNumber": NUMBERS["beta"], "event": event, **parcel}
    document = {"lang": "fr_FR", "status": [{"code": "0", "message": "OK"}], "parcel": parcel}
    return http(json.dumps(document).encode(), status, "application/json")


def beta_refusal(code: Any, status: int = 200) -> bytes:
    """Return an answer of beta without a parcel."""
    document = {"lang": "fr_FR", "status": [{"code": code, "message": f"text {code}"}], "parcel": None}
    return http(json.dumps(document).encode(), status, "application/json")


def history(carrier: str, number: str, events: Sequence[tuple[str, datetime, str]]) -> bytes:
    """Return a carrier's answer about a number with these codes, times and texts; beta's times are those of Paris."""
    if carrier == "alpha":
        return alpha_history(*(alpha_event(code, at.isoformat(), text) for code, at, text in events), number=number)
    if not events:
        return beta_refusal("105")
    local = [(code, at.astimezone(PARIS).replace(tzinfo=None).isoformat(), text) for code, at, text in events]
    return beta_timeline([beta_event(*each) for each in local], parcelNumber=number)

"""Requests to the sandbox: the ledger read, faults armed, parcels moved on, sent elsewhere and entered from there."""

from typing import Any

import requests

from carriers.sandbox.faults import BOTH
from carriers.sandbox.parcel import Parcel
from carriers.sandbox.server import SandboxServer

TIMEOUT_S = 60
# As the command prints them.
URL_PATHS = (
    "/alpha/shipping /alpha/tracking /alpha/points /alpha/quickcost /beta/2.0 /beta/points"
    " /beta/account/additionalinformations /beta/delivery/getDateLivraison /beta/tracking/timelineCompany /ledger /"
).split()
FOREIGN = {"alpha": "XU999999999FR", "beta": "6A88888888888"}  # numbers
# A new parcel's row of the ledger, but for what its order says.
NEW_ROW = {
    "reference": "LABEL0000000001",
    "weight_kg": 1.25,
    "parcel_rank": 1,
    "parcel_count": 1,
    "misrouted": False,
    "journey": "home",
    "pace": 1.0,
    "cancelled": False,
}
SESSION = requests.Session()  # keeps its connections
SESSION.trust_env = False  # no proxies, which are looked for at each request


def get(url: str, **params: str) -> Any:
    return SESSION.get(url, params=params, timeout=TIMEOUT_S).json()


def post(url: str, **kwargs: Any) -> requests.Response:
    return SESSION.post(url, timeout=TIMEOUT_S, **kwargs)


def ledger(sandbox: SandboxServer, **filters: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = get(f"{sandbox.url}/ledger", **filters)
    return rows


def sold(sandbox: SandboxServer, number: str) -> Parcel:
    """Return a sold parcel: its request, its label, its customs form."""
    parcels = (sandbox.state.ledger.parcel(carrier, number) for carrier in BOTH)
    return next(parcel for parcel in parcels if parcel)


def arm(sandbox: SandboxServer, fault: str, **more: Any) -> None:
    response = post(f"{sandbox.control_url}/faults", json={"fault": fault, **more})
    assert response.status_code == 201, response.text


def change(sandbox: SandboxServer, what: str, **content: Any) -> list[str]:
    """Change a parcel's way; return all that happened to it."""
    response = post(f"{sandbox.control_url}/{what}", json=content)
    assert response.status_code == 200, response.text
    events: list[str] = response.json()["events"]
    return events


def advance(sandbox: SandboxServer, number: str, steps: int = 1) -> list[str]:
    return change(sandbox, "advance", tracking_number=number, steps=steps)


def foreign(sandbox: SandboxServer, carrier: str, number: str = "", **content: Any) -> str:
    """Enter a parcel that was sold elsewhere; return its number."""
    number = number or FOREIGN[carrier]
    response = post(f"{sandbox.control_url}/parcel", json={"carrier": carrier, "tracking_number": number, **content})
    assert response.status_code == 201, response.text
    return number

"""Parcels of the sandbox that are moved on, sent elsewhere, and entered from elsewhere."""

from typing import Any

from carriers.sandbox.server import SandboxServer
from tests.carriers.sandbox.control import post

FOREIGN = {"alpha": "XU999999999FR", "beta": "6A88888888888"}


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

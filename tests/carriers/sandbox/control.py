"""Requests to the sandbox: the ledger read, faults armed."""

from typing import Any

import requests

from carriers.sandbox.server import SandboxServer

TIMEOUT_S = 60
# As the command prints them.
URL_PATHS = (
    "/alpha/shipping /alpha/tracking /alpha/points /alpha/quickcost /beta/2.0 /beta/points"
    " /beta/account/additionalinformations /beta/delivery/getDateLivraison /beta/tracking/timelineCompany /ledger /"
).split()
SESSION = requests.Session()  # keeps its connections
SESSION.trust_env = False  # no proxies, which are looked for at each request


def get(url: str, **params: str) -> Any:
    """Return the JSON at a URL."""
    return SESSION.get(url, params=params, timeout=TIMEOUT_S).json()


def post(url: str, **kwargs: Any) -> requests.Response:
    return SESSION.post(url, timeout=TIMEOUT_S, **kwargs)


def ledger(sandbox: SandboxServer, **filters: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = get(f"{sandbox.url}/ledger", **filters)
    return rows


def arm(sandbox: SandboxServer, fault: str, **more: Any) -> None:
    response = post(f"{sandbox.control_url}/faults", json={"fault": fault, **more})
    assert response.status_code == 201, response.text

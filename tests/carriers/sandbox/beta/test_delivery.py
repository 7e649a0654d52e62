"""beta's delivery service: the day of arrival, or a text that promises none."""

from typing import Any

import pytest

from carriers.sandbox.server import SandboxServer
from tests.carriers.sandbox.control import post

LOGIN = {"login": "804735", "password": "secret"}
DATA = {"zipCodeDest": "35000", "regateDepart": "690470", "depositDate": "2026-11-24"}


def ask(sandbox: SandboxServer, credentials: Any = LOGIN, **changes: Any) -> Any:
    return post(sandbox.urls["BETA_DELIVERY_URL"], json={"credentials": credentials, "data": DATA | changes})


def test_a_parcel_arrives_two_working_days_later(sandbox: SandboxServer) -> None:
    assert ask(sandbox).json() == {"errorCode": "OK", "message": "", "deliveryDate": "26/11/2026"}
    assert ask(sandbox, {"apiKey": "k-1"}, depositDate="2026-11-27").json()["deliveryDate"] == "30/11/2026"


@pytest.mark.parametrize(
    ("credentials", "changes"),
    [
        (LOGIN | {"login": "30000"}, {}),
        ({"apiKey": "NEW-1"}, {}),
        (LOGIN, {"zipCodeDest": "1000"}),
        (LOGIN, {"regateDepart": "000000"}),
        (LOGIN, {"depositDate": "24/11/2026"}),
        (LOGIN, {"depositDate": "2026-11-29"}),
    ],
)
def test_else_there_is_no_promise(sandbox: SandboxServer, credentials: Any, changes: dict[str, str]) -> None:
    answer = ask(sandbox, credentials, **changes).json()
    assert answer["errorCode"] != "OK"
    assert "deliveryDate" not in answer


def test_another_body_is_refused(sandbox: SandboxServer) -> None:
    assert "deliveryDate" not in post(sandbox.urls["BETA_DELIVERY_URL"], json={"credentials": LOGIN}).json()
    assert ask(sandbox, town="Rennes").status_code == 400

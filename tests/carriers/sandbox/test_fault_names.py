"""How a fault is asked for: by a magic reference, or armed at the control endpoint."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import requests

from carriers.sandbox.faults import FAULTS, Kind, fault_named, fault_table, magic_in
from tests.carriers.sandbox.orders import (
    TIMEOUT_S,
    Reply,
    alpha_buy,
    arm,
    beta_buy,
    ledger,
    linked,
    post,
)
from tests.carriers.sandbox.raw import buy

if TYPE_CHECKING:
    from carriers.sandbox.server import SandboxServer


@pytest.mark.parametrize("reference", ["FAULT CLOSEMADE", "fault closemade", " Fault  CloseMade "])
def test_a_magic_reference_is_read_in_any_case(sandbox: SandboxServer, reference: str) -> None:
    with pytest.raises(requests.ConnectionError):
        alpha_buy(sandbox, {"refValue.0.recipientRef": reference})
    assert len(ledger(sandbox)) == 1


def test_every_name_fits_a_magic_reference() -> None:
    for fault in FAULTS:
        reference = f"FAULT {fault.name.upper()}"
        assert len(reference) <= 15
        assert magic_in(reference) == (None, fault.name.upper())
        assert fault_named(fault.name, None) == fault
        assert f"| {fault.name} |" in fault_table()
        assert fault.kind is not Kind.REFUSAL or not fault.is_made


def test_an_armed_fault_waits_for_what_it_names(sandbox: SandboxServer) -> None:
    arm(sandbox, "30204", carrier="beta", reference="OTHER")
    arm(sandbox, "html503", carrier="beta", operation="checkGenerateLabel")
    arm(sandbox, "40015", carrier="beta", rank=2)

    assert alpha_buy(sandbox).code == "0"
    assert beta_buy(sandbox).response.status_code == 200
    assert beta_buy(sandbox, {"letter.service.orderNumber": "OTHER"}).codes == ["30204"]
    assert beta_buy(sandbox, operation="checkGenerateLabel").response.status_code == 503
    assert beta_buy(sandbox, linked(2, 3)).codes == ["40015"]


def test_faults_are_disarmed(sandbox: SandboxServer) -> None:
    arm(sandbox, "html502", count=2)
    (armed,) = requests.get(f"{sandbox.control_url}/faults", timeout=TIMEOUT_S).json()
    assert (armed["fault"], armed["count"], armed["carrier"]) == ("html502", 2, None)
    assert requests.delete(f"{sandbox.control_url}/faults", timeout=TIMEOUT_S).status_code == 200

    assert Reply(buy(sandbox, "alpha")).code == "0"


def test_an_invalid_request_is_refused_before_any_fault(sandbox: SandboxServer) -> None:
    arm(sandbox, "closemade")

    assert alpha_buy(sandbox, {"skybillValue.0.weight": "31"}).code == "33"
    assert ledger(sandbox) == []


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"[]",
        b'{"fault": "nothing"}',
        b"{}",
        b'{"fault": "hang", "carrier": "gamma"}',
        b'{"fault": "soapfault", "carrier": "beta"}',
        b'{"fault": "hang", "count": "1"}',
        b'{"fault": "hang", "count": true}',
        b'{"fault": "hang", "extra": 1}',
    ],
)
def test_what_is_no_fault_is_not_armed(sandbox: SandboxServer, content: bytes) -> None:
    response = post(f"{sandbox.control_url}/faults", data=content)

    assert response.status_code == 400
    assert response.json()["error"]
    assert Reply(buy(sandbox, "alpha")).code == "0"

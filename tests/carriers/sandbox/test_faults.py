"""Faults: asking for them by reference or control endpoint, and their effect on the ledger."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
import requests

from carriers.sandbox.faults import FAULTS, Kind, fault_named, fault_table, magic_in
from carriers.sandbox.server import SandboxServer
from tests.carriers.sandbox.alpha.orders import Reply, alpha_buy
from tests.carriers.sandbox.beta.orders import beta_buy, linked
from tests.carriers.sandbox.control import TIMEOUT_S, arm, get, ledger, post
from tests.carriers.sandbox.raw import CARRIERS, buy, raw_answer


@pytest.mark.parametrize(
    ("carrier", "name", "is_made"),
    [(c, fault.name, fault.is_made) for fault in FAULTS for c in fault.carriers if fault.kind is not Kind.CONTROL_ONLY],
)
def test_each_fault_leaves_a_purchase_as_its_row_says(
    sandbox: SandboxServer, carrier: str, name: str, is_made: bool
) -> None:
    arm(sandbox, name, carrier=carrier, count=1, delay_s=0.001)

    raw_answer(sandbox, carrier, limit=1, silence_s=TIMEOUT_S)

    assert len(ledger(sandbox)) == is_made
    assert buy(sandbox, carrier).status_code == 200, "the count of 1 is used up"


@pytest.mark.parametrize("carrier", CARRIERS)
def test_a_slow_carrier_answers_in_the_end(sandbox: SandboxServer, carrier: str) -> None:
    arm(sandbox, "slow", delay_s=0.1)
    started_at_s = time.monotonic()

    assert buy(sandbox, carrier).status_code == 200
    assert time.monotonic() - started_at_s >= 0.1


@pytest.mark.parametrize("carrier", CARRIERS)
def test_a_reset_breaks_off_what_waits_and_nothing_is_bought_afterwards(sandbox: SandboxServer, carrier: str) -> None:
    arm(sandbox, "slow", delay_s=30, count=1)
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(raw_answer, sandbox, carrier, silence_s=TIMEOUT_S)
        while get(f"{sandbox.control_url}/faults"):
            threading.Event().wait(0.01)
        post(f"{sandbox.control_url}/reset")
        assert waiting.result() == b""
    assert ledger(sandbox) == []


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
    (armed,) = get(f"{sandbox.control_url}/faults")
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
def test_a_malformed_fault_is_not_armed(sandbox: SandboxServer, content: bytes) -> None:
    response = post(f"{sandbox.control_url}/faults", data=content)

    assert response.status_code == 400
    assert response.json()["error"]
    assert Reply(buy(sandbox, "alpha")).code == "0"

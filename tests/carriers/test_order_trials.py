"""Trials of an order at the carrier: what is a yes, what is a refusal, and what is no answer."""

import json
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest

from carriers.errors import AddressRejected, RequestRejected
from carriers.shipment import Package
from carriers.trials import Stage, Trial
from tests.carriers.conftest import Clients, Serve
from tests.carriers.support.beta import JSON
from tests.carriers.support.sandbox import order
from tests.carriers.support.servers import always, http
from tests.carriers.support.shipments import CREDENTIALS, client, shipment


def message(code: str, kind: str = "ERROR") -> dict[str, Any]:
    return {"id": code, "type": kind, "messageContent": f"text {code}", "replacementValues": []}


def tried(serve: Serve, document: Any, status: int = 200) -> Trial:
    server, trial = serve(always(http(json.dumps(document).encode(), status, JSON))), Trial()
    client("beta", server.url).try_order(shipment("beta"), CREDENTIALS["beta"], trial)
    assert len(server.requests) == 1
    return trial


@pytest.mark.parametrize("messages", [[message("0", "INFOS")], [message("30204", "WARNING")]])
def test_a_message_without_an_error_is_a_yes(serve: Serve, messages: list[dict[str, Any]]) -> None:
    trial = tried(serve, {"messages": messages})
    assert (trial.asked, trial.refusal) == ([Stage.CARRIER], None)


@pytest.mark.parametrize("document", [{}, {"messages": []}, {"status": "up"}])
def test_an_answer_without_a_message_is_no_yes(serve: Serve, document: Any) -> None:
    assert tried(serve, document).asked == []


def test_a_yes_with_the_status_of_a_refusal_is_neither(serve: Serve) -> None:
    assert tried(serve, {"messages": [message("0", "INFOS")]}, 400).asked == []


@pytest.mark.parametrize("status", [200, 400])
def test_a_code_that_nobody_knows_is_a_refusal(serve: Serve, status: int) -> None:
    refusal = tried(serve, {"messages": [message("39999")]}, status).refusal
    assert type(refusal) is RequestRejected
    assert (refusal.carrier_code, refusal.carrier_text) == ("39999", "text 39999")


def test_all_messages_are_read(serve: Serve) -> None:
    codes = ("0", "39999", "30204", "30222", "30301")
    refusal = tried(serve, {"messages": [message(code) for code in codes]}, 400).refusal
    assert type(refusal) is AddressRejected
    found = [(error.carrier_code, error.field) for error in (refusal, *refusal.others)]
    assert found == [
        ("30204", "destinationAddress.address1"),
        ("30222", "destinationAddress.email"),
        ("30301", "parcels[0].weight"),
    ]


def test_each_parcel_is_asked_for_and_the_addresss_problem_is_told_once(serve: Serve) -> None:
    refused = {"messages": [message("30204"), message("30301")]}
    server = serve(always(http(json.dumps(refused).encode(), 400, JSON)))
    two = replace(shipment("beta"), packages=(Package(Decimal(1)), Package(Decimal(2))))
    beta = client("beta", server.url)
    expected = [
        ("30204", "destinationAddress.address1"),
        ("30301", "parcels[0].weight"),
        ("30301", "parcels[1].weight"),
    ]
    for _ in range(2):  # the second is of remembered verdicts
        trial = Trial()
        beta.try_order(two, CREDENTIALS["beta"], trial)
        assert trial.refusal is not None
        found = [(error.carrier_code, error.field) for error in (trial.refusal, *trial.refusal.others)]
        assert found == expected
    assert len(server.requests) == 2


@pytest.mark.parametrize(("country_code", "zip_code"), [("YT", "97600"), ("MF", "97150"), ("MC", "98000")])
def test_alpha_is_told_the_senders_country_by_its_own_code(clients: Clients, country_code: str, zip_code: str) -> None:
    ordered = order("alpha_express_world", sender={"country_code": country_code, "zip_code": zip_code})
    trial = Trial()
    clients["alpha"].try_order(ordered, CREDENTIALS["alpha"], trial)
    assert (trial.asked, trial.refusal) == ([Stage.CARRIER], None)

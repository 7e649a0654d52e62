"""The drills' short forms, on PostgreSQL: it is what production runs. `make drill` plays them on SQLite, too."""

import re

import pytest

from tests.support.processes import run_module


def run(name: str, *arguments: str) -> str:
    """Run a drill; return its output."""
    return run_module(name, *arguments, "--database", "postgresql")


# Of beta the points that alpha's protocol does not have, or that end otherwise: nobody can ask it what it has made.
BETAS = "call-second call-sent call-answered point-answered request-after over-before".split()


@pytest.mark.real_services
@pytest.mark.timeout(300)  # half of it are leases and waits
def test_a_service_killed_at_any_point_of_a_purchase_or_cancellation_loses_no_label_and_buys_none_twice() -> None:
    output = run("tests.drills.kill", "--rounds", "1", "--points", ",".join(f"beta:{point}" for point in BETAS))
    for bought in ("alpha: 42 keys, 31 bought", "beta: 10 keys, 5 bought"):
        assert f"{bought}, 0 bought twice, 0 bought and unknown to us" in output


@pytest.mark.real_services
def test_many_requests_with_one_key_at_once_buy_one_label() -> None:
    assert "0 faults" in run("tests.drills.concurrency", "--keys", "4")


@pytest.mark.real_services
def test_with_both_carriers_hanging_every_look_up_is_answered_and_excess_labels_are_refused_quickly() -> None:
    options = ["--what", "both", "--seconds", "1", "--threads", "8", "--concurrency", "1", "--clients", "12"]
    output = run_module("tests.drills.hung_carrier", *options)
    assert "0 faults" in output
    during = next(line for line in output.splitlines() if line.strip().startswith("during"))
    assert "100.00%" in during
    # 2 workers have a bulkhead of 1 for each carrier; only the calls that hang there write rows, and those made before.
    lines = re.findall(r"^ *(201|502 \w+) +(\d+) ", output, re.MULTILINE)
    made = {name: int(count) for name, count in lines}
    for carrier in ("ALPHA", "BETA"):
        assert 0 < made.get(f"502 {carrier}_OUTCOME_UNKNOWN", 0) <= 2, output
        assert f"502 {carrier}_UNAVAILABLE" in made, output
    written = sum(count for name, count in made.items() if not name.endswith("_UNAVAILABLE"))
    assert f"rows written: {written}; bought twice: 0" in output


@pytest.mark.real_services
def test_processes_that_deliver_and_a_receiver_that_are_killed_lose_no_event_and_invent_none() -> None:
    output = run("tests.drills.webhooks.kill", "--kills", "12")
    assert "0 never delivered, 0 delivered without a committed change, 0 subjects out of order" in output


@pytest.mark.real_services
def test_a_receiver_that_is_down_for_three_days_gets_everything_in_order() -> None:
    output = run("tests.drills.webhooks.down", "--pace", "40000", "--subjects", "20")
    assert "100 events, 100 received, 0 given up, 0 subjects not complete and in order" in output


@pytest.mark.real_services
def test_a_killed_background_process_loses_no_event_and_exceeds_no_limit() -> None:
    output = run("tests.drills.tracking", "--kills", "6", "--parcels", "10", "--step-s", "1")
    assert "0 lost, 0 doubled; 0 statuses differ" in output
    assert "0 faults" in output

"""The drills' short forms, on the database of the run."""

import re

import pytest

from tests.support.processes import run_module


def run(config: pytest.Config, name: str, *arguments: str) -> str:
    """Run a drill; return its output."""
    return run_module(name, *arguments, "--database", config.getoption("services"))


# Of beta the points that alpha's protocol does not have, or that end otherwise: nobody can ask it what it has made.
BETAS = "call-second,call-sent,call-answered,point-answered,request-after,over-before"


@pytest.mark.parametrize(
    ("carrier", "points", "bought"),
    [("alpha", [], "42 keys, 31 bought"), ("beta", ["--points", BETAS], "10 keys, 5 bought")],
)
def test_a_service_killed_at_any_point_of_a_purchase_or_cancellation_loses_no_label_and_buys_none_twice(
    pytestconfig: pytest.Config, carrier: str, points: list[str], bought: str
) -> None:
    output = run(pytestconfig, "tests.drills.kill", "--rounds", "1", "--carrier", carrier, *points)
    assert f"{bought}, 0 bought twice, 0 bought and unknown to us" in output


def test_many_requests_with_one_key_at_once_buy_one_label(pytestconfig: pytest.Config) -> None:
    assert "0 faults" in run(pytestconfig, "tests.drills.concurrency", "--keys", "4")


@pytest.mark.any_database
def test_what_random_orders_say_reaches_the_carriers_as_their_pages_have_it(pytestconfig: pytest.Config) -> None:
    output = run(pytestconfig, "tests.drills.random_orders", "--orders", "60")
    assert re.search(r"differences from the oracle +0\n", output), output


def test_nothing_of_a_test_shop_reaches_a_carrier_a_figure_or_a_file(pytestconfig: pytest.Config) -> None:
    output = run(pytestconfig, "tests.drills.modes", "--orders", "40")
    assert re.search(r"test shop's among them +0\n", output), output
    assert re.search(r"faults +0\n", output), output


def test_a_label_whose_row_is_lost_is_written_again_and_not_bought_again(pytestconfig: pytest.Config) -> None:
    output = run(pytestconfig, "tests.drills.edges", "row-lost-before-keeping")
    assert re.search(r"row-lost-before-keeping +6 +6 +0 +0 +0 +0 ", output), output


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


def test_processes_that_deliver_and_a_receiver_that_are_killed_lose_no_event_and_invent_none(
    pytestconfig: pytest.Config,
) -> None:
    output = run(pytestconfig, "tests.drills.webhooks.kill", "--kills", "12")
    assert "0 never delivered, 0 delivered without a committed change, 0 subjects out of order" in output


def test_a_receiver_that_is_down_for_three_days_gets_everything_in_order(pytestconfig: pytest.Config) -> None:
    output = run(pytestconfig, "tests.drills.webhooks.down", "--pace", "10000")
    assert "500 events, 500 received, 0 given up, 0 subjects not complete and in order" in output


def test_a_killed_background_process_loses_no_event_and_exceeds_no_limit(pytestconfig: pytest.Config) -> None:
    output = run(pytestconfig, "tests.drills.tracking", "--kills", "6", "--parcels", "10", "--step-s", "1")
    assert "0 lost, 0 doubled; 0 statuses differ" in output
    assert "0 faults" in output

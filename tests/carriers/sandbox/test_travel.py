"""The way of parcels: journeys as data, the faster clock, the control endpoints, and a restart."""

from contextlib import suppress
from typing import Any
from xml.etree import ElementTree as ET

import pytest
import requests

from carriers import alpha, beta
from carriers.sandbox.journeys import DEFAULT_PACE, JOURNEYS, LANGUAGES, TEXTS, asked_for, pace_of, steps
from carriers.sandbox.parcel import Change, Purchase, Way
from carriers.sandbox.server import SandboxServer
from tests.carriers.sandbox.alpha.orders import alpha_buy, track
from tests.carriers.sandbox.beta.orders import beta_buy
from tests.carriers.sandbox.control import advance, change, foreign, ledger, post

HOUR_S = 3600.0
CODES = {"alpha": alpha.tracking.CODES, "beta": beta.tracking.CODES}


def parcel(journey: str = "home", pace: float = 1.0) -> Purchase:
    return Purchase(
        carrier="alpha", tracking_number="XU1", made_at_s=1000.0, findable_at_s=0, journey=journey, pace=pace
    )


def happened(now_s: float, *changes: Change, **way: Any) -> list[tuple[str, float]]:
    return [(one.step.event, one.at_s) for one in Way(parcel(**way), changes, now_s).happened]


@pytest.mark.parametrize("journey", JOURNEYS)
def test_a_journey_begins_announced_and_goes_forward_by_listed_codes(journey: str) -> None:
    offsets = [step.offset_s for step in JOURNEYS[journey]]

    assert JOURNEYS[journey][0].event == "announced"
    assert offsets == sorted(set(offsets))
    assert offsets[0] == 0
    for carrier, codes in CODES.items():
        assert steps(journey, carrier)
        assert all(step.codes[carrier] in codes for step in steps(journey, carrier))


def test_every_event_has_a_text_in_every_language() -> None:
    assert {step.event for way in JOURNEYS.values() for step in way} == set(TEXTS)
    assert set(LANGUAGES) == {"fr_FR", "en_GB", "de_DE", "es_ES", "it_IT", "nl_NL"}
    assert all(text for texts in TEXTS.values() for text in texts.values())


def test_by_default_a_parcel_is_on_its_way_within_30_seconds_and_delivered_within_minutes() -> None:
    assert [event for event, _ in happened(1000.0, pace=DEFAULT_PACE)] == ["announced"]
    assert happened(1030.0, pace=DEFAULT_PACE)[-1] == ("first depot", 1030.0)
    assert happened(1120.0, pace=DEFAULT_PACE)[-1][0] == "delivered"


def test_an_event_is_never_in_the_future_and_keeps_its_time() -> None:
    for now_s in (1000.0, 1000.0 + 6 * HOUR_S, 1000.0 + 20 * HOUR_S, 1e9):
        told = happened(now_s)
        assert max(at_s for _, at_s in told) <= now_s
        assert told == happened(1e9)[: len(told)]


def test_steps_taken_at_once_happen_now_and_those_after_them_follow() -> None:
    skipped = Change(5000.0, steps=3)

    told = happened(5000.0, skipped)
    assert [event for event, _ in told] == ["announced", "handed in", "first depot", "on its way"]
    assert [at_s for _, at_s in told] == pytest.approx([1000.0, 4999.996, 4999.998, 5000.0], abs=1e-6)
    event, at_s = happened(5000.1 + 10 * HOUR_S, skipped)[-1]
    assert (event, round(at_s)) == ("last depot", 5000 + 10 * HOUR_S)
    assert len(happened(1e9, skipped)) == len(JOURNEYS["home"])
    assert len(happened(1e9, Change(5000.0, steps=100))) == len(JOURNEYS["home"])


def test_steps_after_steps_keep_their_order() -> None:
    times = [at_s for _, at_s in happened(1000.0, *[Change(1000.0, steps=2)] * 3)]

    assert times == sorted(set(times))
    assert len(times) == 7


def test_another_journey_leaves_what_happened() -> None:
    turned = Change(1000.0 + 31 * HOUR_S, journey="refused")
    before = happened(1000.0 + 31 * HOUR_S)

    after = happened(1e9, turned)

    assert after[: len(before)] == before
    assert [event for event, _ in after[len(before) :]] == ["refused", "on its way", "back at the sender"]


@pytest.mark.parametrize(
    ("text", "journey"),
    [("JOURNEY relay", "relay"), ("journey  Lost", "lost"), ("Bougies JOURNEY home", "home"), ("JOURNEYS", None)],
)
def test_a_reference_names_a_journey(text: str, journey: str | None) -> None:
    assert asked_for(text) == journey


@pytest.mark.parametrize("text", ["0", "-3", "inf", "nan", "quick"])
def test_a_pace_is_a_number_above_0(text: str) -> None:
    assert pace_of("") == DEFAULT_PACE
    assert pace_of("2.5") == 2.5
    with pytest.raises(ValueError, match=r"above 0|could not convert"):
        pace_of(text)


def test_the_reference_of_an_order_chooses_its_journey(sandbox: SandboxServer) -> None:
    alpha_buy(sandbox, {"refValue.0.recipientRef": "JOURNEY LOST"})
    beta_buy(sandbox, {"letter.sender.senderParcelRef": "JOURNEY refused"})
    beta_buy(sandbox)

    assert [row["journey"] for row in ledger(sandbox)] == ["lost", "refused", "home"]


@pytest.mark.parametrize("fault", ["RESETMADE", "CLOSEMADE", "EMPTY", "MADE502"])
def test_nobody_hands_in_a_parcel_whose_label_was_lost(sandbox: SandboxServer, fault: str) -> None:
    with suppress(requests.ConnectionError, AttributeError, ValueError, ET.ParseError):
        alpha_buy(sandbox, {"refValue.0.recipientRef": f"FAULT {fault}"})
    with suppress(requests.ConnectionError, AttributeError, ValueError):
        beta_buy(sandbox, {"letter.sender.senderParcelRef": f"FAULT {fault}"})

    assert [row["journey"] for row in ledger(sandbox)] == ["unsent", "unsent"]


@pytest.mark.parametrize("fault", ["MIXED", "WARNING"])
def test_a_label_of_an_odd_answer_is_handed_in(sandbox: SandboxServer, fault: str) -> None:
    beta_buy(sandbox, {"letter.sender.senderParcelRef": f"FAULT {fault}"})

    assert [row["journey"] for row in ledger(sandbox)] == ["home"]


def test_an_unknown_journey_is_refused(sandbox: SandboxServer) -> None:
    assert alpha_buy(sandbox, {"refValue.0.recipientRef": "JOURNEY MOON"}).code == "33"
    assert beta_buy(sandbox, {"letter.sender.senderParcelRef": "JOURNEY moon"}).response.status_code == 400
    assert ledger(sandbox) == []


def test_a_parcel_is_moved_and_sent_elsewhere(sandbox: SandboxServer) -> None:
    number = beta_buy(sandbox).number

    assert advance(sandbox, number) == ["announced", "handed in"]
    assert change(sandbox, "journey", tracking_number=number, journey="silent") == ["announced", "handed in"]
    assert advance(sandbox, number, 9)[2:] == ["last depot", "with the driver", "delivered"]


@pytest.mark.parametrize(
    ("what", "content", "status"),
    [
        ("advance", "{", 400),
        ("advance", [], 400),
        ("advance", {"tracking_number": 7}, 400),
        ("advance", {"tracking_number": "6A0"}, 404),
        ("advance", {"steps": 0}, 400),
        ("advance", {"steps": True}, 400),
        ("collect", "x", 400),
        ("collect", {"tracking_number": None}, 400),
        ("collect", {"tracking_number": "XU1"}, 404),
        ("journey", {"journey": "moon"}, 400),
        ("journey", {"journey": ["home"]}, 400),
        ("parcel", {"carrier": "gamma"}, 400),
        ("parcel", {"carrier": "beta", "tracking_number": ""}, 400),
        ("parcel", {"carrier": "beta", "tracking_number": "new", "pace": 0}, 400),
        ("parcel", {"carrier": "beta", "tracking_number": "new", "age_s": -1}, 400),
        ("parcel", {"carrier": "beta", "age_s": "1"}, 400),
        ("parcel", {"carrier": "beta", "tracking_number": "new", "more": 1}, 400),
        ("parcel", {"carrier": "beta", "tracking_number": "new", "journey": "moon"}, 400),
        ("parcel", [7], 400),
        ("parcel", {"carrier": "beta"}, 409),
    ],
)
def test_a_wrong_control_call_says_so_and_changes_nothing(
    sandbox: SandboxServer, what: str, content: Any, status: int
) -> None:
    number = beta_buy(sandbox).number
    if isinstance(content, dict):
        content = {"tracking_number": number, **content}

    response = post(f"{sandbox.control_url}/{what}", json=content)

    assert (response.status_code, list(response.json())) == (status, ["error"])
    assert len(ledger(sandbox)) == 1
    assert advance(sandbox, number) == ["announced", "handed in"]


def test_a_foreign_parcel_is_tracked_and_is_no_purchase(sandbox: SandboxServer) -> None:
    number = foreign(sandbox, "alpha", journey="relay", age_s=7 * HOUR_S, pace=1)

    assert track(sandbox, number).texts("code") == ["DC", "DB"]
    assert ledger(sandbox) == []
    many = [{"carrier": "beta", "tracking_number": f"6A{serial:011}"} for serial in range(500)]
    assert post(f"{sandbox.control_url}/parcel", json=many).json() == {"count": 500}

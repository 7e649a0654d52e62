"""alpha's tracking client, against recorded answers and answers that break its rules."""

import logging
import re
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from carriers.alpha.tracking import CODES
from carriers.errors import CarrierUnavailable
from carriers.tracking import Status
from tests.carriers.conftest import Serve
from tests.carriers.support.logs import text_of_records
from tests.carriers.support.servers import always, answer_file, body_of, http
from tests.carriers.support.tracking import HISTORY, NUMBERS, alpha_event, alpha_history, told, tracker
from tests.support.cases import in_one_test

PARIS = ZoneInfo("Europe/Paris")
NUMBER = NUMBERS["alpha"]
NOON = "2026-03-02T12:00:00+01:00"
ROBOT, RECORDED = b"<html><title>Just a moment...</title></html>", answer_file("alpha_history.xml")
LATER = "2026-03-02T13:00:00+01:00"


def test_a_recorded_history_is_read_whole(serve: Serve) -> None:
    answer = told(serve, "alpha", HISTORY["alpha"])

    assert answer.is_known
    assert [event.code for event in answer.events] == ["DC", "DB", "DY", "SC", "TS", "TS", "SD", "TA", "D"]
    assert [event.status for event in answer.events] == [
        Status.FULFILLED,
        *[Status.IN_TRANSIT] * 6,
        Status.OUT_FOR_DELIVERY,
        Status.DELIVERED,
    ]
    sorted_ = answer.events[3]
    assert sorted_.happened_at == datetime(2026, 3, 2, 18, 20, tzinfo=UTC)
    assert (sorted_.text, sorted_.place) == ("Tri effectué dans l'agence de départ", "69800 LYON CHRONOPOST")
    assert (sorted_.tracking_number, sorted_.is_listed) == (NUMBER, True)
    assert answer.expected_from == datetime(2026, 3, 3, 10, tzinfo=PARIS)
    assert answer.expected_until == datetime(2026, 3, 3, 12, tzinfo=PARIS)


def test_the_question_names_the_number_and_no_account(serve: Serve) -> None:
    server = serve(always(HISTORY["alpha"]))

    answer = tracker("alpha", server.url).track("xu 000 000 415 fr")

    body = body_of(server.requests[0]).decode()
    assert "<language>fr_FR</language><skybillNumber>XU000000415FR</skybillNumber>" in body
    assert "password" not in body
    assert answer.tracking_number == answer.events[0].tracking_number == "xu 000 000 415 fr"


def test_personal_details_are_neither_returned_nor_logged(serve: Serve, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)

    shown = repr(told(serve, "alpha", HISTORY["alpha"])) + text_of_records(caplog.records)

    assert "Livraison effectuée, remis à ***" in shown
    for secret in ("SYNTHÉTIQUE", "Synthétique", "4711A", "Imaginaire"):
        assert secret not in shown


@pytest.mark.parametrize("text", ["Avis à jo@mail.example", "Avis au 06 99 00 11 22", "Avis au +33699001122"])
def test_addresses_and_phone_numbers_in_a_text_are_masked(serve: Serve, text: str) -> None:
    (event,) = told(serve, "alpha", alpha_history(alpha_event("SM", NOON, text))).events

    assert event.text in ("Avis à ***", "Avis au ***")


@in_one_test(
    "code, label, status",
    [
        ("D", "Livraison effectuée", Status.DELIVERED),
        ("D", "LIVRAISON EFFECTUEE.", Status.DELIVERED),
        ("D", "Delivered", Status.DELIVERED),
        ("D", "", Status.DELIVERED),
        ("D", "Départ du colis de l'agence", Status.DELIVERED),
        ("D", "Colis en cours de livraison, retour au dépôt", Status.DELIVERED),
        ("D", "Destinataire informé par SMS ou mail", Status.DELIVERED),
        ("SC", "Le colis est arrivé sur notre site", Status.IN_TRANSIT),
        ("DC", "Votre envoi nous a été annoncé par Monsieur", Status.FULFILLED),
        ("P", "Colis pris en charge", Status.DELIVERY_FAILURE),
        ("R", "Le destinataire a déménagé", Status.RETURN_TO_SENDER),
        ("SM", "Message envoyé pour la livraison", None),
        ("ZZ", "Le colis est passé", None),
        # A listed code with a text that another code is known by has the status of that.
        ("D", "Colis en cours de livraison par le livreur", Status.OUT_FOR_DELIVERY),
        ("DC", "Livraison effectuée", Status.DELIVERED),
        ("TA", "livraison EFFECTUEE.", Status.DELIVERED),
        ("TS", "Echec de livraison suite à l'absence du destinataire.", Status.DELIVERY_FAILURE),
        ("SD", "Colis mis à disposition au point de retrait", Status.WAITING_FOR_PICKUP),
        ("SM", "Livraison effectuée", Status.DELIVERED),
        ("SC", "Colis en cours d'acheminement", Status.IN_TRANSIT),
        ("ZZ", "Livraison effectuée", None),
    ],
)
def test_the_code_decides_unless_its_text_is_another_codes(
    serve: Serve, code: str, label: str, status: Status | None
) -> None:
    (event,) = told(serve, "alpha", alpha_history(alpha_event(code, NOON, label))).events

    assert (event.code, event.text, event.status, event.is_listed) == (code, label, status, code != "ZZ")


# Copied from the page by hand.
PAGE = {
    Status.FULFILLED: "DC EA",
    Status.IN_TRANSIT: "DB DY PC SC EC TS O TP T TT EI SJ SD A2 AT I IA IS RO",
    Status.OUT_FOR_DELIVERY: "TA RB",
    Status.WAITING_FOR_PICKUP: "AB",
    Status.DELIVERED: "D RI",
    Status.DELIVERY_FAILURE: "P",
    Status.EXCEPTION: "SK",
    Status.RETURN_TO_SENDER: "R",
    None: "SM CL",
}


def test_every_code_of_the_page_has_its_status() -> None:
    assert {code: status for status, codes in PAGE.items() for code in codes.split()} == CODES


@pytest.mark.parametrize(("yes", "no"), [("true", "false"), ("1", "0")])  # both forms of XML's boolean
def test_of_equal_times_the_event_that_is_the_state_comes_last(serve: Serve, yes: str, no: str) -> None:
    state = alpha_event("D", NOON, "Livraison effectuée", highPriority=yes)
    other = alpha_event("TA", NOON, "Colis en cours de livraison", highPriority=no)

    events = told(serve, "alpha", alpha_history(state, other)).events

    assert [event.code for event in events] == ["TA", "D"]


@pytest.mark.parametrize(
    ("text", "alone", "after_the_arrival"),
    [
        ("Colis en cours de livraison au point de retrait", Status.OUT_FOR_DELIVERY, None),
        ("Livraison effectuée", Status.DELIVERED, Status.DELIVERED),  # another code's text
    ],
)
def test_the_way_to_the_point_changes_nothing_after_the_arrival_there(
    serve: Serve, text: str, alone: Status, after_the_arrival: Status | None
) -> None:
    arrived = alpha_event("AB", NOON, "Colis mis à disposition au point de retrait")
    message, told_late = alpha_event("SM", NOON, "Message envoyé"), alpha_event("RB", LATER, text)

    ways = [told_late], [message, told_late], [arrived, told_late]
    for events, status in zip(ways, (alone, alone, after_the_arrival), strict=True):
        assert told(serve, "alpha", alpha_history(*events)).events[-1].status is status


def test_nor_does_it_once_the_parcel_was_handed_over_at_the_point(serve: Serve) -> None:
    way = [alpha_event(code, NOON, f"text {code}") for code in ("AB", "SM", "RI", "SM")]
    told_late = alpha_event("RB", LATER, "Colis en cours de livraison au point de retrait")

    assert told(serve, "alpha", alpha_history(*way, told_late)).events[-1].status is None


@pytest.mark.parametrize("event", [None, b"", b"<events/>", b'<events xmlns:i="i" i:nil="true"> </events>'])
def test_a_number_without_events_is_not_known_yet(serve: Serve, event: bytes | None) -> None:
    history = alpha_history().replace(b"<listEventInfoComp>", b"<listEventInfoComp>" + (event or b""))
    if event is None:
        history = re.sub(b"<listEventInfoComp>.*</listEventInfoComp>", b"", history, flags=re.DOTALL)
    answer = told(serve, "alpha", http(body_of(history)))

    assert (answer.is_known, answer.events, answer.tracking_number) == (False, (), NUMBER)


@pytest.mark.parametrize("number", ["", "XU/..", "Ж" * 13, "X" * 36, "x\x00y"])
def test_what_cannot_be_a_number_is_unknown_without_a_question(serve: Serve, number: str) -> None:
    server = serve(always(HISTORY["alpha"]))

    assert not tracker("alpha", server.url).track(number).is_known
    assert server.requests == []


@pytest.mark.parametrize(
    ("details", "window"),
    [
        ({"Date de relivraison": "05/03/2026"}, ("2026-03-05T00:00", "2026-03-05T23:59:59")),
        (
            {"Début créneau RDV": "05/03/2026 10:00:00", "Fin créneau RDV": "05/03/2026 12:30"},
            ("2026-03-05T10:00", "2026-03-05T12:30"),
        ),
        ({"DATE DE RELIVRAISON": "05/03/2026"}, ("2026-03-05T00:00", "2026-03-05T23:59:59")),
        ({"Date de relivraison": "31/02/2026"}, None),
        ({"Date de relivraison": "31/12/9999"}, None),
        ({"Date de relivraison": "01/01/0001"}, None),
        ({"Début créneau RDV": "05/03/2026 12:00", "Fin créneau RDV": "05/03/2026 10:00"}, None),
        ({"Début créneau RDV": "05/03/2026 12:00"}, None),
        ({"Commentaire": "05/03/2026"}, ("2026-03-04T00:00", "2026-03-04T23:59:59")),
    ],
)
def test_the_newest_announcement_is_the_expected_delivery(
    serve: Serve, details: dict[str, str], window: tuple[str, str] | None
) -> None:
    earlier = alpha_event("CL", NOON, "Instruction de livraison reçue", {"Date de relivraison": "04/03/2026"})
    newest = alpha_event("CL", LATER, "Instruction de livraison reçue", details)

    answer = told(serve, "alpha", alpha_history(newest, earlier))

    expected = tuple(datetime.fromisoformat(text).replace(tzinfo=PARIS) for text in window) if window else (None, None)
    assert (answer.expected_from, answer.expected_until) == expected


@pytest.mark.parametrize("date", ["", "yesterday", "2026-13-01T00:00:00Z", "0001-01-01T00:00:00+14:00", "1999-12-31"])
def test_an_event_without_a_time_is_left_out(serve: Serve, date: str) -> None:
    history = alpha_history(alpha_event("DC", date, "x"), alpha_event("TS", NOON, "x"), alpha_event("", NOON, "x"))

    assert [event.code for event in told(serve, "alpha", history).events] == ["TS"]
    with pytest.raises(CarrierUnavailable, match="no event"):
        told(serve, "alpha", alpha_history(alpha_event("DC", date, "x")))


def test_an_event_that_is_far_ahead_is_left_out(serve: Serve) -> None:
    soon, late = (datetime.now(UTC) + timedelta(hours=hours) for hours in (1, 48))
    history = alpha_history(alpha_event("TS", soon.isoformat(), "x"), alpha_event("D", late.isoformat(), "x"))

    (event,) = told(serve, "alpha", history).events

    assert event.happened_at == soon.replace(microsecond=soon.microsecond // 1000 * 1000)


def test_texts_and_counts_are_bounded(serve: Serve) -> None:
    long = alpha_event("TS", NOON, "x" * 5000, officeLabel="y" * 5000)
    many = [alpha_event("TS", f"2026-03-02T10:{i // 60:02}:{i % 60:02}Z", "x") for i in range(600)]

    events = told(serve, "alpha", alpha_history(*many, long)).events

    assert len(events) == 500
    assert (len(events[-1].text), len(events[-1].place)) == (200, 100)
    assert events[0].happened_at.second == 41  # the oldest are left out


@pytest.mark.parametrize(
    ("answer", "status", "code", "is_failing"),
    [
        *((http(body, status), status, "", True) for status in (401, 403, 429) for body in (ROBOT, RECORDED)),
        (alpha_history(code="1"), 200, "1", True),
        (alpha_history(code="31"), 200, "31", False),
        (alpha_history(code="-7"), 200, "-7", False),
        (http(answer_file("alpha_fault.xml"), 500), 500, "Server", False),
        (alpha_history(alpha_event("D", NOON, "x"), number="XU000000007FR"), 200, "", True),  # of another parcel
    ],
)
def test_all_else_is_an_outage(serve: Serve, answer: bytes, status: int, code: str, is_failing: bool) -> None:
    with pytest.raises(CarrierUnavailable) as caught:
        told(serve, "alpha", answer)
    error = caught.value
    assert (error.http_status, error.carrier_code, error.is_carrier_failing) == (status, code, is_failing)

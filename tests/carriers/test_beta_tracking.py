"""beta's tracking client, against recorded answers and answers that break its rules."""

import json
import logging
from collections import Counter
from datetime import UTC, datetime
from typing import Any

import pytest

from carriers.beta.tracking import CODES
from carriers.errors import CarrierUnavailable, CredentialsRejected
from carriers.shipment import Credentials
from carriers.tracking import Status
from tests.carriers.conftest import Serve
from tests.carriers.support.logs import text_of_records
from tests.carriers.support.servers import always, body_of, http
from tests.carriers.support.shipments import CREDENTIALS
from tests.carriers.support.tracking import HISTORY, NUMBERS, beta_event, beta_refusal, beta_timeline, told, tracker

NUMBER = NUMBERS["beta"]
NOON = "2026-03-02T12:00:00"


def test_a_recorded_timeline_is_read_in_order(serve: Serve) -> None:
    answer = told(serve, "beta", HISTORY["beta"])

    assert (answer.is_known, answer.expected_from, answer.expected_until) == (True, None, None)
    assert [(event.code, event.status) for event in answer.events] == [
        ("PCHMQT", Status.FULFILLED),
        ("PCHCFM", Status.IN_TRANSIT),
        ("PCHTRI", Status.IN_TRANSIT),
    ]
    assert [event.place for event in answer.events] == ["", "69002 LYON BELLECOUR", "69125 PLATEFORME LYON"]
    assert answer.events[0].happened_at == datetime(2026, 3, 2, 8, 47, tzinfo=UTC)


@pytest.mark.parametrize(
    ("credentials", "contract"),
    [
        (CREDENTIALS["beta"], {"login": "804735", "password": "s3cret-Pass"}),
        (Credentials(api_key="key-1"), {"apiKey": "key-1"}),
        # The number belongs into every call, with a key, too.
        (Credentials("804735", api_key="key-1"), {"apiKey": "key-1", "login": "804735"}),
    ],
)
def test_the_question_has_the_contract_in_its_body(
    serve: Serve, credentials: Credentials, contract: dict[str, str]
) -> None:
    server = serve(always(HISTORY["beta"]))

    tracker("beta", server.url).track(NUMBER, credentials)

    body = json.loads(body_of(server.requests[0]))
    assert body == {"parcelNumber": NUMBER, "lang": "fr_FR", **contract}


@pytest.mark.parametrize("credentials", [None, Credentials(), Credentials("804735")])
def test_without_credentials_nothing_is_asked(serve: Serve, credentials: Credentials | None) -> None:
    server = serve(always(HISTORY["beta"]))

    with pytest.raises(CredentialsRejected):
        tracker("beta", server.url).track(NUMBER, credentials)
    assert server.requests == []


@pytest.mark.parametrize("name", ["Jeanne Synthétique", ["Jeanne Synthétique"]])
def test_the_consignee_is_neither_returned_nor_logged(
    name: Any, serve: Serve, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    history = json.loads(body_of(HISTORY["beta"]))
    history["parcel"]["consigneeInformation"]["name"] = name

    answer = http(json.dumps(history).encode(), content_type="application/json")
    shown = repr(told(serve, "beta", answer)) + text_of_records(caplog.records)

    assert "Votre colis pour *** est prêt à être expédié." in shown
    for secret in ("Jeanne", "Synthétique", "Imaginaire", "699001122", "s3cret"):
        assert secret not in shown


def test_the_table_of_codes_is_whole() -> None:
    counts = Counter(CODES.values())

    assert len(CODES) == 322
    assert counts == {
        Status.IN_TRANSIT: 95,
        None: 92,
        Status.RETURN_TO_SENDER: 40,
        Status.DELIVERY_FAILURE: 31,
        Status.EXCEPTION: 30,
        Status.DELIVERED: 13,
        Status.WAITING_FOR_PICKUP: 8,
        Status.OUT_FOR_DELIVERY: 6,
        Status.FULFILLED: 5,
        Status.RETURNED_TO_SENDER: 2,
    }


def test_one_event_may_come_as_an_object(serve: Serve) -> None:
    answer = told(serve, "beta", beta_timeline(beta_event("LIVCFM", NOON)))

    assert [event.status for event in answer.events] == [Status.DELIVERED]


@pytest.mark.parametrize("event", [None, [], "none", 7])
def test_a_parcel_without_events_is_known(serve: Serve, event: Any) -> None:
    answer = told(serve, "beta", beta_timeline(event))

    assert (answer.is_known, answer.events) == (True, ())


def test_equal_times_keep_the_order_given(serve: Serve) -> None:
    events = [beta_event(code, NOON) for code in ("PCHCFM", "AARCFM", "PRELIV")]

    answer = told(serve, "beta", beta_timeline([beta_event("LIVCFM", "2026-03-02T12:00:01"), *events]))

    assert [event.code for event in answer.events] == ["PCHCFM", "AARCFM", "PRELIV", "LIVCFM"]


@pytest.mark.parametrize(
    ("date", "utc"),
    [
        ("2026-03-29T02:30:00", "2026-03-29T01:30:00"),  # an hour that did not exist
        ("2025-10-26T02:30:00", "2025-10-26T00:30:00"),  # an hour that came twice: the first
        ("2026-07-01T12:00:00", "2026-07-01T10:00:00"),
        ("2026-07-01T12:00:00+00:00", "2026-07-01T12:00:00"),
        ("2026-07-01 12:00:00.1239", "2026-07-01T10:00:00.123000"),
    ],
)
def test_a_time_without_offset_is_local_in_paris(serve: Serve, date: str, utc: str) -> None:
    (event,) = told(serve, "beta", beta_timeline(beta_event("PCHCFM", date))).events

    assert event.happened_at == datetime.fromisoformat(utc).replace(tzinfo=UTC)


def steps(*active: Any, name: str = "stepId") -> list[dict[str, Any]]:
    return [{name: id_, "status": "STEP_STATUS_ACTIVE"} for id_ in active] + [
        {name: 5, "status": "STEP_STATUS_DISABLED"}
    ]


@pytest.mark.parametrize(
    ("active", "status"),
    [
        ((0,), Status.FULFILLED),
        ((0, 1, 2, 3), Status.IN_TRANSIT),
        (("0", "4"), Status.OUT_FOR_DELIVERY),
        ((5,), Status.DELIVERED),
        ((), None),
        ((9, None, [], -1), None),
    ],
)
@pytest.mark.parametrize("name", ["stepId", "id"])
def test_an_unlisted_code_takes_the_status_of_the_highest_active_step(
    serve: Serve, active: tuple[Any, ...], status: Status | None, name: str
) -> None:
    older = beta_event("XXXXXX", "2026-03-01T12:00:00")
    timeline = beta_timeline([beta_event("YYYYYY", NOON), older], step=steps(*active, name=name))

    first, last = told(serve, "beta", timeline).events

    assert (first.code, first.status, first.is_listed) == ("XXXXXX", None, False)
    assert (last.code, last.status, last.is_listed) == ("YYYYYY", status, False)


def test_a_listed_code_is_not_overruled_by_a_step(serve: Serve) -> None:
    unlisted_before = [beta_event("XXXXXX", "2026-03-01T12:00:00"), beta_event("PCHCFM", NOON)]

    events = told(serve, "beta", beta_timeline(unlisted_before, step=steps(5))).events

    assert [event.status for event in events] == [None, Status.IN_TRANSIT]


def test_an_event_that_changes_nothing_leaves_the_step_to_an_unlisted_code_before_it(serve: Serve) -> None:
    codes = ("PCHCFM", "XXXXXX", "YYYYYY", "EMLRES", "PREAVI")
    told_at = [beta_event(code, f"2026-03-02T12:00:0{rank}") for rank, code in enumerate(codes)]

    events = told(serve, "beta", beta_timeline(told_at, step=steps(4))).events

    assert [event.status for event in events] == [Status.IN_TRANSIT, None, Status.OUT_FOR_DELIVERY, None, None]


@pytest.mark.parametrize("code", ["101", "103", "104", "105", 105])
@pytest.mark.parametrize("status", [200, 400, 404])
def test_a_number_that_the_carrier_says_nothing_about_is_unknown(serve: Serve, code: Any, status: int) -> None:
    answer = told(serve, "beta", beta_refusal(code, status))

    assert (answer.is_known, answer.events, answer.tracking_number) == (False, (), NUMBER)


def test_found_without_a_parcel_is_unknown(serve: Serve) -> None:
    assert not told(serve, "beta", beta_refusal("0")).is_known


@pytest.mark.parametrize(("code", "status"), [("201", 200), (202, 200), ("201", 401), ("202", 403), ("999", 401)])
def test_refused_credentials_say_so_and_do_not_count_as_a_failing_carrier(serve: Serve, code: Any, status: int) -> None:
    with pytest.raises(CredentialsRejected) as caught:
        told(serve, "beta", beta_refusal(code, status))
    assert not caught.value.is_carrier_failing
    assert caught.value.carrier_code == str(code)


@pytest.mark.parametrize(
    ("answer", "is_failing"),
    [
        (beta_refusal("1000"), True),
        (beta_refusal("105", 500), True),
        (http(b'{"status": [{"code": "0"}]}', 429), True),
        (http(b"<html>Just a moment...</html>", 403), True),
        (http(b"<html>Just a moment...</html>", 200), True),
        (beta_refusal("777"), False),
        (beta_timeline(beta_event("LIVCFM", NOON), 400), False),
        (beta_timeline(beta_event("LIVCFM", NOON), parcelNumber="6A00000000000"), True),
        (beta_timeline(beta_event("LIVCFM", NOON), parcelNumber=None), True),
        (beta_timeline([beta_event("LIVCFM", "soon"), beta_event("", NOON), "x"]), True),
    ],
)
def test_all_else_is_an_outage(serve: Serve, answer: bytes, is_failing: bool) -> None:
    with pytest.raises(CarrierUnavailable) as caught:
        told(serve, "beta", answer)
    assert caught.value.is_carrier_failing is is_failing


def test_a_parcel_is_found_by_its_partners_number(serve: Serve) -> None:
    abroad = {"partnerReference": "05212345678901X", "partnerName": "X"}

    answer = told(serve, "beta", beta_timeline(beta_event("LIVEXP", NOON), infoInter=abroad), "05212345678901X")

    assert [event.tracking_number for event in answer.events] == ["05212345678901X"]


# Deposits at a post office


@pytest.mark.parametrize(
    ("arrived", "until"),
    [
        ("2026-03-02T12:00:00", datetime(2026, 3, 13, 11, 0, tzinfo=UTC)),  # a Monday to the Friday of the next week
        ("2026-03-01T12:00:00", datetime(2026, 3, 12, 11, 0, tzinfo=UTC)),  # a Sunday
        ("2026-03-07T12:00:00", datetime(2026, 3, 19, 11, 0, tzinfo=UTC)),  # a Saturday
        ("2026-03-20T12:00:00", datetime(2026, 4, 1, 10, 0, tzinfo=UTC)),  # over the beginning of summer time
    ],
)
def test_a_post_office_keeps_a_parcel_for_ten_working_days(serve: Serve, arrived: str, until: datetime) -> None:
    (event,) = told(serve, "beta", beta_timeline(beta_event("AARBPR", arrived))).events

    assert event.kept_until == until


@pytest.mark.parametrize(
    ("code", "text", "is_told"),
    [
        ("AARREL", "Votre colis est disponible en point relais", False),
        ("AARRLX", "Votre colis vous attend dans votre Bureau de Poste", True),
        ("RENAPR", "Votre colis est disponible", False),
        ("PCHTRI", "Votre colis part vers le bureau de poste", False),
        ("QQQQQQ", "Votre colis est au bureau de poste", False),
    ],
)
def test_elsewhere_the_end_is_told_only_if_the_text_names_a_post_office(
    serve: Serve, code: str, text: str, is_told: bool
) -> None:
    (event,) = told(serve, "beta", beta_timeline(beta_event(code, "2026-03-02T12:00:00", text))).events

    assert (event.kept_until is not None) == is_told

"""alpha's tracking service: search by reference, cancellation, events."""

from dataclasses import replace
from datetime import datetime

import pytest

from carriers.products import PARIS
from carriers.sandbox.alpha.tracking import MINUTE
from carriers.sandbox.journeys import TEXTS
from carriers.sandbox.server import SandboxServer
from tests.carriers.sandbox.alpha.orders import BUY, alpha_buy, alpha_call, cancel, search, track
from tests.carriers.sandbox.control import advance, arm, foreign, ledger, post


def test_the_search_may_need_time_to_find_a_parcel(sandbox: SandboxServer) -> None:
    alpha_buy(sandbox)

    arm(sandbox, "unfound", delay_s=60, count=1)
    assert search(sandbox).texts("skybillNumber") == []
    arm(sandbox, "unfound", delay_s=0, count=1)
    assert len(search(sandbox).texts("skybillNumber")) == 1


@pytest.mark.parametrize("account", ["1", "12000030"])
def test_the_credentials_are_checked(sandbox: SandboxServer, account: str) -> None:
    assert search(sandbox, account=account).code in ("30", "32")
    assert cancel(sandbox, "XU000000005FR", account=account).code in ("30", "32")


def test_an_empty_reference_is_refused(sandbox: SandboxServer) -> None:
    assert search(sandbox, "").code == "31"


def test_a_whole_history_is_listed_oldest_first(sandbox: SandboxServer) -> None:
    (number,) = alpha_buy(sandbox).texts("skybillNumber")
    advance(sandbox, number, 20)

    reply = track(sandbox, number)

    assert reply.texts("code") == ["DC", "DB", "SC", "TS", "SD", "SM", "TA", "D"]
    assert reply.texts("eventDate") == sorted(reply.texts("eventDate"))
    assert reply.texts("highPriority") == ["false"] * 7 + ["true"]
    assert reply.texts("skybillNumber") == [number]
    assert reply.texts("name") == [
        "Début créneau RDV", "Fin créneau RDV", "Nom du réceptionnaire", "Commentaire",
    ]  # fmt: skip
    assert search(sandbox).texts("code") == reply.texts("code")


def test_a_parcel_that_comes_at_the_first_attempt_keeps_its_appointment(sandbox: SandboxServer) -> None:
    number = foreign(sandbox, "alpha", age_s=40 * 3600, pace=1)

    reply = track(sandbox, number)

    start, end = (datetime.strptime(value, MINUTE).replace(tzinfo=PARIS) for value in reply.texts("value")[:2])
    assert start <= datetime.fromisoformat(reply.texts("eventDate")[-1]) <= end


@pytest.mark.parametrize(
    ("language", "text"),
    [("fr_FR", "Colis en cours de préparation chez l'expéditeur"), ("nl_NL", TEXTS["announced"]["nl_NL"])],
)
def test_texts_are_in_the_language_asked(sandbox: SandboxServer, language: str, text: str) -> None:
    (number,) = alpha_buy(sandbox).texts("skybillNumber")

    assert track(sandbox, number, language).texts("eventLabel") == [text]


@pytest.mark.parametrize(("language", "number"), [("french", "XU000000005FR"), ("", "XU000000005FR"), ("fr_FR", "")])
def test_what_cannot_be_tracked_is_the_documented_error(sandbox: SandboxServer, language: str, number: str) -> None:
    assert track(sandbox, number, language).code == "1"


def test_a_cancelled_parcel_stays_announced(sandbox: SandboxServer) -> None:
    (number,) = alpha_buy(sandbox).texts("skybillNumber")
    bought = sandbox.state.ledger.purchase("alpha", number)
    assert cancel(sandbox, number).code == "0"
    assert bought
    # The same purchase on a clock so fast that it would be delivered by now.
    sandbox.state.ledger.register([replace(bought, pace=1e9)])

    assert track(sandbox, number).texts("code") == ["DC"]


@pytest.mark.parametrize(
    ("operation", "children"),
    [
        ("trackSkybillV2", {"language": "fr_FR"}),
        ("trackSkybillV2", {"skybillNumber": "1", "language": "fr_FR"}),
        ("trackSkybillV2", {"language": "fr_FR", "skybillNumber": "1", "extra": "1"}),
        (BUY, {}),  # of the shipping service
    ],
)
def test_operations_and_their_children_are_exactly_the_documented_ones(
    sandbox: SandboxServer, operation: str, children: dict[str, str]
) -> None:
    assert alpha_call(sandbox, "ALPHA_TRACKING_URL", operation, children).response.status_code == 500


def test_a_young_parcel_has_no_events_and_is_neither_found_nor_cancelled(sandbox: SandboxServer) -> None:
    arm(sandbox, "young", count=1, delay_s=60)
    (young,) = alpha_buy(sandbox).texts("skybillNumber")

    assert track(sandbox, young).texts("code") == search(sandbox).texts("skybillNumber") == []
    refused = cancel(sandbox, young)
    assert (refused.code, refused.texts("statusCode")) == ("2", ["0"])
    assert refused.texts("errorMessage") == cancel(sandbox, "XU000000005FR").texts("errorMessage")


def test_a_parcel_that_was_collected_or_is_on_its_way_is_not_cancelled(sandbox: SandboxServer) -> None:
    arm(sandbox, "collected", count=1)
    first, second, third = (alpha_buy(sandbox).texts("skybillNumber")[0] for _ in range(3))
    assert cancel(sandbox, first).code == "3"
    advance(sandbox, third)
    assert cancel(sandbox, third).code == "3"

    response = post(f"{sandbox.control_url}/collect", json={"tracking_number": second})
    assert response.status_code == 200
    assert cancel(sandbox, second).code == "3"
    assert [row["cancelled"] for row in ledger(sandbox)] == [False] * 3


def test_a_successful_cancellation_has_no_message(sandbox: SandboxServer) -> None:
    reply = cancel(sandbox, alpha_buy(sandbox).texts("skybillNumber")[0])

    assert (reply.code, reply.texts("statusCode"), reply.texts("errorMessage")) == ("0", ["0"], [])


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ("1", "System error"),
        ("2", "the parcel is not this contract's, or not registered yet"),
        ("3", "the parcel is taken in charge"),
        ("30", "invalid contract number"),
    ],
)
def test_an_armed_code_comes_in_this_services_words(sandbox: SandboxServer, code: str, text: str) -> None:
    arm(sandbox, code, carrier="alpha", operation="cancelSkybill")
    reply = cancel(sandbox, alpha_buy(sandbox).texts("skybillNumber")[0])
    assert (reply.code, reply.texts("errorMessage")) == (code, [text])

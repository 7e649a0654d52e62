"""beta's tracking service: whole timelines, and its errors."""

from typing import Any

import pytest
import requests

from carriers.sandbox.beta.timeline import MESSAGES
from carriers.sandbox.server import SandboxServer
from tests.carriers.sandbox.beta.orders import beta_buy, beta_to
from tests.carriers.sandbox.control import TIMEOUT_S, advance, arm, foreign, post

CONTRACT = {"login": "123456", "password": "secret"}
NOBODYS = "6A00000000001"


def ask(sandbox: SandboxServer, number: str, **changes: Any) -> dict[str, Any]:
    body = {**CONTRACT, "parcelNumber": number, "lang": "fr_FR", **changes}
    response = post(
        sandbox.urls["BETA_TRACKING_URL"], json={name: value for name, value in body.items() if value is not None}
    )
    assert response.status_code == 200, response.text
    answer: dict[str, Any] = response.json()
    return answer


def code_of(answer: dict[str, Any]) -> str:
    assert (answer["parcel"] is None) == (answer["status"][0]["code"] != "0")
    return str(answer["status"][0]["code"])


def test_a_parcel_that_was_bought_is_announced(sandbox: SandboxServer) -> None:
    bought = beta_buy(sandbox)

    answer = ask(sandbox, bought.number)

    assert (code_of(answer), answer["lang"]) == ("0", "fr_FR")
    parcel = answer["parcel"]
    assert parcel["parcelNumber"] == bought.number
    assert parcel["event"]["code"] == "PCHMQT"  # one event is no list
    assert "+" not in parcel["event"]["date"]
    assert [step["status"] for step in parcel["step"]] == [
        "STEP_STATUS_ACTIVE",
        *["STEP_STATUS_INACTIVE"] * 4,
        "STEP_STATUS_DISABLED",
    ]


def test_a_delivered_parcel_has_all_its_events_in_no_order(sandbox: SandboxServer) -> None:
    number = beta_buy(sandbox).number
    advance(sandbox, number, 20)

    parcel = ask(sandbox, number)["parcel"]

    dates = [event["date"] for event in parcel["event"]]
    assert sorted(event["code"] for event in parcel["event"]) == sorted(
        ["PCHMQT", "PCHCFM", "PCHTRI", "ECHCFM", "AARCFM", "PRELIV", "LIVCFM"]
    )
    assert dates != sorted(dates)
    assert {step["status"] for step in parcel["step"]} == {"STEP_STATUS_ACTIVE"}
    assert {type(event.get("siteZipCode")) for event in parcel["event"]} == {type(None), str, int}


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("fr_FR", "Colis en cours de préparation chez l'expéditeur"),
        ("en_GB", "The sender is preparing the parcel"),
        ("de_DE", "Sendung wird beim Absender vorbereitet"),
    ],
)
def test_texts_are_in_the_language_asked(sandbox: SandboxServer, language: str, text: str) -> None:
    answer = ask(sandbox, beta_buy(sandbox).number, lang=language)

    assert answer["parcel"]["event"]["labelLong"] == text


@pytest.mark.parametrize(
    ("code", "changes"),
    [
        ("105", {"parcelNumber": NOBODYS}),
        ("101", {"parcelNumber": "6A1"}),
        ("101", {"parcelNumber": None}),
        ("101", {"parcelNumber": 12345678901}),
        ("101", {"lang": "french"}),
        ("101", {"lang": None}),
        ("101", {"more": "x"}),
        ("104", {"login": "999999"}),
        ("104", {"apiKey": "another-key", "login": None, "password": None}),
        ("104", {"apiKey": "another-key", "login": "999999", "password": None}),
        ("201", {"login": None}),
        ("201", {"password": None}),
        ("201", {"login": "130000"}),
        ("201", {"apiKey": "key30007"}),
        ("202", {"login": "130008"}),
        ("202", {"apiKey": "key30009"}),
    ],
)
def test_a_mistake_is_an_error_code(sandbox: SandboxServer, code: str, changes: dict[str, Any]) -> None:
    assert code_of(ask(sandbox, beta_buy(sandbox).number, **changes)) == code


def test_a_parcel_abroad_is_found_by_its_partners_reference(sandbox: SandboxServer) -> None:
    abroad, home = beta_buy(sandbox, beta_to("DE", "10115", "DOS")).number, beta_buy(sandbox).number

    parcel = ask(sandbox, abroad)["parcel"]

    assert ask(sandbox, parcel["infoInter"]["partnerReference"])["parcel"] == parcel
    assert ask(sandbox, home)["parcel"]["infoInter"]["partnerReference"] is None
    assert code_of(ask(sandbox, f"P{home}")) == "105"


def test_an_api_key_sees_its_own_parcels(sandbox: SandboxServer) -> None:
    changes = {"contractNumber": None, "password": None}
    number = beta_buy(sandbox, changes, apiKey="key-1234").number

    assert code_of(ask(sandbox, number, login=None, password=None, apiKey="key-1234")) == "0"
    assert code_of(ask(sandbox, number, apiKey="key-1234")) == "0"
    assert code_of(ask(sandbox, number)) == "104"


def test_an_accounts_number_beside_an_api_key_shows_what_its_contract_bought(sandbox: SandboxServer) -> None:
    number = beta_buy(sandbox).number

    assert code_of(ask(sandbox, number, password=None, apiKey="key-1234")) == "0"


def test_a_foreign_parcel_is_everybodys_until_it_is_too_old(sandbox: SandboxServer) -> None:
    day_s = 24 * 3600
    young = foreign(sandbox, "beta", "6A77777777777", age_s=89 * day_s)
    old = foreign(sandbox, "beta", "6A66666666666", age_s=91 * day_s)

    assert code_of(ask(sandbox, young)) == code_of(ask(sandbox, young, login="999999")) == "0"
    assert code_of(ask(sandbox, old)) == "103"


@pytest.mark.parametrize("code", [code for code in MESSAGES if code])
def test_every_error_can_be_provoked(sandbox: SandboxServer, code: int) -> None:
    number = beta_buy(sandbox).number

    assert code_of(ask(sandbox, f"6A9999999{code:04}")) == str(code)
    arm(sandbox, str(code), operation="timelineCompany", count=1)
    assert code_of(ask(sandbox, number)) == str(code)
    assert code_of(ask(sandbox, number)) == "0"


def test_a_parcel_that_is_late_is_unknown(sandbox: SandboxServer) -> None:
    arm(sandbox, "late", count=1, delay_s=60)
    with pytest.raises(requests.ConnectionError):
        beta_buy(sandbox)
    (row,) = requests.get(f"{sandbox.url}/ledger", timeout=TIMEOUT_S).json()

    assert code_of(ask(sandbox, row["tracking_number"])) == "105"


def test_other_bodies_and_methods_are_refused(sandbox: SandboxServer) -> None:
    for body in (b"x", b"[]", b"[" * 100_000):
        answer = post(sandbox.urls["BETA_TRACKING_URL"], data=body, headers={"Content-Type": "application/json"})
        assert code_of(answer.json()) == "101"
    assert code_of(post(sandbox.urls["BETA_TRACKING_URL"], data=b"{}").json()) == "101"
    assert requests.get(sandbox.urls["BETA_TRACKING_URL"], timeout=TIMEOUT_S).status_code == 405

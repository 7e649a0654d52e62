"""beta's services of accounts, delivery days and deposit slips."""

import time
from typing import Any

import pytest

from carriers.sandbox.server import SandboxServer
from tests.carriers.sandbox.beta.orders import BetaReply, beta_buy
from tests.carriers.sandbox.changes import GONE
from tests.carriers.sandbox.control import arm, post
from tests.carriers.support.pdfs import texts

LOGIN = {"login": "804735", "password": "secret"}


def ask(sandbox: SandboxServer, credential: Any, **more: Any) -> Any:
    return post(sandbox.urls["BETA_ACCOUNT_URL"], json={"credential": credential, **more})


@pytest.mark.parametrize("credential", [LOGIN, {"apiKey": "key-1"}])
def test_an_account_is_described(sandbox: SandboxServer, credential: dict[str, str]) -> None:
    facts = ask(sandbox, credential).json()
    assert (facts["provider"], facts["statutHD"], facts["cgv"]) == ("COLISSIMO-V1", True, {"accepted": True})
    assert facts["siteDepotList"] == [{"codeRegate": "690470", "libellepfc": "LYON MONTROCHET PFC"}]
    assert facts["messageErreur"] is None


def test_an_account_of_the_newer_kind_is_described_to_who_says_its_number(sandbox: SandboxServer) -> None:
    assert ask(sandbox, {"apiKey": "NEW-1"}).json() == {"provider": "COLISSIMO-V2", "messageErreur": None}
    whole = ask(sandbox, {"apiKey": "NEW-1"}, partnerClientCode="804735").json()
    assert (whole["provider"], whole["statutHD"]) == ("COLISSIMO-V2", True)


@pytest.mark.parametrize(
    "credential", [{}, {"login": "804735"}, {"apiKey": ""}, {"apiKey": "key-30000"}, LOGIN | {"login": "30007"}]
)
def test_wrong_credentials_are_refused(sandbox: SandboxServer, credential: dict[str, str]) -> None:
    response = ask(sandbox, credential)
    assert (response.status_code, response.json()) == (200, {"messageErreur": "Wrong login, password or key"})


@pytest.mark.parametrize(
    "body", [[], {"credential": "x"}, {"credential": LOGIN | {"pin": "1"}}, {"credential": {"login": 1}}]
)
def test_another_body_is_refused(sandbox: SandboxServer, body: Any) -> None:
    assert post(sandbox.urls["BETA_ACCOUNT_URL"], json=body).status_code == 400


def test_faults_are_met(sandbox: SandboxServer) -> None:
    arm(sandbox, "html503", operation="additionalinformations", count=1)
    assert ask(sandbox, LOGIN).status_code == 503
    assert ask(sandbox, LOGIN).status_code == 200


# The delivery service: the day of arrival, or a text that promises none

DATA = {"zipCodeDest": "35000", "regateDepart": "690470", "depositDate": "2026-11-24"}


def day(sandbox: SandboxServer, credentials: Any = LOGIN, **changes: Any) -> Any:
    return post(sandbox.urls["BETA_DELIVERY_URL"], json={"credentials": credentials, "data": DATA | changes})


def test_a_parcel_arrives_two_working_days_later(sandbox: SandboxServer) -> None:
    assert day(sandbox).json() == {"errorCode": "OK", "message": "", "deliveryDate": "26/11/2026"}
    assert day(sandbox, {"apiKey": "k-1"}, depositDate="2026-11-27").json()["deliveryDate"] == "30/11/2026"


@pytest.mark.parametrize(
    ("credentials", "changes"),
    [
        (LOGIN | {"login": "30000"}, {}),
        ({"apiKey": "NEW-1"}, {}),
        (LOGIN, {"zipCodeDest": "1000"}),
        (LOGIN, {"regateDepart": "000000"}),
        (LOGIN, {"depositDate": "24/11/2026"}),
        (LOGIN, {"depositDate": "2026-11-29"}),
    ],
)
def test_else_there_is_no_promise(sandbox: SandboxServer, credentials: Any, changes: dict[str, str]) -> None:
    answer = day(sandbox, credentials, **changes).json()
    assert answer["errorCode"] != "OK"
    assert "deliveryDate" not in answer


def test_another_question_for_a_day_is_refused(sandbox: SandboxServer) -> None:
    assert "deliveryDate" not in post(sandbox.urls["BETA_DELIVERY_URL"], json={"credentials": LOGIN}).json()
    assert day(sandbox, town="Rennes").status_code == 400


# Deposit slips


def slip(
    sandbox: SandboxServer, numbers: Any, api_key: str = "", version: str = "2.0", **credentials: Any
) -> BetaReply:
    body = {"generateBordereauParcelNumberList": {"parcelsNumbers": numbers}, **credentials}
    headers = {"apiKey": api_key} if api_key else {}
    url = f"{sandbox.url}/beta/{version}/generateBordereauByParcelsNumbers"
    return BetaReply(post(url, json=body, headers=headers))


OWN = {"contractNumber": "123456", "password": "secret"}


@pytest.mark.parametrize("version", ["2.0", "3.1"])
def test_a_slip_lists_its_parcels(sandbox: SandboxServer, version: str) -> None:
    numbers = [beta_buy(sandbox).number for _ in range(3)]

    reply = slip(sandbox, numbers, version=version, **OWN)

    assert list(reply.parts) == ["jsonInfos", "deliveryPaper"]
    header = reply.infos["bordereauHeader"]
    assert isinstance(header["bordereauNumber"], int)
    assert abs(header["publishingDate"] - time.time() * 1000) < 60_000
    assert (header["numberOfParcels"], header["clientNumber"]) == (3, "123456")
    (text,) = texts(reply.parts["deliveryPaper"])
    assert all(number in text for number in numbers)


def test_an_api_key_names_the_account_too(sandbox: SandboxServer) -> None:
    number = beta_buy(sandbox, {"contractNumber": GONE, "password": GONE}, apiKey="key-of-1234").number

    assert slip(sandbox, [number], api_key="key-of-1234").infos["bordereauHeader"]["numberOfParcels"] == 1


def test_an_account_of_the_newer_kind_says_its_number(sandbox: SandboxServer) -> None:
    says = {"field": [{"key": "ACCOUNT_NUMBER", "value": "1234"}]}
    number = beta_buy(sandbox, {"contractNumber": GONE, "password": GONE, "fields": says}, apiKey="NEW-key").number

    assert slip(sandbox, [number], api_key="NEW-key").codes == ["30008"]
    assert slip(sandbox, [number], api_key="NEW-key", fields=says).parts["deliveryPaper"]


def test_a_slip_is_of_one_account_whatever_its_credentials(sandbox: SandboxServer) -> None:
    ones, others = ({"field": [{"key": "ACCOUNT_NUMBER", "value": value}]} for value in ("123456", "654321"))
    without = {"contractNumber": GONE, "password": GONE}
    bought = [beta_buy(sandbox).number, beta_buy(sandbox, {**without, "fields": ones}, apiKey="CHILD-key").number]

    assert slip(sandbox, bought, api_key="CHILD-key", fields=ones).infos["bordereauHeader"]["clientNumber"] == "123456"
    assert slip(sandbox, bought[1:], api_key="CHILD-key", fields=others).codes == ["50031"]


def test_another_accounts_or_an_unknown_parcel_is_refused_by_number(sandbox: SandboxServer) -> None:
    own, strange = beta_buy(sandbox).number, beta_buy(sandbox, {"contractNumber": "654321"}).number

    for wrong in (strange, "6A00000000001"):
        reply = slip(sandbox, [own, wrong], **OWN)
        assert (reply.response.status_code, reply.codes) == (400, ["50031"])
        assert list(reply.parts) == ["jsonInfos"]
        assert wrong in reply.infos["messages"][0]["messageContent"]
        assert reply.infos["bordereauHeader"] is None


def test_a_call_takes_any_number_of_parcels(sandbox: SandboxServer) -> None:
    # The carrier's module sends 50; no bound is published.
    number = beta_buy(sandbox).number

    assert slip(sandbox, [number] * 51, **OWN).infos["bordereauHeader"]["numberOfParcels"] == 51
    assert slip(sandbox, [], **OWN).codes == ["50031"]


@pytest.mark.parametrize(
    ("code", "credentials"),
    [
        ("30000", {}),
        ("30000", {"contractNumber": "123456"}),
        ("30000", {"contractNumber": "130000", "password": "x"}),
        ("30007", {"contractNumber": "130007", "password": "x"}),
        ("30000", OWN | {"api_key": "key-of-1234"}),
    ],
)
def test_a_slip_with_wrong_credentials_is_refused(
    sandbox: SandboxServer, code: str, credentials: dict[str, str]
) -> None:
    assert slip(sandbox, ["6A00000000001"], **credentials).codes == [code]


@pytest.mark.parametrize(
    ("code", "text"),
    [("30000", "Wrong credentials"), ("50031", "Invalid parcel number"), ("1", "temporarily unavailable")],
)
def test_an_armed_code_of_a_slip_comes_in_its_own_words(sandbox: SandboxServer, code: str, text: str) -> None:
    arm(sandbox, code, carrier="beta", operation="generateBordereauByParcelsNumbers")
    reply = slip(sandbox, [beta_buy(sandbox).number], **OWN)
    assert reply.codes == [code]
    assert text in reply.infos["messages"][0]["messageContent"]


def test_a_slip_of_no_numbers_is_refused(sandbox: SandboxServer) -> None:
    assert post(f"{sandbox.urls['BETA_URL']}/generateBordereauByParcelsNumbers", data=b"{}").status_code == 400

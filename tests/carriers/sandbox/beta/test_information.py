"""beta's account service: what an account includes, or a refusal of its credentials."""

from typing import Any

import pytest

from carriers.sandbox.server import SandboxServer
from tests.carriers.sandbox.control import arm, post

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

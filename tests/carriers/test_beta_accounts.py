"""beta's accounts: the number that calls say beside an API key, or under a parent."""

from typing import Any

import pytest

from carriers.errors import CredentialsRejected
from carriers.shipment import Credentials
from carriers.trials import SAMPLE_SENDER, Terms, Verdict
from tests.carriers.conftest import Clients, Serve
from tests.carriers.support.beta import bodies, fields_of, labels
from tests.carriers.support.points import Services
from tests.carriers.support.sandbox import order
from tests.carriers.support.shipments import shipment
from tests.carriers.test_deposit_slips import NUMBERS, slip

FRANCE, EUROPE = "beta_point_retrait_france", "beta_point_retrait_europe"
OLD = Credentials("804735", "s3cret-Pass")
NEW = Credentials("804735", api_key="NEW-key")
CHILD = Credentials("CHILD5", "s3cret-Pass", parent_account_number="804735")
NEW_BY_PASSWORD = Credentials("NEW5", "s3cret-Pass", parent_account_number="NEW5")
CHILD_BY_KEY = Credentials("804736", api_key="CHILD-key", parent_account_number="804735")


@pytest.mark.parametrize(
    ("credentials", "number"),
    [(OLD, None), (NEW, "804735"), (CHILD, "CHILD5"), (CHILD_BY_KEY, "804736"), (Credentials(api_key="k-1"), None)],
)
def test_every_call_says_the_accounts_own_number(serve: Serve, credentials: Credentials, number: str | None) -> None:
    services = Services(serve, "beta", bought=[*labels(2), slip()])
    for _ in range(2):
        services.client.create_label(shipment(FRANCE), credentials)
    services.client.deposit_slip(NUMBERS, credentials)
    *bought, paper = bodies(services.labels)
    assert [fields_of(body).get("ACCOUNT_NUMBER") for body in (*bought, paper)] == [number] * 3
    assert [body.get("codTiersPourPartenaire") for body in bodies(services.points)] == [number]
    by_password = {body.get("contractNumber") for body in (*bought, paper)}
    assert by_password == {credentials.account_number if credentials.password else None}


@pytest.mark.parametrize("credentials", [OLD, NEW, NEW_BY_PASSWORD, CHILD, CHILD_BY_KEY])
def test_accounts_of_every_kind_buy_and_make_slips(clients: Clients, credentials: Credentials) -> None:
    beta = clients["beta"]
    for code in ("beta", FRANCE, EUROPE):
        beta.create_label(order(code), credentials)
    numbers = beta.create_label(order("beta", 2), credentials).tracking_numbers
    assert beta.deposit_slip(numbers, credentials).pdf.startswith(b"%PDF-")
    (finding,) = beta.check_contract(Terms({"beta": None}, SAMPLE_SENDER), credentials)
    assert finding.verdict is Verdict.INCLUDED


@pytest.mark.parametrize("credentials", [Credentials(api_key="NEW-key"), Credentials("CHILD5", "s3cret-Pass")])
@pytest.mark.parametrize("code", ["beta", FRANCE])
def test_the_sandbox_refuses_such_an_account_without_its_number(
    clients: Clients, credentials: Credentials, code: str
) -> None:
    with pytest.raises(CredentialsRejected):
        clients["beta"].create_label(order(code), credentials)


def test_the_number_stands_beside_the_other_fields(serve: Serve) -> None:
    services = Services(serve, "beta")
    overseas: dict[str, Any] = {"recipient": {"country_code": "GP"}}
    services.client.create_label(shipment("beta", 2, **overseas), NEW)
    first, second = (fields_of(body) for body in bodies(services.labels))
    assert set(first) == {
        "TYPE_MULTI_PARCEL",
        "PARCEL_ITERATION_NUMBER",
        "TOTAL_NUMBER_PARCEL",
        "EORI",
        "ACCOUNT_NUMBER",
    }
    assert set(second) == {*first, "LIST_FOLLOWER_PARCEL"}

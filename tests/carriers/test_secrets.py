"""No secret and no address gets out by an error or a log line, whatever goes wrong; and carriers is plain Python."""

import ast
import logging
import traceback
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

import carriers
from carriers.base import Carrier, Limits
from carriers.errors import CarrierError
from carriers.sandbox.faults import FAULTS
from carriers.sandbox.server import SandboxServer
from carriers.shipment import Credentials, CustomsArticle, Party, PickupPoint, Shipment
from tests.carriers.sandbox.orders import arm
from tests.carriers.support import shipments
from tests.carriers.support.logs import said
from tests.carriers.support.sandbox import order, sandbox_clients
from tests.carriers.support.shipments import BOTH, PRODUCT

HASTY = Limits(timeout_s=0.5, failure_threshold=10**9)
PARTY = Party(
    first_name="Canarina",
    last_name="Kanarienvogel",
    company="Volière Serin",
    address1="77 allée Perchoir",
    address2="Cage Dorée",
    zip_code="75011",
    city="Plumeville",
    country_code="FR",
    phone="+33698765432",
    email="canari@voliere.example",
)
CREDENTIALS = {
    "alpha": Credentials("71717171", "828282"),
    "beta": Credentials("717171", "Canary-Secret-1"),
    "beta key": Credentials(api_key="Canary-Key-2"),
}
CANARIES = (
    *("Canarina", "Kanarienvogel", "Volière", "Voliere", "Perchoir", "Dorée", "Doree", "Plumeville"),
    *("98765432", "canari@", "71717171", "828282", "Canary-Secret-1", "Canary-Key-2", "Plumeau"),
)
CODES = {"alpha": ["30", "33", "38", "777"], "beta": ["30000", "30009", "30204", "30221", "30401", "40015"]}
FAULTS_OF = {
    account: [*(fault.name for fault in FAULTS if carrier in fault.carriers), *CODES[carrier]]
    for account, carrier in (("alpha", "alpha"), ("beta", "beta"), ("beta key", "beta"))
}


def canary(carrier: str, count: int = 1) -> Shipment:
    shipment = order(PRODUCT[carrier], count, recipient=vars(PARTY), sender=vars(PARTY), commercial_name="Plumeau")
    return replace(shipment, reference="Plumeau", customs=())


def out_of(text: str) -> list[str]:
    """The canaries that got out."""
    return [value for value in CANARIES if value.lower() in text.lower()]


def chain(error: BaseException | None) -> Iterator[BaseException]:
    """An error, its causes and contexts."""
    seen: set[int] = set()
    left = [error]
    while left:
        each = left.pop()
        if each is not None and id(each) not in seen:
            seen.add(id(each))
            yield each
            left += [each.__cause__, each.__context__]


def everything_about(error: BaseException) -> str:
    """All that a handler, a log or an error tracker could show of an error, but for the values of variables."""
    facts = [f"{each!s} {each!r} {each.args!r}" for each in chain(error)]
    return "\n".join([*facts, repr(vars(error)), *traceback.format_exception(error)])


def buy(client: Carrier, shipment: Shipment, credentials: Credentials) -> None:
    """Buy; nothing that an error says may hold a canary."""
    try:
        label = client.create_label(shipment, credentials)
    except CarrierError as error:
        found = out_of(everything_about(error))
        if found:
            pytest.fail(f"{found} in {error!r}")
    else:
        assert out_of(repr(label)) == []


@pytest.mark.parametrize(
    ("account", "fault"), [(account, fault) for account in FAULTS_OF for fault in FAULTS_OF[account]]
)
def test_no_fault_brings_a_secret_or_an_address_out(
    sandbox: SandboxServer, caplog: pytest.LogCaptureFixture, account: str, fault: str
) -> None:
    carrier = account.partition(" ")[0]
    client = sandbox_clients(sandbox, HASTY)[carrier]
    with caplog.at_level(logging.DEBUG):
        arm(sandbox, fault, carrier=carrier, count=1, delay_s=0.01 if fault == "slow" else None)
        buy(client, canary(carrier), CREDENTIALS[account])
    assert [record.name for record in caplog.records if record.name == "carriers"]
    assert out_of(said(caplog.records)) == []


@BOTH
def test_no_refusal_by_rule_brings_an_address_out(sandbox: SandboxServer, carrier: str) -> None:
    client = sandbox_clients(sandbox)[carrier]
    for change in (
        {"zip_code": "Plumeville"},
        {"city": "Plumeville" * 6},
        {"address1": "Perchoir" * 9},
        {"address1": "北京 Perchoir"},
        {"country_code": "Plumeville"},
        {"phone": "Perchoir"},
        {"phone": "+336987654321"},
        {"email": "canari@"},
        {"company": "Volière" * 20, "last_name": "Kanarienvogel" * 9},
    ):
        party = vars(replace(PARTY, **change))
        buy(client, order(PRODUCT[carrier], recipient=party), CREDENTIALS[carrier])
        buy(client, order(PRODUCT[carrier], sender=party), CREDENTIALS[carrier])
    buy(client, order(PRODUCT[carrier], reference="Plumeau" * 9), CREDENTIALS[carrier])


@BOTH
def test_a_carrier_that_is_not_there_brings_nothing_out(carrier: str, closed_port: int) -> None:
    buy(shipments.client(carrier, f"http://127.0.0.1:{closed_port}"), canary(carrier), CREDENTIALS[carrier])


@pytest.mark.parametrize("operation", ["trackWithSenderRef", "getReservedSkybillWithTypeAndModeAuth"])
@pytest.mark.parametrize("fault", ["close", "garbled", "30", "33", "soapfault"])
def test_no_question_brings_a_secret_out(
    sandbox: SandboxServer, caplog: pytest.LogCaptureFixture, operation: str, fault: str
) -> None:
    alpha = sandbox_clients(sandbox)["alpha"]
    with caplog.at_level(logging.DEBUG):
        label = alpha.create_label(canary("alpha"), CREDENTIALS["alpha"])
        questions: dict[str, Callable[[Credentials], object]] = {
            "trackWithSenderRef": partial(alpha.find_by_reference, canary("alpha").id),
            "getReservedSkybillWithTypeAndModeAuth": partial(alpha.fetch_label, label.tracking_numbers),
        }
        arm(sandbox, fault, operation=operation)
        with pytest.raises(CarrierError) as caught:
            questions[operation](CREDENTIALS["alpha"])
    assert out_of(everything_about(caught.value)) == []
    assert out_of(said(caplog.records)) == []


@pytest.mark.parametrize(
    "thing",
    [
        PARTY,
        *CREDENTIALS.values(),
        canary("alpha"),
        canary("beta", 3),
        PickupPoint("1234A", "Tabac Plumeau"),
        replace(canary("alpha"), pickup_point=PickupPoint("1234A", "Tabac Plumeau")),
        replace(canary("beta"), customs=(CustomsArticle("Birds", order("beta").packages[0].weight_kg, "960390"),)),
    ],
    ids=lambda thing: type(thing).__name__,
)
def test_no_repr_shows_a_secret_or_an_address(thing: object) -> None:
    assert out_of(repr(thing)) == []
    assert out_of(str(thing)) == []
    assert out_of(f"{[thing]}") == []


def test_carriers_imports_no_django_and_nothing_of_the_service() -> None:
    forbidden = {"config", "django", "labels", "parcels", "rest_framework", "shops"}
    for file in Path(carriers.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            assert {name.partition(".")[0] for name in names}.isdisjoint(forbidden), file.name


def test_the_clients_do_not_need_the_sandbox() -> None:
    package = Path(carriers.__file__).parent
    for file in package.glob("*.py"):
        assert "carriers.sandbox" not in file.read_text(), file.name

"""No secret and no address is shown by a repr, an error or a log line, even if a carrier echoes it."""

import logging
import traceback
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import replace
from functools import partial

import pytest

from carriers.base import Carrier
from carriers.beta.answers import MAX_WARNINGS
from carriers.client import Limits
from carriers.errors import CarrierError
from carriers.redaction import MAX_TEXT_LENGTH, Redactor
from carriers.sandbox.faults import FAULTS
from carriers.sandbox.server import SandboxServer
from carriers.shipment import Credentials, Party, PickupPoint, PurchasedLabel, Shipment
from tests.carriers.conftest import Serve
from tests.carriers.sandbox.control import arm
from tests.carriers.support import shipments
from tests.carriers.support.logs import text_of_records
from tests.carriers.support.refusals import alpha_refusal, refusal
from tests.carriers.support.sandbox import order, reset, sandbox_clients
from tests.carriers.support.servers import LABEL, MULTIPART, always, answer_file, http, once
from tests.carriers.support.shipments import BOTH, LENIENT, PRODUCT, RECIPIENT, client, shipment
from tests.carriers.test_faults import UNTIL_THE_DEADLINE
from tests.support.cases import in_one_test

HASTY = Limits(timeout_s=0.1, failure_threshold=10**9)
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
# Of the shipments in `support`, in each spelling that a carrier may echo.
SECRETS = ("255562", "s3cret-Pass", "k-123456", "19869502", "804735")
PERSONAL = (
    *("Zoé", "Lefèvre", "Lefevre", "Bougies & Cie", "3 rue de l'Église", "69002", "atelier@shop.example"),
    *("Søren", "Soren", "Grünwald", "Grunwald", "128 boulevard Œdipe", "128 boulevard Oedipe", "Bâtiment C"),
    *("75011", "+33699001122", "0699001122", "soren@mail.example", "3 rue de l Eglise", "Oedipe"),
)
ECHOED = (*SECRETS, *PERSONAL)


def canary(carrier: str, count: int = 1) -> Shipment:
    shipment = order(PRODUCT[carrier], count, recipient=vars(PARTY), sender=vars(PARTY), commercial_name="Plumeau")
    return replace(shipment, reference="Plumeau")


def leaked(text: str, values: tuple[str, ...] = CANARIES) -> list[str]:
    return [value for value in values if value.lower() in text.lower()]


def chain(error: BaseException | None) -> Iterator[BaseException]:
    seen: set[int] = set()
    left = [error]
    while left:
        each = left.pop()
        if each is not None and id(each) not in seen:
            seen.add(id(each))
            yield each
            left += [each.__cause__, each.__context__]


def everything_about(error: BaseException) -> str:
    """Return everything that a log or an error tracker could show of an error, except for the values of variables."""
    facts = [f"{each!s} {each!r} {each.args!r}" for each in chain(error)]
    return "\n".join([*facts, repr(vars(error)), *traceback.format_exception(error)])


def buy(client: Carrier, shipment: Shipment, credentials: Credentials) -> None:
    """Buy a label; no error may show a canary."""
    try:
        label = client.create_label(shipment, credentials)
    except CarrierError as error:
        found = leaked(everything_about(error))
        if found:
            pytest.fail(f"{found} in {error!r}")
    else:
        assert leaked(repr(label)) == []


@in_one_test("account, fault", [(account, fault) for account in FAULTS_OF for fault in FAULTS_OF[account]])
def test_no_fault_shows_a_secret_or_an_address(
    sandbox: SandboxServer, caplog: pytest.LogCaptureFixture, account: str, fault: str
) -> None:
    reset(sandbox)
    caplog.clear()
    carrier = account.partition(" ")[0]
    client = sandbox_clients(sandbox, HASTY if fault in UNTIL_THE_DEADLINE else LENIENT)[carrier]
    with caplog.at_level(logging.DEBUG):
        arm(sandbox, fault, carrier=carrier, count=1, delay_s=0.01 if fault == "slow" else None)
        buy(client, canary(carrier), CREDENTIALS[account])
    assert [record.name for record in caplog.records if record.name == "carriers"]
    assert leaked(text_of_records(caplog.records)) == []


@BOTH
def test_no_refusal_by_rule_shows_an_address(sandbox: SandboxServer, carrier: str) -> None:
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
def test_a_carrier_that_is_not_there_shows_nothing(carrier: str, closed_port: int) -> None:
    buy(shipments.client(carrier, f"http://127.0.0.1:{closed_port}"), canary(carrier), CREDENTIALS[carrier])


@pytest.mark.parametrize(
    "operation", ["trackWithSenderRef", "getReservedSkybillWithTypeAndModeAuth", "cancelSkybill", "searchPOD"]
)
@pytest.mark.parametrize("fault", ["close", "garbled", "30", "33", "soapfault"])
def test_no_query_shows_a_secret(
    sandbox: SandboxServer, caplog: pytest.LogCaptureFixture, operation: str, fault: str
) -> None:
    alpha = sandbox_clients(sandbox)["alpha"]
    with caplog.at_level(logging.DEBUG):
        label = alpha.create_label(canary("alpha"), CREDENTIALS["alpha"])
        queries: dict[str, Callable[[Credentials], object]] = {
            "cancelSkybill": partial(alpha.cancel, label.tracking_numbers[0]),
            "searchPOD": partial(alpha.proof_of_delivery, label.tracking_numbers[0]),
            "trackWithSenderRef": partial(alpha.find_by_reference, canary("alpha").id),
            "getReservedSkybillWithTypeAndModeAuth": partial(alpha.fetch_label, label.reservation_number),
        }
        arm(sandbox, fault, operation=operation)
        with pytest.raises(CarrierError) as caught:
            queries[operation](CREDENTIALS["alpha"])
    assert leaked(everything_about(caught.value)) == []
    assert leaked(text_of_records(caplog.records)) == []


@pytest.mark.parametrize(
    "thing",
    [
        PARTY,
        *CREDENTIALS.values(),
        Credentials(password="828282"),
        PurchasedLabel(("XS1",), {"XS1": b"%PDF-1.4 Plumeau"}),
        canary("alpha"),
        canary("beta", 3),
        PickupPoint("1234A", "Tabac Plumeau", "77 allée Perchoir", zip_code="75011", city="Plumeville"),
        replace(canary("alpha"), pickup_point_code="1234A"),
    ],
    ids=lambda thing: type(thing).__name__,
)
def test_no_repr_shows_a_secret_or_an_address(thing: object) -> None:
    assert leaked(repr(thing)) == []
    assert leaked(str(thing)) == []
    assert leaked(f"{[thing]}") == []


@BOTH
def test_what_a_carrier_echoes_is_masked_in_the_error(carrier: str) -> None:
    echo = " | ".join(ECHOED)[:1900]
    if carrier == "alpha":
        answer, shown = alpha_refusal(38, echo.replace("&", "&amp;")), {"255562", "19869502"}
    else:
        body = answer_file("beta_refusal.json").replace(b"@TEXT@", echo.encode()).replace(b"@CODE@", b"s3cret-Pass")
        answer, shown = http(body, 400, "application/json"), {"s3cret-Pass", "804735"}
    failure = refusal(carrier, answer)
    # The client does not know the other carrier's credentials.
    foreign = set(SECRETS) - shown
    for text in (str(failure), failure.carrier_code + failure.carrier_text, *traceback.format_exception(failure)):
        assert set(leaked(text, ECHOED)) <= foreign


def test_warnings_are_redacted_like_errors_and_limited(serve: Serve) -> None:
    warning = b'{"id": "30219", "type": "WARNING", "messageContent": "%s"}'
    echo = warning % f"{RECIPIENT.address1} s3cret-Pass is cut: Ring twice".encode()
    many = b", ".join([echo, *(warning % str(number).encode() for number in range(2 * MAX_WARNINGS))])
    answer = answer_file("beta_parcel_1.multipart").replace(b'{"messages": [', b'{"messages": [' + many + b", ")
    server = serve(always(http(answer, content_type=MULTIPART)))
    ordered = shipment("beta", instructions="Ring twice")
    label = client("beta", server.url).create_label(ordered, shipments.CREDENTIALS["beta"])
    assert leaked(" ".join(label.warnings), (*ECHOED, "Ring")) == []
    assert "is cut" in label.warnings[0]
    assert len(label.warnings) == MAX_WARNINGS


@BOTH
@pytest.mark.parametrize("outcome", ["ok", "outcome_unknown"])
def test_one_log_line_has_the_facts_and_nothing_personal(
    serve: Serve, carrier: str, outcome: str, caplog: pytest.LogCaptureFixture
) -> None:
    server = serve(always(LABEL[carrier]) if outcome == "ok" else once(b""))
    with caplog.at_level(logging.DEBUG):
        expected = nullcontext() if outcome == "ok" else pytest.raises(CarrierError)
        with expected:
            client(carrier, server.url).create_label(canary(carrier), CREDENTIALS[carrier])
    records = [record for record in caplog.records if record.name == "carriers"]
    assert len(records) == 1
    facts = vars(records[0])
    assert facts["carrier"] == carrier
    assert facts["operation"] == {"alpha": "shippingMultiParcelV4", "beta": "generateLabel"}[carrier]
    assert facts["outcome"] == outcome
    assert facts["http_status"] == (200 if outcome == "ok" else None)
    assert facts["carrier_code"] == ""
    assert isinstance(facts["duration_ms"], int)
    assert leaked(text_of_records(caplog.records)) == []


def test_a_call_that_is_refused_at_once_is_logged_too(serve: Serve, caplog: pytest.LogCaptureFixture) -> None:
    server = serve(once(b""))
    alpha = client("alpha", server.url, Limits(failure_threshold=1))
    for _ in range(2):
        with pytest.raises(CarrierError):
            alpha.create_label(shipment(), CREDENTIALS["alpha"])
    outcomes = [vars(record)["outcome"] for record in caplog.records if record.name == "carriers"]
    assert outcomes == ["outcome_unknown", "unavailable"]
    assert len(server.requests) == 1


def test_control_characters_and_length_are_removed_from_a_carriers_text() -> None:
    redactor = Redactor(shipments.CREDENTIALS["alpha"], shipment())
    assert redactor.text("a\x00b\x1b[31m\r\nc\u202ed\u2028e") == "a b [31m c d e"
    assert len(redactor.text("mot " * 10_000)) <= MAX_TEXT_LENGTH
    assert redactor.text("mot " * 10_000).endswith("…")
    assert redactor.code("x" * 33) == ""


def test_words_of_an_address_are_masked_wherever_a_carrier_truncates_it() -> None:
    redactor = Redactor(shipments.CREDENTIALS["alpha"], shipment())
    assert redactor.text("Street 'boulevard Œdipe' unknown") == "Street '*** ***' unknown"
    assert redactor.text("no route to 75011 PARIS for grunwald") == "no route to *** *** for ***"
    assert redactor.text("contrat 19869502/255562") == "contrat ***/***"


def test_a_redactor_without_values_masks_nothing() -> None:
    assert Redactor(Credentials()).text("System error") == "System error"

"""Every fault that the sandbox plays: a client's error agrees with the ledger, and no purchase is sent twice."""

import time
from dataclasses import dataclass

import pytest

from carriers.base import Limits
from carriers.errors import (
    AddressRejected,
    CarrierError,
    CarrierUnavailable,
    OutcomeUnknown,
    ProductNotInContract,
    RequestRejected,
)
from carriers.sandbox.faults import FAULTS
from carriers.sandbox.server import SandboxServer
from carriers.shipment import PurchasedLabel
from tests.carriers.sandbox.orders import arm
from tests.carriers.support.sandbox import CREATE_PATHS, bought, order, received, sandbox_clients
from tests.carriers.support.shipments import BOTH, CREDENTIALS, PRODUCT, client
from tests.support.waiting import until

Outcome = PurchasedLabel | CarrierError
DEADLINE_S = 2.0  # by which a carrier is at work, on a busy machine too
MARGIN_S = 20.0
WAIT_TIMEOUT_S = 60.0
LATE_S = 5.0  # later than the deadline
LABEL, UNKNOWN, UNAVAILABLE = PurchasedLabel, OutcomeUnknown, CarrierUnavailable
# What each fault must come to; a fault that is not in its row fails the test of the whole.
ENDS = {
    UNKNOWN: "hang hangmade reset resetmade close closemade cutoff driphead dripbody late empty html200 html502 html503"
    " made502 redirect truncated garbled charset deep huge gzipbomb doctype base64 nolabel notpdf accept",
    UNAVAILABLE: "soapfault json500 flat500 errorbare",
    AddressRejected: "error200 errorpart errorlist errorflat",
    ProductNotInContract: "contract",
    LABEL: "slow warning mixed twin unfound",
}
END_OF = {name: end for end, names in ENDS.items() for name in names.split()}
UNTIL_THE_DEADLINE = {"hang", "hangmade", "driphead", "dripbody", "accept"}
DELAYS_S = {"slow": 0.05, "accept": LATE_S}
ROWS = [(carrier, fault.name) for fault in FAULTS for carrier in fault.carriers]


@dataclass(frozen=True)
class Purchase:
    """One call of a client, and what the sandbox has seen of it."""

    outcome: Outcome
    took_s: float
    bought: tuple[str, ...]
    received: dict[str, int]


def purchase(sandbox: SandboxServer, carrier: str, count: int, timeout_s: float) -> Purchase:
    buyer = sandbox_clients(sandbox, Limits(timeout_s=timeout_s))[carrier]
    shipment = order(PRODUCT[carrier], count)
    started_s = time.monotonic()
    try:
        outcome: Outcome = buyer.create_label(shipment, CREDENTIALS[carrier])
    except CarrierError as error:
        outcome = error
    took_s = time.monotonic() - started_s
    return Purchase(outcome, took_s, bought(sandbox, carrier), received(sandbox))


def check_agreement(made: Purchase) -> None:
    """What the client says was made is what the ledger holds; only an unknown outcome may fall short of it."""
    outcome = made.outcome
    if isinstance(outcome, PurchasedLabel):
        assert outcome.tracking_numbers == made.bought
    elif isinstance(outcome, OutcomeUnknown):
        assert set(outcome.made_numbers) <= set(made.bought)
        assert not outcome.is_nothing_made
    else:
        assert outcome.made_numbers == made.bought
        assert outcome.is_nothing_made == (made.bought == ())


def test_every_fault_has_an_end() -> None:
    assert {fault.name for fault in FAULTS} == set(END_OF)


@pytest.mark.parametrize("count", [1, 3])
@pytest.mark.parametrize(("carrier", "fault"), ROWS)
def test_a_client_never_says_nothing_was_made_when_something_was_and_never_asks_twice(
    sandbox: SandboxServer, carrier: str, fault: str, count: int
) -> None:
    # With several parcels, beta's calls are linked, and the second is the one that fails.
    failing_rank = 2 if carrier == "beta" and count > 1 else 1
    # Any connection may be left unread, this test's own to the ledger, too: only the first is.
    filters = {"count": 1} if fault == "accept" else {"rank": failing_rank}
    arm(sandbox, fault, carrier=carrier, delay_s=DELAYS_S.get(fault), **filters)
    is_slow = fault in UNTIL_THE_DEADLINE
    made = purchase(sandbox, carrier, count, DEADLINE_S if is_slow else WAIT_TIMEOUT_S)

    # A number that was given out before can be seen only where the one before it is known.
    end = OutcomeUnknown if (fault, count) == ("twin", 3) else END_OF[fault]
    assert type(made.outcome) is end
    check_agreement(made)
    calls = count if carrier == "beta" and end is LABEL else failing_rank
    # What the server has not read yet has not been counted yet.
    assert made.received == ({} if fault == "accept" else {CREATE_PATHS[carrier]: calls})
    assert made.took_s < (DEADLINE_S + MARGIN_S if is_slow else WAIT_TIMEOUT_S / 2)
    assert not is_slow or made.took_s > DEADLINE_S - 0.05


@BOTH
@pytest.mark.parametrize("fault", ["accept", "slow"])
def test_what_a_carrier_makes_after_the_deadline_is_made_once(sandbox: SandboxServer, carrier: str, fault: str) -> None:
    arm(sandbox, fault, delay_s=LATE_S, count=1)
    made = purchase(sandbox, carrier, 1, DEADLINE_S)
    assert type(made.outcome) is OutcomeUnknown
    assert made.bought == ()
    assert len(until(lambda: bought(sandbox, carrier))) == 1
    assert received(sandbox) == {CREATE_PATHS[carrier]: 1}


@pytest.mark.parametrize("rank", [1, 2, 3, 4])
@pytest.mark.parametrize(
    ("fault", "error"),
    [
        ("30204", AddressRejected),
        ("30300", RequestRejected),
        ("40015", CarrierUnavailable),
        ("closemade", OutcomeUnknown),
    ],
)
def test_a_failure_of_one_linked_parcel_tells_the_numbers_made_before_it(
    sandbox: SandboxServer, rank: int, fault: str, error: type[CarrierError]
) -> None:
    arm(sandbox, fault, carrier="beta", rank=rank)
    made = purchase(sandbox, "beta", 4, WAIT_TIMEOUT_S)
    assert type(made.outcome) is error
    assert isinstance(made.outcome, CarrierError)
    check_agreement(made)
    assert made.outcome.made_numbers == made.bought[: rank - 1]
    assert made.received == {CREATE_PATHS["beta"]: rank}


@BOTH
def test_a_carrier_that_is_not_there_has_made_nothing(sandbox: SandboxServer, carrier: str, closed_port: int) -> None:
    buyer = client(carrier, f"http://127.0.0.1:{closed_port}")
    with pytest.raises(CarrierUnavailable) as caught:
        buyer.create_label(order(PRODUCT[carrier]), CREDENTIALS[carrier])
    assert caught.value.is_nothing_made
    assert received(sandbox) == {}


def test_a_warning_is_handed_on(sandbox: SandboxServer) -> None:
    arm(sandbox, "warning", carrier="beta", count=1)
    made = purchase(sandbox, "beta", 1, WAIT_TIMEOUT_S)
    assert isinstance(made.outcome, PurchasedLabel)
    assert made.outcome.warnings == ("SANDBOX: line2 is cut",)

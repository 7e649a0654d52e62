"""A hostile or failing carrier: each fault ends in a named error, in time, in bounded memory, and is sent once."""

import json
import os
import socket
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from carriers import pdf
from carriers.client import CLIENT_ERRORS, Limits
from carriers.errors import (
    AddressRejected,
    CarrierError,
    CarrierUnavailable,
    CredentialsRejected,
    OutcomeUnknown,
    ProductNotInContract,
    RequestRejected,
)
from carriers.http import connections
from carriers.http.transport import UnreadableError
from carriers.sandbox.faults import FAULTS
from carriers.sandbox.server import SandboxServer
from carriers.shipment import PurchasedLabel
from tests.carriers.conftest import Serve
from tests.carriers.sandbox.control import arm
from tests.carriers.support.broken_answers import ALPHA, BETA, FLOODS, QUICK, SLOW
from tests.carriers.support.measured_buyer import UNARMED
from tests.carriers.support.sandbox import CREATE_PATHS, bought, linked, received, sandbox_clients
from tests.carriers.support.servers import LABEL, LoopbackServer, Play, always, http, once
from tests.carriers.support.shipments import BOTH, CREDENTIALS, PRODUCT, client, shipment
from tests.support.waiting import until

Outcome = PurchasedLabel | CarrierError
DEADLINE_S = 0.3  # long enough to send the request, on a busy machine too
MARGIN_S = 20.0  # none of the slow faults ends without the deadline, and the machine may be busy
HASTY = Limits(timeout_s=DEADLINE_S)
WAIT_TIMEOUT_S = 60.0  # a deadline that no fault comes near if it ends without one
UNHURRIED = Limits(timeout_s=WAIT_TIMEOUT_S)
LATE_S = 1.0  # later than the deadline
# The outcome of each of the sandbox's faults.
ENDS = {
    OutcomeUnknown: "hang hangmade reset resetmade close closemade cutoff driphead dripbody late empty html200 html429"
    " html502 html503 made502 redirect truncated garbled charset deep huge gzipbomb doctype base64 nolabel notpdf"
    " accept soapfault errorbare",
    CarrierUnavailable: "json500 flat500",
    CredentialsRejected: "http401 http403 colisacct colispwd webpropwd",
    RequestRejected: "badformat",
    AddressRejected: "error200 errorpart errorlist errorflat",
    ProductNotInContract: "contract",
    PurchasedLabel: "slow warning mixed twin unfound young collected nocn23 badcn23",
}
END_OF = {(carrier, name): end for end, names in ENDS.items() for name in names.split() for carrier in CREDENTIALS}
# It refuses credentials by a code, with HTTP 200.
END_OF |= {("alpha", "http401"): OutcomeUnknown, ("alpha", "http403"): OutcomeUnknown}
UNTIL_THE_DEADLINE = {"hang", "hangmade", "driphead", "dripbody", "accept"}
DELAYS_S = {"slow": 0.05, "accept": LATE_S}
ROWS = [(carrier, fault.name) for fault in FAULTS for carrier in fault.carriers]


def buy(carrier: str, play: Play, limits: Limits) -> tuple[OutcomeUnknown, float, int]:
    """Return the error of a purchase, the seconds it took and the number of requests sent."""
    with LoopbackServer(play) as server:
        buyer = client(carrier, server.url, limits)
        ordered = shipment(PRODUCT[carrier])
        started_s = time.monotonic()
        with pytest.raises(OutcomeUnknown) as caught:
            buyer.create_label(ordered, CREDENTIALS[carrier])
        took_s = time.monotonic() - started_s
        return caught.value, took_s, len(until(lambda: server.requests))


@dataclass(frozen=True)
class Purchase:
    """A purchase, and what the sandbox received and made."""

    outcome: Outcome
    took_s: float
    bought: tuple[str, ...]
    received: dict[str, int]


def purchase(sandbox: SandboxServer, carrier: str, count: int, timeout_s: float) -> Purchase:
    buyer = sandbox_clients(sandbox, Limits(timeout_s=timeout_s))[carrier]
    ordered = linked(carrier, count)
    started_s = time.monotonic()
    try:
        outcome: Outcome = buyer.create_label(ordered, CREDENTIALS[carrier])
    except CarrierError as error:
        outcome = error
    took_s = time.monotonic() - started_s
    return Purchase(outcome, took_s, bought(sandbox, carrier), received(sandbox))


def check_agreement_with_the_ledger(made: Purchase) -> None:
    """The client reports the parcels of the ledger; only an unknown outcome may report fewer."""
    outcome = made.outcome
    if isinstance(outcome, PurchasedLabel):
        assert outcome.tracking_numbers == made.bought
    elif isinstance(outcome, OutcomeUnknown):
        # One order may cause a refusal, and an answer of 4xx.
        assert outcome.is_carrier_failing == (not outcome.carrier_text and outcome.http_status not in CLIENT_ERRORS)
        assert outcome.code == f"{outcome.carrier.upper()}_OUTCOME_UNKNOWN"
        assert set(outcome.made.tracking_numbers) <= set(made.bought)
        assert not outcome.is_nothing_made
    else:
        assert outcome.made.tracking_numbers == made.bought
        assert outcome.is_nothing_made == (made.bought == ())


@BOTH
@pytest.mark.parametrize("fault", SLOW)
def test_a_slow_carrier_is_abandoned_at_the_deadline(carrier: str, fault: str) -> None:
    error, took_s, sent = buy(carrier, SLOW[fault], HASTY)
    assert DEADLINE_S - 0.05 < took_s < DEADLINE_S + MARGIN_S
    assert sent == 1
    assert not error.is_nothing_made
    assert error.code == f"{carrier.upper()}_OUTCOME_UNKNOWN"


@BOTH
@pytest.mark.parametrize("fault", QUICK)
def test_a_broken_answer_leaves_the_outcome_unknown(carrier: str, fault: str) -> None:
    error, took_s, sent = buy(carrier, QUICK[fault], UNHURRIED)
    assert sent == 1
    assert took_s < WAIT_TIMEOUT_S / 2
    assert error.is_carrier_failing


@pytest.mark.parametrize(
    ("carrier", "play"),
    [
        pytest.param(carrier, play, id=f"{carrier}: {fault}")
        for carrier, plays in (("alpha", ALPHA), ("beta", BETA))
        for fault, play in plays.items()
    ],
)
def test_an_unreadable_answer_leaves_the_outcome_unknown(carrier: str, play: Play) -> None:
    error, took_s, sent = buy(carrier, play, UNHURRIED)
    assert sent == 1
    assert error.http_status in {200, {"alpha": 500, "beta": 400}[carrier]}
    assert took_s < WAIT_TIMEOUT_S / 2


@pytest.mark.parametrize(("carrier", "fault"), [("alpha", ALPHA), ("beta", BETA)])
def test_an_answer_without_a_pdf_names_its_numbers(carrier: str, fault: dict[str, Play]) -> None:
    error, _, _ = buy(carrier, fault["yes without a label"], UNHURRIED)
    assert error.made.tracking_numbers == {"alpha": ("XS000000001FR",), "beta": ("6A12345678901",)}[carrier]
    assert error.detail == "the answer has no label"


@pytest.mark.parametrize(
    ("fault", "problem"),
    [
        ("many tags", "the XML has too many tags"),
        ("many attributes", "the XML has too many tags"),
        ("depth without end", "the XML is too deep"),
    ],
)
def test_too_many_tags_are_refused_before_a_tree_is_built(fault: str, problem: str) -> None:
    error, _, _ = buy("alpha", ALPHA[fault], UNHURRIED)
    assert error.detail == problem


def test_a_redirect_is_not_followed(serve: Serve) -> None:
    target = serve(always(LABEL["alpha"]))
    error, _, _ = buy("alpha", once(http(b"", 307, headers=f"Location: {target.url}/\r\n")), UNHURRIED)
    assert error.http_status == 307
    assert target.connections == 0


def test_every_fault_of_the_sandbox_has_an_outcome() -> None:
    assert {fault.name for fault in FAULTS} == {name for _, name in END_OF}


@pytest.mark.parametrize("count", [1, 3])
@pytest.mark.parametrize(("carrier", "fault"), ROWS)
def test_the_outcome_of_each_fault_agrees_with_the_ledger_and_no_purchase_is_sent_twice(
    sandbox: SandboxServer, carrier: str, fault: str, count: int
) -> None:
    # With several parcels, beta's calls are linked, and the second one fails.
    failing_rank = 2 if carrier == "beta" and count > 1 else 1
    # `accept` would also hit this test's own connections to the ledger, so only the first is left unread.
    filters = {"count": 1} if fault == "accept" else {"rank": failing_rank}
    arm(sandbox, fault, carrier=carrier, delay_s=DELAYS_S.get(fault), **filters)
    is_slow = fault in UNTIL_THE_DEADLINE
    made = purchase(sandbox, carrier, count, DEADLINE_S if is_slow else WAIT_TIMEOUT_S)

    # A repeated number can only be noticed within the same purchase, and the half of an answer with a customs form
    # holds the whole label.
    others = {("beta", "twin", 3): OutcomeUnknown, ("alpha", "twin", 3): OutcomeUnknown}
    end = (others | {("beta", "truncated", 3): PurchasedLabel}).get((carrier, fault, count), END_OF[carrier, fault])
    assert type(made.outcome) is end
    check_agreement_with_the_ledger(made)
    calls = count if carrier == "beta" and end is PurchasedLabel else failing_rank
    # A request that the server has not read is not counted.
    assert made.received == ({} if fault == "accept" else {CREATE_PATHS[carrier]: calls})
    assert made.took_s < (DEADLINE_S + MARGIN_S if is_slow else WAIT_TIMEOUT_S / 2)
    assert not is_slow or made.took_s > DEADLINE_S - 0.05


@BOTH
@pytest.mark.parametrize("fault", ["accept", "slow"])
def test_what_a_carrier_makes_after_the_deadline_is_made_once(sandbox: SandboxServer, carrier: str, fault: str) -> None:
    arm(sandbox, fault, delay_s=LATE_S, count=1)
    made = purchase(sandbox, carrier, 1, 2 * DEADLINE_S)
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
def test_a_failure_of_a_linked_parcel_names_the_numbers_made_before_it(
    sandbox: SandboxServer, rank: int, fault: str, error: type[CarrierError]
) -> None:
    arm(sandbox, fault, carrier="beta", rank=rank)
    made = purchase(sandbox, "beta", 4, WAIT_TIMEOUT_S)
    assert type(made.outcome) is error
    assert isinstance(made.outcome, CarrierError)
    check_agreement_with_the_ledger(made)
    assert made.outcome.made.tracking_numbers == made.bought[: rank - 1]
    assert made.received == {CREATE_PATHS["beta"]: rank}


# CPU time and memory, measured in a process of its own

ROOT = Path(__file__).parents[2]
# Floods of 50 MB and of 300 MB unpacked are cut off at 20 MB.
MOST_MB = 64
MOST_S = 2.5


def measured(url: str, carrier: str, faults: list[str]) -> list[list[Any]]:
    """Return for each fault: name, class of the outcome, CPU seconds, megabytes of memory added so far."""
    command = [sys.executable, "-m", "tests.carriers.support.measured_buyer", url, carrier, *faults]
    # Without the service's settings, which the clients do not need.
    environment = {"PATH": os.defpath}
    run = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, env=environment, check=False)
    assert run.returncode == 0, run.stderr
    return [json.loads(line) for line in run.stdout.splitlines()]


@BOTH
def test_no_fault_takes_much_memory_or_time(sandbox: SandboxServer, carrier: str) -> None:
    slow = {*UNTIL_THE_DEADLINE, "slow"}
    faults = [fault.name for fault in FAULTS if carrier in fault.carriers and fault.name not in slow]
    rows = measured(sandbox.url, carrier, faults)
    assert [row[:2] for row in rows] == [[fault, END_OF[carrier, fault].__name__] for fault in faults]
    assert max(took_s for _, _, took_s, _ in rows) < MOST_S
    assert rows[-1][3] < MOST_MB


def test_no_flood_takes_much_memory_or_time(serve: Serve) -> None:
    faults = [
        *("many tags", "many attributes", "depth without end"),
        *("the answer has 50 MB", "the chunks have 50 MB", "a small answer unpacks to 300 MB"),
        *("a header has no end", "there are a million headers", *FLOODS),
    ]
    plays = iter((always(LABEL["alpha"]), *((QUICK | ALPHA)[fault] for fault in faults)))

    def play(stream: socket.socket, request: bytes) -> bool:
        return next(plays)(stream, request)

    server = serve(play)
    rows = measured(server.url, "alpha", [UNARMED] * len(faults))
    ends = {fault: end for fault, (_, end, _, _) in zip(faults, rows, strict=True)}
    assert ends == dict.fromkeys(faults, "OutcomeUnknown")
    assert max(took_s for _, _, took_s, _ in rows) < MOST_S
    assert rows[-1][3] < MOST_MB


@BOTH
def test_unreadable_answers_do_not_add_up(serve: Serve, carrier: str) -> None:
    unreadable, count = http(b"x" * 6_000_000), 20
    plays = iter([LABEL[carrier], *[unreadable] * count])

    def play(stream: socket.socket, request: bytes) -> bool:
        return always(next(plays))(stream, request)

    rows = measured(serve(play).url, carrier, [UNARMED] * count)
    assert {end for _, end, _, _ in rows} == {"OutcomeUnknown"}
    assert rows[-1][3] < MOST_MB


# Linked parcels


def test_each_linked_call_has_a_deadline_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """Four parcels of 0.6 deadlines each: alone each would be bought, and so are all."""
    numbers, clock_s, waits_s = iter(b"1234"), connections.clock_s, [0.0]
    monkeypatch.setattr(connections, "clock_s", lambda: clock_s() + sum(waits_s))

    def slow(stream: socket.socket, request: bytes) -> bool:
        waits_s.append(WAIT_TIMEOUT_S * 0.6)
        stream.sendall(LABEL["beta"].replace(b"78901", b"7890%d" % (next(numbers) - ord("0"))))
        return True

    with LoopbackServer(slow) as server:
        made = client("beta", server.url, UNHURRIED).create_label(shipment("beta", 4), CREDENTIALS["beta"])
    assert len(set(made.tracking_numbers)) == len(made.pdfs) == len(server.requests) == 4


def page_tree_bomb(depth: int) -> bytes:
    """Return a PDF of a kilobyte with 2 ** depth pages: each node of the tree names the next one twice."""
    node = b"%d 0 obj<</Type/Pages/Count 2/Kids[%d 0 R %d 0 R]>>endobj\n"
    nodes = b"".join(node % (number, number + 1, number + 1) for number in range(2, depth + 2))
    page = b"%d 0 obj<</Type/Page/MediaBox[0 0 9 9]>>endobj\n" % (depth + 2)
    catalog = b"1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n"
    return b"%PDF-1.4\n" + catalog + nodes + page + b"trailer<</Root 1 0 R>>\nstartxref\n0\n%%EOF"


def test_a_pdf_that_keeps_the_parser_busy_is_abandoned_in_time(merging_process: None) -> None:
    started_s = time.monotonic()
    with pytest.raises(UnreadableError):
        pdf.rewritten([page_tree_bomb(15)] * 4, DEADLINE_S)
    assert DEADLINE_S - 0.05 < time.monotonic() - started_s < DEADLINE_S + MARGIN_S


def test_one_number_for_two_parcels_leaves_the_outcome_unknown(serve: Serve) -> None:
    server = serve(always(LABEL["beta"]))
    with pytest.raises(OutcomeUnknown, match="repeats the number") as caught:
        client("beta", server.url).create_label(shipment("beta", 2), CREDENTIALS["beta"])
    assert caught.value.made.tracking_numbers == ("6A12345678901",) * 2
    assert list(caught.value.made.pdfs) == ["6A12345678901", "parcel-2"]

"""The trackers against the sandbox, over real HTTP: whole journeys, errors and faults."""

from itertools import pairwise

import pytest

from carriers.client import Limits
from carriers.errors import CarrierUnavailable
from carriers.sandbox.faults import FAULTS
from carriers.sandbox.journeys import JOURNEYS, steps
from carriers.sandbox.server import SandboxServer
from carriers.tracking import Status, TrackingAnswer
from tests.carriers.conftest import Clients
from tests.carriers.sandbox.control import advance, arm, foreign, get
from tests.carriers.support.sandbox import order, reset, sandbox_clients, sandbox_trackers
from tests.carriers.support.shipments import BOTH, CREDENTIALS, PRODUCT
from tests.support.cases import in_one_test

OPERATIONS = {"alpha": "trackSkybillV2", "beta": "timelineCompany"}
MOVING = [Status.FULFILLED, *[Status.IN_TRANSIT] * 4]
OUT, HOME = Status.OUT_FOR_DELIVERY, Status.DELIVERED
REFUSED = [*MOVING, OUT, Status.RETURN_TO_SENDER, Status.IN_TRANSIT]
# The statuses of each journey; an event that changes nothing is left out.
STATUSES = {
    "home": [*MOVING, OUT, HOME],
    "relay": [*MOVING, OUT, Status.WAITING_FOR_PICKUP, HOME],
    "absent": [*MOVING, OUT, Status.DELIVERY_FAILURE, OUT, HOME],
    "lost": [*MOVING[:-1], Status.EXCEPTION],
    "silent": [*MOVING[:3], OUT, HOME],
    "unsent": [Status.FULFILLED],
    "customs": [*MOVING[:-1], Status.EXCEPTION, Status.IN_TRANSIT, Status.IN_TRANSIT, OUT, HOME],
}
# By carrier: alpha's code of a delivery is that of a return too, and a partner of alpha's reuses it on the way.
OTHERS = {
    ("alpha", "refused"): [*REFUSED, Status.DELIVERED],
    ("beta", "refused"): [*REFUSED, Status.RETURNED_TO_SENDER],
    ("alpha", "partner"): [*MOVING, Status.IN_TRANSIT, OUT, HOME],
    ("beta", "partner"): [*MOVING, OUT, HOME],
}


def track(sandbox: SandboxServer, carrier: str, number: str) -> TrackingAnswer:
    return sandbox_trackers(sandbox)[carrier].track(number, CREDENTIALS[carrier])


@BOTH
@pytest.mark.parametrize("journey", JOURNEYS)
def test_a_whole_journey_is_told(sandbox: SandboxServer, carrier: str, journey: str) -> None:
    statuses = OTHERS.get((carrier, journey)) or STATUSES[journey]
    number = foreign(sandbox, carrier, journey=journey)
    advance(sandbox, number, 100)

    answer = track(sandbox, carrier, number)

    assert [event.code for event in answer.events] == [step.codes[carrier] for step in steps(journey, carrier)]
    assert [event.status for event in answer.events if event.status] == statuses
    assert all(event.is_listed for event in answer.events)
    assert answer == track(sandbox, carrier, number)
    for personal in ("DURAND", "étage", "0601020304", "impasse"):
        assert personal not in repr(answer)


@BOTH
def test_a_parcel_is_told_step_by_step(sandbox: SandboxServer, clients: Clients, carrier: str) -> None:
    (number,) = clients[carrier].create_label(order(PRODUCT[carrier]), CREDENTIALS[carrier]).tracking_numbers
    told = [track(sandbox, carrier, number)]
    for _ in range(8):
        advance(sandbox, number)
        told.append(track(sandbox, carrier, number))

    for before, after in pairwise(told):
        assert after.events[: len(before.events)] == before.events
    assert [event.status for event in told[0].events] == [Status.FULFILLED]
    assert told[-1].events[-1].status is Status.DELIVERED


@BOTH
def test_parcels_travel_by_themselves(carrier: str) -> None:
    with SandboxServer(pace=1e9) as hurried:
        label = sandbox_clients(hurried)[carrier].create_label(order(PRODUCT[carrier]), CREDENTIALS[carrier])
        answer = track(hurried, carrier, label.tracking_numbers[0])

    assert answer.events[-1].status is Status.DELIVERED


def test_a_chosen_redelivery_and_an_appointment_are_expected(sandbox: SandboxServer) -> None:
    number = foreign(sandbox, "alpha", journey="absent")
    advance(sandbox, number, 6)
    appointment = track(sandbox, "alpha", number)
    advance(sandbox, number)
    redelivery = track(sandbox, "alpha", number)

    for answer, length_s in ((appointment, 8 * 3600), (redelivery, 24 * 3600 - 1)):
        assert answer.expected_from
        assert answer.expected_until
        assert (answer.expected_until - answer.expected_from).total_seconds() == length_s


@BOTH
def test_a_number_that_nobody_sold_is_unknown(sandbox: SandboxServer, carrier: str) -> None:
    number = {"alpha": "XU000000005FR", "beta": "6A00000000001"}[carrier]

    assert track(sandbox, carrier, number) == TrackingAnswer(number, is_known=False)


# The faults that leave a history as it is: they belong to labels, or change its bytes without harm.
HARMLESS = "nolabel notpdf twin nocn23 badcn23 base64 young collected warning mixed slow".split()
ASKED = [
    (carrier, fault.name)
    for fault in FAULTS
    for carrier in fault.carriers
    if fault.name not in ("accept", "unfound")  # of connections, and of the search
]


@in_one_test("carrier, fault", ASKED)
def test_a_fault_is_an_outage_and_the_next_question_is_answered(
    sandbox: SandboxServer, carrier: str, fault: str
) -> None:
    reset(sandbox)
    number = foreign(sandbox, carrier)
    delay = {"delay_s": 0} if fault == "slow" else {}
    arm(sandbox, fault, carrier=carrier, operation=OPERATIONS[carrier], count=1, **delay)
    timeout_s = 0.3 if fault in ("hang", "hangmade", "driphead", "dripbody") else 60.0
    client = sandbox_trackers(sandbox, Limits(timeout_s=timeout_s))[carrier]

    if fault in HARMLESS:
        assert client.track(number, CREDENTIALS[carrier]).is_known
    else:
        with pytest.raises(CarrierUnavailable):
            client.track(number, CREDENTIALS[carrier])

    assert get(f"{sandbox.control_url}/faults") == []
    assert track(sandbox, carrier, number).is_known

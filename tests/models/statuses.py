"""A parcel's status as `carriers/tracking.md` has it: from the events of its numbers and the shop's report."""

from collections.abc import Iterable
from typing import NamedTuple

# carriers/tracking.md: the codes that the model uses, and the order in which a parcel of several numbers shows them.
STATUS_OF = {
    "DC": "FULFILLED",
    "SC": "IN_TRANSIT",
    "TA": "OUT_FOR_DELIVERY",
    "AB": "WAITING_FOR_PICKUP",
    "D": "DELIVERED",
    "P": "DELIVERY_FAILURE",
    "SK": "EXCEPTION",
    "R": "RETURN_TO_SENDER",
    "SM": None,
    "PCHMQT": "FULFILLED",
    "PCHCFM": "IN_TRANSIT",
    "PRELIV": "OUT_FOR_DELIVERY",
    "AARBPR": "WAITING_FOR_PICKUP",
    "LIVCFM": "DELIVERED",
    "RENARV": "DELIVERY_FAILURE",
    "AARLIB": "EXCEPTION",
    "RENNPA": "RETURN_TO_SENDER",
}
ADVANCE = (
    *("FULFILLED", "IN_TRANSIT", "EXCEPTION", "DELIVERY_FAILURE", "OUT_FOR_DELIVERY", "WAITING_FOR_PICKUP"),
    *("RETURN_TO_SENDER", "RETURNED_TO_SENDER", "DELIVERED"),
)
FINAL = {"DELIVERED", "RETURNED_TO_SENDER"}


class Step(NamedTuple):
    """A status that a number took: its time, if the carrier said so, and the status."""

    at: int
    is_carrier: bool
    status: str


def last_of(steps: Iterable[Step]) -> Step | None:
    """Return where a number is after these steps: the newest counts, a final one only yields to a return."""
    state, is_returning = None, False
    for step in sorted(steps):
        if state and state.status in FINAL and (state.status, step.status) != ("DELIVERED", "RETURN_TO_SENDER"):
            continue
        is_returning = is_returning or step.status == "RETURN_TO_SENDER"
        state = step._replace(status="RETURNED_TO_SENDER") if is_returning and step.status == "DELIVERED" else step
    return state


def derive(events: dict[str, list[tuple[int, str]]], sold: set[str], report: tuple[int, str] | None) -> Step | None:
    """Return the status of a parcel from its numbers' events, those that were sold, and the shop's report."""
    reported = [Step(report[0], is_carrier=False, status=report[1])] if report else []
    if not any(events.values()):
        return reported[0] if reported else None
    known = {number: told for number, told in events.items() if told or number in sold}
    known |= {number: [] for number in sold if number not in known}
    steps = {
        number: [*reported, *(Step(at, True, status) for at, code in told if (status := STATUS_OF[code]))]
        for number, told in known.items()
    }
    if not any(steps.values()):
        return None
    announced = Step(0, is_carrier=True, status="FULFILLED")
    last = [last_of(each) or announced for each in steps.values()]
    return min(last, key=lambda step: (ADVANCE.index(step.status), -step.at))


def has_moved(events: Iterable[tuple[int, str]]) -> bool:
    return any(STATUS_OF[code] not in (None, "FULFILLED") for _, code in events)

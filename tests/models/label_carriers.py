"""The carriers' ways that their sandbox has no fault for: time that passes for a search, and an unnumbered parcel."""

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

from carriers.http.transport import Answer
from carriers.sandbox.parcel import Purchase
from tests.carriers.sandbox.control import sold
from tests.labels.conftest import Sandbox

FOR_EVER_S = 10**6
NUMBER = re.compile(rb"<skybillNumber>\w+</skybillNumber>")


def age(parcels: Sequence[Purchase], seconds: float) -> None:
    """Let time pass until the carrier finds these parcels."""
    for parcel in parcels:
        object.__setattr__(parcel, "findable_at_s", parcel.findable_at_s - seconds)


def make_one_more(sandbox: Sandbox, parcel: Purchase) -> None:
    """Let alpha have a second parcel with the same reference."""
    made = sold(sandbox.server, parcel.tracking_number)
    label = replace(made.label, tracking_number=f"XZ{len(sandbox.made()):09}FR")
    sandbox.server.state.ledger.record([replace(made, label=label)], parcel.account)


@contextmanager
def behind(sandbox: Sandbox, known: int) -> Iterator[None]:
    """Let alpha's search know only so many of the parcels, those that were made first."""
    later = sandbox.made()[known:]
    age(later, -FOR_EVER_S)
    yield
    age(later, FOR_EVER_S)


def without_a_number(answer: Answer) -> Answer:
    """Leave the first parcel's number out of alpha's answer to a purchase."""
    is_purchase = b"<reservationNumber>" in answer.body
    return replace(answer, body=NUMBER.sub(b"", answer.body, count=1)) if is_purchase else answer

"""Deposit slips: a carrier's lists of the parcels that it takes over together."""

from dataclasses import dataclass, field
from datetime import datetime


@dataclass(frozen=True)
class DepositSlip:
    """A slip as the carrier made it: its number, when it was published, and its PDF."""

    number: str
    published_at: datetime | None
    pdf: bytes = field(repr=False)

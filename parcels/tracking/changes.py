"""The one place that hears of each parcel whose status has become another, in the transaction that changes it."""

from collections.abc import Iterable
from dataclasses import dataclass

from parcels.tracking import metrics


@dataclass(frozen=True)
class StatusChange:
    """A parcel's status that has become another."""

    parcel_id: str
    shop_id: str
    before: str | None
    after: str | None
    at: int | None


def status_changed(changes: Iterable[StatusChange]) -> None:
    """Count the changes; a status that was set to what it was is none."""
    for change in changes:
        if change.after != change.before:
            metrics.STATUS_CHANGES.labels(change.after or "none").inc()

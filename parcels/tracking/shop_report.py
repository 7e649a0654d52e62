"""The shop's report of a parcel, which each of its imports brings: the newest speaks for the shop."""

from dataclasses import dataclass

from parcels.models import Parcel
from parcels.tracking.events import milliseconds
from parcels.tracking.timeline import SHOWN_FIELDS, Timeline, as_stored, reported_by_shop, set_timeline


@dataclass(frozen=True)
class Report:
    """The timeline as one import gave it; the newest counts, of equal ones the one imported later."""

    timeline: Timeline
    imported_at: int

    def outdates(self, other: "Report") -> bool:
        return (self.timeline.as_of, self.imported_at) >= (other.timeline.as_of, other.imported_at)


def report_of(parcel: Parcel) -> Report | None:
    """Return the shop's report; None for a label's parcel."""
    timeline, imported_at = reported_by_shop(parcel), parcel.imported_at
    return Report(timeline, milliseconds(imported_at)) if timeline and imported_at else None


def merge_with_stored(parcel: Parcel, before: Parcel) -> None:
    """Give an imported parcel the newer report, this one or the one before, and what imports do not bring."""
    report, earlier = report_of(parcel), report_of(before)
    assert report is not None
    parcel.are_texts_erased = before.are_texts_erased
    updated_at = parcel.updated_at
    if earlier is not None and not report.outdates(earlier):
        report = earlier
        set_timeline(parcel, report.timeline)
        parcel.updated_at = max(parcel.updated_at, before.updated_at)
    if before.reported is not None:
        parcel.reported = before.reported | as_stored(report.timeline, updated_at)


def has_changed(parcel: Parcel, before: Parcel) -> bool:
    """Tell if an import shows another parcel than before: by the time that the shop gave it, or by what was derived."""
    given = [(each.reported or {}).get("updatedAt") for each in (parcel, before)]
    return given[0] != given[1] or any(getattr(parcel, name) != getattr(before, name) for name in SHOWN_FIELDS)

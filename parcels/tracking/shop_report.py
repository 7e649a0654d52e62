"""The shop's report of a parcel, which each of its imports brings: the newest speaks for the shop."""

from parcels.models import Parcel
from parcels.tracking.timeline import SHOWN_FIELDS, as_stored, reported_by_shop, set_timeline


def merge_with_stored(parcel: Parcel, before: Parcel) -> None:
    """Keep the newer report, of equal ones the later import, and what imports do not bring."""
    report, earlier = reported_by_shop(parcel), reported_by_shop(before)
    assert report is not None
    parcel.are_texts_erased = before.are_texts_erased
    updated_at = parcel.updated_at
    if earlier is not None and (earlier.as_of, before.imported_at) > (report.as_of, parcel.imported_at):
        report = earlier
        set_timeline(parcel, report)
        parcel.updated_at = max(parcel.updated_at, before.updated_at)
    if before.reported is not None:
        parcel.reported = before.reported | as_stored(report, updated_at)


def has_changed(parcel: Parcel, before: Parcel) -> bool:
    """Return whether an import shows another parcel than before: by the shop's time, or by what was derived."""
    given = [(each.reported or {}).get("updatedAt") for each in (parcel, before)]
    return given[0] != given[1] or any(getattr(parcel, name) != getattr(before, name) for name in SHOWN_FIELDS)

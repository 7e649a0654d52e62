"""The tracking of a parcel moves to the rows of its numbers, in batches that can be broken off."""

from itertools import groupby
from operator import attrgetter
from typing import Any

from django.db import migrations, transaction

from shops.db import bulk

BATCH_SIZE = 500
OF_A_PARCEL = ("reported", "are_texts_erased")
OF_A_NUMBER = (
    *("state", "is_added", "carrier_code", "events", "expected", "last_event_at"),
    *("followed_since", "due_at", "checked_at", "outcome", "failures"),
)


def forwards(apps: Any, schema_editor: Any) -> None:
    tracking = apps.get_model("parcels", "ParcelTracking").objects.order_by("pk")
    while move(apps, list(tracking[:BATCH_SIZE])):
        pass


@transaction.atomic
def move(apps: Any, trackings: list[Any]) -> bool:
    """Move a batch; what it moved is not there any more when it is repeated."""
    parcels, numbers = apps.get_model("parcels", "Parcel"), apps.get_model("parcels", "TrackingNumber")
    by_parcel = {each.pk: each for each in trackings}
    rows = numbers.objects.filter(parcel__in=list(by_parcel)).order_by("parcel_id", "id")
    moved: list[Any] = []
    for parcel_id, own in groupby(rows, attrgetter("parcel_id")):
        moved += numbered(by_parcel[parcel_id], list(own))
    bulk.save(moved, OF_A_NUMBER)
    told = [each for each in trackings if each.reported is not None or each.are_texts_erased]
    bulk.save(
        [bulk.instance(parcels, id=each.pk, **{n: getattr(each, n) for n in OF_A_PARCEL}) for each in told], OF_A_PARCEL
    )
    trackings and type(trackings[0]).objects.filter(pk__in=list(by_parcel)).delete()
    return bool(trackings)


def numbered(tracking: Any, rows: list[Any]) -> list[Any]:
    """Give the rows of a parcel's numbers what its tracking knew of each."""
    for row in rows:
        events = [dict(event) for event in tracking.carrier_events if event["number"] == row.number]
        for event in events:
            del event["number"]
        row.state = "bought" if row.number in tracking.label_numbers else "reported"
        row.is_added = row.number in tracking.added_numbers
        row.carrier_code, row.events = tracking.carrier_code, events
        row.expected = tracking.expected if row is rows[0] else None
        row.last_event_at = max((event["at"] for event in events), default=None)
        row.followed_since, row.due_at = tracking.followed_since, tracking.next_check_at
        row.checked_at, row.outcome, row.failures = tracking.checked_at, tracking.outcome, tracking.failures
    return rows


class Migration(migrations.Migration):
    atomic = False

    dependencies = [("parcels", "0007_number_indexes")]

    operations = [migrations.RunPython(forwards, migrations.RunPython.noop)]

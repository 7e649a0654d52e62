"""Removes a customer's personal data from parcels, and keeps the shop's business records.

`parcels.personal_data.columns` says which columns are personal, and what is left of each: identifiers of the parcel,
its order and its articles, tracking numbers, statuses and their times, amounts, province and country stay. A string
that the API promises becomes empty.

The shop's systems are the source: a later import of the same parcel brings everything back.
"""

from collections.abc import Iterable

import orjson
from django.db.models import QuerySet
from django.db.models.functions import Upper

from parcels.models import Parcel, TrackingNumber, UnlistedEventCode
from parcels.personal_data.columns import COLUMNS
from parcels.tracking.timeline import TIMELINE_FIELDS, move_time, save_report
from shops.db import clock
from shops.db.bulk import batches
from shops.personal_data import Columns, Traces, left_of
from shops.staff.search import upper

# What is read of a parcel beside its personal columns.
READ = ("updated_at", "imported_at", *TIMELINE_FIELDS)


def parcels_of(shop_id: str, email: str) -> list[Traces]:
    """Find a customer's parcels by their current or an earlier e-mail, in either case of ASCII letters.

    Shops import some with blanks around them. Neither search scans the shop's parcels: the first reads the index of
    e-mails only, the second the few parcels that have earlier e-mails.
    """
    own = Parcel.objects.for_shop(shop_id).order_by()
    by_email = own.alias(folded=Upper("customer_email")).filter(folded__contains=upper(email))
    in_json = orjson.dumps(email).decode()[1:-1]
    by_earlier = own.exclude(previous_emails=[]).filter(previous_emails__icontains=in_json)
    alike = [(key, [one]) for key, one in by_email.values_list("id", "customer_email")]
    alike += by_earlier.values_list("id", "previous_emails")
    ids = {key for key, emails in alike if upper(email) in (upper(each.strip()) for each in emails)}
    return [found for batch in batches(ids) for found in traces(own.filter(id__in=batch))]


def parcels_with(shop_id: str, *, order_ids: Iterable[str], numbers: Iterable[str]) -> list[Traces]:
    """Find the parcels of these orders, and those with one of these numbers."""
    own, found = Parcel.objects.for_shop(shop_id).order_by(), []
    for ids in batches(order_ids):
        found += traces(own.filter(order_id__in=ids))
    for some in batches(numbers):
        found += traces(own.filter(numbers__shop=shop_id, numbers__number__in=some))
    return found


def traces(parcels: QuerySet[Parcel]) -> list[Traces]:
    rows = parcels.values_list("id", "order_id", "created_at", "tracking_id", "tracking_numbers")
    return [
        Traces(parcel_id, order_id, frozenset([tracking_id, *numbers]), created_at)
        for parcel_id, order_id, created_at, tracking_id, numbers in rows
    ]


def erase(parcel_ids: Iterable[str]) -> int:
    """Anonymise these parcels within the caller's transaction; return how many there were."""
    columns, now, erased = COLUMNS[Parcel], clock.now(), 0
    for batch in batches(parcel_ids):
        rows = Parcel.objects.filter(id__in=batch).only("id", *READ, *columns).order_by("id")
        parcels = list(rows.select_for_update(of=("self",)))
        for parcel in parcels:
            if any(getattr(parcel, name) != value for name, value in left_of(columns, parcel).items()):
                save_report(parcel)
                move_time(parcel, now)
            if parcel.reported:
                parcel.reported.pop("updatedAt", None)  # even the same line imported again is another parcel
            parcel.are_texts_erased = True
            anonymise(parcel, columns, "are_texts_erased", "updated_at")
        erase_texts(batch)
        erased += len(parcels)
    return erased


def erase_texts(parcel_ids: Iterable[str]) -> None:
    """Erase the texts that carriers reported, and those of codes that our tables lack, or lacked when an event came.

    Nobody knows any more which event a code's text came from: the event's text, the code's place in the tables and the
    number's carrier may have changed since.
    """
    numbers = TrackingNumber.objects.filter(parcel__id__in=list(parcel_ids)).exclude(events=[]).order_by("pk")
    rows = list(numbers.select_for_update(of=("self",)))
    for row in rows:
        anonymise(row, COLUMNS[TrackingNumber])
    for codes in batches({event["code"] for row in rows for event in row.events}):
        known = UnlistedEventCode.objects.filter(code__in=codes).exclude(text="").select_for_update()
        UnlistedEventCode.objects.filter(pk__in=list(known.values_list("pk", flat=True))).update(text="")


def anonymise(row: Parcel | TrackingNumber, columns: Columns, *further: str) -> None:
    left = left_of(columns, row)
    for name, value in left.items():
        setattr(row, name, value)
    row.save(update_fields=[*left, *further])

"""Emits each status that has become another, in the transaction that changes it."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

from parcels.models import Parcel
from parcels.tracking import metrics
from shops.webhooks.outbox import Event, tell_all

SENT_FIELDS = ("order_id", "order_number", "tracking_id", "tracking_numbers", "carrier_code")


class StatusChange(NamedTuple):
    """A parcel's status that has become another than the one that webhooks were told last."""

    parcel_id: str
    shop_id: str
    before: str | None
    after: str | None
    at: int | None


def emit(changes: Iterable[StatusChange], *, is_silent: bool = False) -> None:
    """Count the changes, and notify the shops' webhooks of them unless silent; a status set to what it was is none.

    Call it when the parcels' rows are written.
    """
    real = [change for change in changes if change.after != change.before]
    for status, count in Counter(change.after or "none" for change in real).items():
        metrics.STATUS_CHANGES.labels(status).inc(count)
    if not is_silent:
        for shop_id, of_shop in groupby(sorted(real, key=lambda change: change.shop_id), lambda change: change.shop_id):
            tell_all(shop_id, events(list(of_shop)))


def events(changes: Sequence[StatusChange]) -> Iterator[Event]:
    """Make the events, with one query for their parcels' data."""
    shown = Parcel.objects.filter(is_withdrawn=False).only(*SENT_FIELDS)
    parcels = shown.in_bulk([change.parcel_id for change in changes])
    for change in changes:
        if parcel := parcels.get(change.parcel_id):
            yield Event("parcel.status_changed", parcel.id, data_of(parcel, change))


def data_of(parcel: Parcel, change: StatusChange) -> dict[str, object]:
    return {
        "id": parcel.id,
        "orderId": parcel.order_id,
        "orderNumber": parcel.order_number,
        "trackingId": parcel.tracking_id,
        "trackingNumbers": parcel.tracking_numbers,
        "carrierCode": parcel.carrier_code,
        "status": change.after,
        "previousStatus": change.before,
        "statusUpdatedAt": change.at,
    }

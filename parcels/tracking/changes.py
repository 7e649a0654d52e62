"""Emits each status that has become another, in the transaction that changes it."""

from collections import Counter
from collections.abc import Iterable
from itertools import groupby
from operator import attrgetter
from typing import NamedTuple

from parcels.models import Parcel
from parcels.tracking import metrics
from shops.webhooks.outbox import Event, emit_all

SHOP = attrgetter("parcel.shop_id")
SENT_FIELDS = ("order_id", "order_number", "tracking_id", "tracking_numbers", "carrier_code")


class StatusChange(NamedTuple):
    """A parcel, as it is written, and the status that was emitted before; its `SENT_FIELDS` are loaded."""

    parcel: Parcel
    before: str | None


def emit(changes: Iterable[StatusChange], *, is_silent: bool = False) -> None:
    """Count the changes, and notify the shops' webhooks of them unless silent; a status set to what it was is none.

    Call it when the parcels' rows are written.
    """
    real = [change for change in changes if change.parcel.last_status != change.before]
    for status, count in Counter(change.parcel.last_status or "none" for change in real).items():
        metrics.STATUS_CHANGES.labels(status).inc(count)
    if not is_silent:
        for shop_id, of_shop in groupby(sorted(real, key=SHOP), SHOP):
            emit_all(shop_id, map(event_of, of_shop))


def event_of(change: StatusChange) -> Event:
    parcel = change.parcel
    data = {
        "id": parcel.id,
        "orderId": parcel.order_id,
        "orderNumber": parcel.order_number,
        "trackingId": parcel.tracking_id,
        "trackingNumbers": parcel.tracking_numbers,
        "carrierCode": parcel.carrier_code,
        "status": parcel.last_status,
        "previousStatus": change.before,
        "statusUpdatedAt": parcel.last_status_updated_at,
    }
    return Event("parcel.status_changed", parcel.id, data)

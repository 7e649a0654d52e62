"""The states of a label, the groups of them that are asked for together, and how long each may last."""

from datetime import datetime, timedelta

from django.conf import settings
from django.db import models

from carriers import CARRIERS
from shops.db import clock


class LabelState(models.TextChoices):
    """The progress of a purchase. Only `GENERATED` exists for the API."""

    PURCHASING = "purchasing", "being bought: the carrier is asked, or the process was interrupted"
    RECEIVED = "received", "bought: the PDF waits for the storage"
    GENERATED = "label_generated", "bought, stored"
    FAILED = "failed", "not bought"
    INCOMPLETE = "incomplete", "some parcels were bought before the carrier refused another"
    UNKNOWN = "unknown", "may have been bought: to be found out or decided"
    CANCELLING = "cancelling", "bought, to be cancelled: the carrier could not yet"
    CANCEL_UNKNOWN = "cancel_unknown", "bought, to be cancelled: the carrier may have done so without an answer"
    CANCELLED = "cancelled", "bought, then cancelled"


OVER = (LabelState.GENERATED, LabelState.FAILED, LabelState.CANCELLED)
IN_CANCELLATION = (LabelState.CANCELLING, LabelState.CANCEL_UNKNOWN)
# It is not known, or not decided, what was made.
OPEN = (LabelState.PURCHASING, LabelState.UNKNOWN, LabelState.INCOMPLETE)
UNFINISHED = (LabelState.RECEIVED, *OPEN, *IN_CANCELLATION)
# The PDF is in the storage, until it is removed by its age or on request.
STORED = (LabelState.GENERATED, *IN_CANCELLATION, LabelState.CANCELLED)
# What was made and is not used costs nothing: such an order settles itself.
UNBILLED = [code for code, carrier in CARRIERS.items() if not carrier.bills_unused_labels]
# A carrier may know a new parcel only after an hour: until then a cancellation that failed is tried again.
CANCEL_TIMEOUT = timedelta(hours=1)
# What is stored, merged or settled without anybody has that much time after its wait, before it is a person's.
PERSONS_AFTER = timedelta(minutes=15)


def lease(begins_at: datetime | None = None, *, calls: int = 1) -> datetime:
    """Return the end of a lease, taken now by default: later than so many calls to a carrier can end."""
    return (begins_at or clock.now()) + timedelta(seconds=settings.CARRIER_TIMEOUT * calls + settings.LEASE_MARGIN_S)


def settle_wait() -> timedelta:
    """Return the time after which an order without a PDF settles itself, if what was made of it costs nothing."""
    return timedelta(seconds=settings.SETTLE_WAIT_S)

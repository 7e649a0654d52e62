"""The states of a label, how long each may last, and the ways to find labels by them."""

from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Self

from django.conf import settings
from django.db import models
from django.db.models import Q

from carriers import CARRIERS
from shops.db import clock
from shops.db.querysets import ForShop

if TYPE_CHECKING:
    from labels.models.label import ShippingLabel


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


def is_free() -> Q:
    """Return the condition that no process works on a label."""
    return Q(leased_until__lt=clock.Now())


class ShippingLabelQuerySet(ForShop):
    def row_of(self, label: "ShippingLabel") -> Self:
        """The label's own row, by its shop too: a database that is partitioned by shop searches one partition."""
        return self.for_shop(label.shop_id).filter(id=label.id)

    def generated(self) -> Self:
        return self.filter(state=LabelState.GENERATED)

    def free(self) -> Self:
        return self.filter(is_free())

    def interrupted(self) -> Self:
        """Purchases and cancellations that are not over and were never looked at, or are to be looked at at once."""
        return self.free().filter(state__in=UNFINISHED, ask_again_at=None)

    def to_ask_again(self) -> Self:
        """Labels of any state that are to be looked at again by now."""
        return self.free().filter(ask_again_at__lt=clock.Now())

    def needing_decision(self) -> Self:
        """Live labels that wait for a person; what costs nothing, or is only late, does so at last."""
        is_late = Q(created_at__lt=clock.Now() - settle_wait() - PERSONS_AFTER)
        is_open = Q(state__in=OPEN) & (~Q(state=LabelState.PURCHASING) | is_free())
        is_persons = is_open & ~Q(carrier_code__in=UNBILLED)
        is_overdue = Q(state__in=IN_CANCELLATION, cancel_requested_at__lt=clock.Now() - CANCEL_TIMEOUT)
        return self.live().filter(is_persons | is_late & (is_open | Q(state=LabelState.RECEIVED)) | is_overdue)

    def with_notice(self) -> Self:
        return self.live().exclude(staff_notice="")

    def over(self) -> Self:
        """Purchases that have ended: nothing is left to do, to ask or to decide."""
        return self.filter(state__in=OVER)

    def with_tracking_number(self, *numbers: str) -> Self:
        """Find by any parcel's number."""
        return self.listing_any_of("tracking_numbers", numbers)

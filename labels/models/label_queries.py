"""The ways to find labels."""

from collections.abc import Iterable
from functools import reduce
from operator import or_
from typing import TYPE_CHECKING, Self

from django.db import connection, models
from django.db.models import Q
from django.db.models.functions import Cast, StrIndex
from django.db.models.lookups import GreaterThan

from labels.models.label_states import (
    CANCEL_TIMEOUT,
    IN_CANCELLATION,
    OPEN,
    OVER,
    PERSONS_AFTER,
    UNBILLED,
    UNFINISHED,
    LabelState,
    settle_wait,
)
from shops.db import clock
from shops.db.querysets import ForShop

if TYPE_CHECKING:
    from labels.models.label import ShippingLabel


class ShippingLabelQuerySet(ForShop):
    """Ways to find labels."""

    def row_of(self, label: "ShippingLabel") -> Self:
        """The label's own row, by its shop too: a database that is partitioned by shop searches one partition."""
        return self.for_shop(label.shop_id).filter(id=label.id)

    def generated(self) -> Self:
        return self.filter(state=LabelState.GENERATED)

    def cancellable(self) -> Self:
        """Labels that a shop may cancel, and those that are cancelled or about to be."""
        return self.filter(state__in=(LabelState.GENERATED, *IN_CANCELLATION, LabelState.CANCELLED))

    def free(self) -> Self:
        """Labels that no process works on."""
        return self.filter(leased_until__lt=clock.Now())

    def interrupted(self) -> Self:
        """Purchases and cancellations that are not over and were never looked at, or are to be looked at at once."""
        return self.free().filter(state__in=UNFINISHED, ask_again_at=None)

    def to_ask_again(self) -> Self:
        """Labels of any state that are to be looked at again by now."""
        return self.free().filter(ask_again_at__lt=clock.Now())

    def needing_decision(self) -> Self:
        """Live labels that wait for a person; what costs nothing, or is only late, does so at last."""
        is_late = Q(created_at__lt=clock.Now() - settle_wait() - PERSONS_AFTER)
        is_open = Q(state__in=OPEN) & ~Q(state=LabelState.PURCHASING, leased_until__gte=clock.Now())
        is_persons = is_open & ~Q(carrier_code__in=UNBILLED)
        is_overdue = Q(state__in=IN_CANCELLATION, cancel_requested_at__lt=clock.Now() - CANCEL_TIMEOUT)
        return self.live().filter(is_persons | is_late & (is_open | Q(state=LabelState.RECEIVED)) | is_overdue)

    def with_notice(self) -> Self:
        return self.live().exclude(staff_notice="")

    def over(self) -> Self:
        """Purchases that have ended: nothing is left to do, to ask or to decide."""
        return self.filter(state__in=OVER)

    def with_tracking_number(self, *numbers: str) -> Self:
        """Find by any parcel's number, of letters and digits: along the index on PostgreSQL."""
        if connection.features.supports_json_field_contains:
            return self.filter(any_of(Q(tracking_numbers__contains=[number]) for number in numbers))
        text = Cast("tracking_numbers", models.TextField())
        places = (StrIndex(text, models.Value(f'"{number}"')) for number in numbers)
        return self.filter(any_of(Q(GreaterThan(place, 0)) for place in places))


def any_of(conditions: Iterable[Q]) -> Q:
    return reduce(or_, conditions, Q(pk__in=[]))

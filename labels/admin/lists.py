"""The staff's list of labels: searched along indexes, counted up to its last page, read in the columns it shows."""

import re
from typing import Any

from django.db.models import QuerySet

from labels.models import ShippingLabel
from shops.admin.base import CappedList, spellings

TRACKING_NUMBER = re.compile(r"[A-Za-z0-9]{1,35}")


def found_by(text: str) -> QuerySet[Any, Any]:
    """Find the ids of the labels of all shops with this id, order id or tracking number.

    Every part is an exact look-up along an index (tracking numbers on PostgreSQL only).
    """
    typed = spellings(text)
    numbers = [spelling for spelling in typed if TRACKING_NUMBER.fullmatch(spelling)]
    labels = ShippingLabel.objects.order_by()
    return (
        labels.filter(pk__in=typed)
        .values("pk")
        .union(
            labels.filter(order_id__in=typed).values("pk"),
            labels.with_tracking_number(*numbers).values("pk"),
            all=True,
        )
    )


class LabelList(CappedList):
    """Reads no more columns than the list shows: addresses stay in the database."""

    not_listed = ("pdf", "sender", "recipient", "weights_kg", "customs", "error_message", "body_digest")

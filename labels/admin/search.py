"""Finds labels by what staff type."""

import re
from typing import Any

from django.db import models
from django.db.models import Q, QuerySet
from django.db.models.functions import Cast

from labels.models import UNFINISHED, ShippingLabel
from shops.db.querysets import any_of
from shops.staff.search import LISTED, RowSearch, begin_in_any_case, begin_with, in_any_case, spellings

TRACKING_NUMBER = re.compile(r"[A-Za-z0-9]{1,35}")


def whole(text: str) -> QuerySet[Any, Any]:
    """Find the ids of the labels of all shops with this id, order id or tracking number.

    Every part is an exact look-up along an index (tracking numbers on PostgreSQL only).
    """
    typed = spellings(text)
    labels = ShippingLabel.objects.order_by()
    return (
        labels.filter(pk__in=typed)
        .values("pk")
        .union(
            labels.filter(order_id__in=typed).values("pk"),
            labels.filter(request_id=text.lower()).exclude(request_id="").values("pk"),
            in_any_case(labels, "order_id", text).values("pk"),
            labels.with_tracking_number(*numbers(text)).values("pk"),
            all=True,
        )
    )


def beginning(text: str) -> set[str]:
    """Find the ids of labels with a number or an id that begins with the text.

    Numbers are those of labels to decide, which are few: any other label with a number is a parcel, and found so.
    """
    labels = ShippingLabel.objects.all()
    written = labels.filter(state__in=UNFINISHED).alias(written=Cast("tracking_numbers", models.TextField()))
    with_number = written.filter(any_of(Q(written__contains=f'"{number}') for number in numbers(text)))
    return (
        begin_with(labels, "id", spellings(text))
        | begin_in_any_case(labels, "order_id", spellings(text))
        | set(with_number.order_by().values_list("pk", flat=True)[: LISTED + 1])
    )


def numbers(text: str) -> list[str]:
    return [spelling for spelling in spellings(text) if TRACKING_NUMBER.fullmatch(spelling)]


def in_town(town: str) -> Q:
    return Q(recipient__city__istartswith=town)


find = RowSearch(ShippingLabel.objects.all(), whole, beginning, in_town).find

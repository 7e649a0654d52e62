"""Finds labels by what staff type."""

import re
from typing import Any

from django.db import models
from django.db.models import Q, QuerySet
from django.db.models.functions import Cast

from labels.models import UNFINISHED, ShippingLabel
from shops.db.querysets import any_of
from shops.staff.search import LISTED, Key, RowSearch, spellings

TRACKING_NUMBER = re.compile(r"[A-Za-z0-9]{1,35}")
LABELS = ShippingLabel.objects.all()


def whole(text: str) -> tuple[QuerySet[Any, Any], ...]:
    """Find the ids of labels by the request, and by their tracking numbers (along an index on PostgreSQL only)."""
    labels = LABELS.order_by()
    requested = labels.filter(request_id=text.lower()).exclude(request_id="")
    return requested.values("pk"), labels.with_tracking_number(*numbers(text)).values("pk")


def beginning(text: str) -> set[str]:
    """Find the ids of labels to decide, which are few: any other label with a number is a parcel, and found so."""
    written = LABELS.filter(state__in=UNFINISHED).alias(written=Cast("tracking_numbers", models.TextField()))
    with_number = written.filter(any_of(Q(written__contains=f'"{number}') for number in numbers(text)))
    return set(with_number.order_by().values_list("pk", flat=True)[: LISTED + 1])


def numbers(text: str) -> list[str]:
    return [spelling for spelling in spellings(text) if TRACKING_NUMBER.fullmatch(spelling)]


def in_town(town: str) -> Q:
    return Q(recipient__city__istartswith=town)


SEARCH = RowSearch(LABELS, (Key(LABELS, "id", has_mixed=False), Key(LABELS, "order_id")), in_town, whole, beginning)

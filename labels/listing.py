"""The staff's list of labels: found along indexes, counted no further than it pages, read no further than it shows."""

import re
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

from django.contrib.admin.views.main import ChangeList
from django.core.exceptions import BadRequest
from django.core.paginator import Paginator
from django.db.models import QuerySet
from django.http import HttpRequest

from labels.models import ShippingLabel

if TYPE_CHECKING:
    LabelPaginator = Paginator[ShippingLabel]
else:
    LabelPaginator = Paginator

LISTED_AT_MOST = 1000
NOT_LISTED = ("sender", "recipient", "weights_kg", "error_message", "pdf_secret", "body_digest")
TRACKING_NUMBER = re.compile(r"[A-Za-z0-9]{1,35}")


def found_by(text: str) -> QuerySet[Any, Any]:
    """Give the ids of the labels of all shops with this id, order id or tracking number.

    Every part is an exact look-up along an index (tracking numbers on PostgreSQL only); spellings stand in for what
    no index compares: the case of letters, and spaces inside a number.
    """
    as_typed = {text, "".join(text.split())}
    spellings = {case(written) for written in as_typed for case in (str, str.lower, str.upper)}
    numbers = [spelling for spelling in spellings if TRACKING_NUMBER.fullmatch(spelling)]
    labels = ShippingLabel.objects.order_by()
    return (
        labels.filter(pk__in=spellings)
        .values("pk")
        .union(
            labels.filter(order_id__in=spellings).values("pk"),
            labels.with_tracking_number(*numbers).values("pk"),
            all=True,
        )
    )


class CappedPaginator(LabelPaginator):
    """Pages over the newest, up to a number: beyond it one searches, and nothing counts millions of rows."""

    template_name = "labels/pagination.html"

    @cached_property
    def found(self) -> int:
        """How many there are, counted no further than to know that there are too many."""
        labels = cast("QuerySet[ShippingLabel]", self.object_list)
        return labels.order_by()[: LISTED_AT_MOST + 1].count()

    @cached_property
    def count(self) -> int:
        return min(self.found, LISTED_AT_MOST)

    @property
    def is_capped(self) -> bool:
        return self.found > LISTED_AT_MOST


class LabelList(ChangeList):
    """The list reads what it shows; addresses stay in the database."""

    def get_queryset(self, *args: Any, **kwargs: Any) -> QuerySet[Any]:
        return super().get_queryset(*args, **kwargs).defer("pdf", *NOT_LISTED)

    def get_results(self, request: HttpRequest) -> None:
        super().get_results(request)
        if not self.query and not self.has_active_filters:
            self.full_result_count = self.result_count  # offers "Show all" only where something is left out


class ReadOnly:
    """Rows that are looked at: they are not for the admin to make, edit or delete."""

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


def refuse_nul(*texts: str) -> None:
    """Answer 400 where PostgreSQL would fail: it refuses to compare with a text that has a NUL."""
    if any("\0" in text for text in texts):
        raise BadRequest("A NUL character is no part of any text here.")

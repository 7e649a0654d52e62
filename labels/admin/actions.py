"""Actions on selected labels: their rows in the order of the list, a page that asks first, outcomes in words."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from django.contrib import messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext

from labels.models import LabelState, ShippingLabel

if TYPE_CHECKING:
    from shops.staff.base import ModelAdmin

    Base = ModelAdmin[ShippingLabel]
else:
    Base = object

NAMED_AT_MOST = 10
LeftOut = list[tuple[ShippingLabel, str]]


class SelectedLabels(Base):
    """The base of all actions on selected labels."""

    def chosen(self, request: HttpRequest, queryset: QuerySet[ShippingLabel], limit: int) -> list[ShippingLabel]:
        """Return the labels in the order of the list, with the PDFs that rows keep; none where they are too many."""
        labels = list(queryset.defer(None).defer("pdf", "customs", "sender")[: limit + 1])
        if len(labels) > limit:
            self.message_user(
                request,
                gettext("Choose at most {limit} labels. Nothing was done.").format(limit=limit),
                messages.WARNING,
            )
            return []
        kept = [label.pk for label in labels if label.state == LabelState.RECEIVED]
        pdfs = dict(ShippingLabel.objects.filter(pk__in=kept).values_list("pk", "pdf")) if kept else {}
        for label in labels:
            label.pdf = pdfs.get(label.pk)
        return labels

    def ask_about(self, request: HttpRequest, context: dict[str, Any]) -> HttpResponse:
        return self.ask(request, "labels/selected.html", context)


def by_reason(left_out: Iterable[tuple[ShippingLabel, str]]) -> list[tuple[str, list[ShippingLabel]]]:
    """Gather labels by the reason why nothing is done to them."""
    gathered = defaultdict(list)
    for label, reason in left_out:
        gathered[reason].append(label)
    return list(gathered.items())


def joined_ids(labels: Sequence[ShippingLabel]) -> str:
    """Name the first labels of some."""
    ids = ", ".join(label.id for label in labels[:NAMED_AT_MOST])
    more = len(labels) - NAMED_AT_MOST
    return gettext("{ids} and {count} more").format(ids=ids, count=more) if more > 0 else ids

"""Actions on selected labels: their rows in the order of the list, a page that asks first, outcomes in words."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from django.contrib import messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext
from django_stubs_ext import StrOrPromise

from labels.models import LabelState, ShippingLabel
from shops.staff.acts import is_confirmed
from shops.staff.base import LargeTableAdmin

NAMED_AT_MOST = 10


class Question(NamedTuple):
    """The question before an action: which labels it is for, and its texts, which may name counts and a reason."""

    action: str
    why_not: Callable[[ShippingLabel], str]  # the reason why it is not for a label; empty where it is
    none: StrOrPromise
    title: StrOrPromise
    explanation: StrOrPromise
    button: StrOrPromise
    is_always_asked: bool = False  # not only where labels are left out


class Choice(NamedTuple):
    """The labels that an action is for, and those that it leaves out, each with the reason."""

    concerned: list[ShippingLabel]
    left_out: list[tuple[ShippingLabel, str]]


class SelectedLabels(LargeTableAdmin[ShippingLabel]):
    """The base of all actions on selected labels."""

    def choice(
        self, request: HttpRequest, queryset: QuerySet[ShippingLabel], question: Question, limit: int
    ) -> Choice | HttpResponse | None:
        """Return what is chosen and confirmed, or the page that asks; None where nothing is done, which is said."""
        labels = read(queryset, limit + 1)
        if len(labels) > limit:
            messages.warning(request, gettext("Choose at most {limit} labels. Nothing was done.").format(limit=limit))
            return None
        reasons = [(label, gettext(question.why_not(label))) for label in labels]
        choice = Choice([label for label, why in reasons if not why], [each for each in reasons if each[1]])
        if not choice.concerned:
            if labels:
                reason = choice.left_out[0][1]
                messages.warning(request, question.none.format(reason=reason, over=reason))
            return None
        if (choice.left_out or question.is_always_asked) and not is_confirmed(request):
            ready = len(choice.concerned)
            counts = {"left_out": len(choice.left_out), "total": len(labels), "ready": ready, "concerned": ready}
            texts = {"explanation": question.explanation.format(**counts), "button": question.button.format(**counts)}
            rows = {"labels": choice.concerned, "left_out": by_reason(choice.left_out)}
            named = {"title": question.title, "action": question.action}
            return self.page(request, "labels/selected.html", texts | rows | named)
        return choice


def read(queryset: QuerySet[ShippingLabel], limit: int) -> list[ShippingLabel]:
    """Return the first labels in the order of the list, with the PDFs that rows keep."""
    labels = list(queryset.defer(None).defer("pdf", "customs", "sender")[:limit])
    kept = [label.pk for label in labels if label.state == LabelState.RECEIVED]
    pdfs = dict(ShippingLabel.objects.filter(pk__in=kept).values_list("pk", "pdf")) if kept else {}
    for label in labels:
        label.pdf = pdfs.get(label.pk)
    return labels


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

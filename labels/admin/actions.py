"""Actions on selected labels: a page that asks first, decisions about each, and outcomes in words."""

import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import Final, NamedTuple

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext, gettext_lazy, gettext_noop
from django_stubs_ext import StrOrPromise

from labels.lifecycle import decisions
from labels.models import OPEN, LabelState, ShippingLabel
from shops.staff.acts import StaffRequest, is_confirmed
from shops.staff.base import LargeTableAdmin

Decision = Callable[[StaffRequest, ShippingLabel], str]
NAMED_AT_MOST = 10
MAX_LABELS = 100  # a carrier is asked for each
TIME_LIMIT_S = 45.0  # no further label is begun after it
NOT_REACHED = gettext_noop("not asked any more, as the others took too long: select them again")
OVER = gettext_noop("over, or still worked on")
CANCELLED, NOT_MADE = gettext_noop("cancelled"), gettext_noop("marked as not made")
NOT_YET = gettext_noop("not cancelled yet, it is tried again for an hour")


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
    ids = ", ".join(label.id for label in labels[:NAMED_AT_MOST])
    more = len(labels) - NAMED_AT_MOST
    return gettext("{ids} and {count} more").format(ids=ids, count=more) if more > 0 else ids


CANCEL: Final = Question(
    "cancel_selected",
    lambda label: "" if label.state == LabelState.GENERATED else OVER,
    none=gettext_lazy("Nothing was changed: all are {over}."),
    title=gettext_lazy("Cancel labels"),
    explanation=gettext_lazy(
        "The carrier is asked to cancel each, or the label is marked as cancelled where unused ones "
        "are not billed. It must not be used, and the shop cannot retrieve it. This cannot be undone."
    ),
    button=gettext_lazy("Cancel the labels"),
    is_always_asked=True,
)
MARK_AS_NOT_MADE: Final = Question(
    "mark_selected_as_not_made",
    lambda label: "" if label.state in OPEN else OVER,
    none=CANCEL.none,
    title=gettext_lazy("Mark labels as not made"),
    explanation=gettext_lazy(
        "Confirm that the carrier has no parcel for any of them. They count as not bought, and the "
        "shops can order again: if there is a parcel after all, it is bought twice."
    ),
    button=gettext_lazy("Mark as not made"),
    is_always_asked=True,
)


class DecideSelected(SelectedLabels):
    @admin.action(description=gettext_lazy("Cancel …"), permissions=["act"])
    def cancel_selected(self, request: StaffRequest, queryset: QuerySet[ShippingLabel]) -> HttpResponse | None:
        """Cancel the bought ones at their carriers."""
        return self.decide(request, queryset, CANCEL, cancel)

    @admin.action(description=gettext_lazy("Mark as not made …"), permissions=["act"])
    def mark_selected_as_not_made(
        self, request: StaffRequest, queryset: QuerySet[ShippingLabel]
    ) -> HttpResponse | None:
        """Mark those that are open to a decision."""
        return self.decide(request, queryset, MARK_AS_NOT_MADE, mark_as_not_made)

    def decide(
        self, request: StaffRequest, queryset: QuerySet[ShippingLabel], question: Question, decision: Decision
    ) -> HttpResponse | None:
        """Decide about each label, as long as there is time; tell which ended in which way."""
        choice = self.choice(request, queryset, question, MAX_LABELS)
        if not isinstance(choice, Choice):
            return choice
        ends_at, ended = time.monotonic() + TIME_LIMIT_S, choice.left_out
        for label in choice.concerned:
            ended.append((label, decision(request, label) if time.monotonic() < ends_at else NOT_REACHED))
        for outcome, labels in by_reason(ended):
            if outcome in {CANCELLED, NOT_MADE}:
                messages.success(request, f"{len(labels)} {gettext(outcome)}.")
            else:
                messages.warning(request, f"{len(labels)} {gettext(outcome)}: {joined_ids(labels)}.")
        return None


def cancel(request: StaffRequest, label: ShippingLabel) -> str:
    try:
        cancelled = decisions.cancel(label=label, decided_by=request.user)
    except decisions.NotCancelledError as error:
        return gettext("not cancelled ({reason})").format(reason=error.problem)
    return CANCELLED if cancelled.state == LabelState.CANCELLED else NOT_YET


def mark_as_not_made(request: StaffRequest, label: ShippingLabel) -> str:
    try:
        decisions.mark_as_not_made(label=label, decided_by=request.user)
    except decisions.NotOpenError:
        return OVER
    return NOT_MADE

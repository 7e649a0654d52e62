"""Cancels selected labels, or marks them as not made: each by its own decision, each outcome said."""

import time
from collections.abc import Callable
from typing import Final

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpResponse
from django.utils.translation import gettext, gettext_lazy, gettext_noop

from labels.admin.actions import Choice, Question, SelectedLabels, by_reason, joined_ids
from labels.lifecycle import decisions
from labels.models import OPEN, LabelState, ShippingLabel
from shops.staff.acts import StaffRequest

MAX_LABELS = 100  # a carrier is asked for each
TIME_LIMIT_S = 45.0  # no further label is begun after it
NOT_REACHED = gettext_noop("not asked any more, as the others took too long: select them again")
OVER = gettext_noop("over, or still worked on")
CANCELLED, NOT_MADE = gettext_noop("cancelled"), gettext_noop("marked as not made")
NOT_YET = gettext_noop("not cancelled yet, it is tried again for an hour")

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
Decision = Callable[[StaffRequest, ShippingLabel], str]


class DecideSelected(SelectedLabels):
    """The actions that decide about selected labels."""

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
    except decisions.DecisionError as error:
        reason = str(error.__cause__).removeprefix(f"{label.id} ").removeprefix("is not cancelled: ")
        return gettext("not cancelled ({reason})").format(reason=reason)
    return CANCELLED if cancelled.state == LabelState.CANCELLED else NOT_YET


def mark_as_not_made(request: StaffRequest, label: ShippingLabel) -> str:
    try:
        decisions.mark_as_not_made(label=label, decided_by=request.user)
    except decisions.NotOpenError:
        return OVER
    return NOT_MADE

"""Cancels selected labels, or marks them as not made: each by its own decision, each outcome said."""

import time
from collections import Counter
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, cast

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext, gettext_lazy, gettext_noop

from labels.admin.actions import SelectedLabels, by_reason, joined_ids
from labels.lifecycle import decisions
from labels.models import OPEN, LabelState, ShippingLabel
from shops.staff.acts import is_confirmed

if TYPE_CHECKING:
    from django.contrib.auth.models import User

MAX_LABELS = 100  # a carrier is asked for each
TIME_LIMIT_S = 45.0  # no further label is begun after it
NOT_REACHED = gettext_noop("not asked any more, as the others took too long: select them again")
OVER = gettext_noop("over, or still worked on")

Decision = Callable[[ShippingLabel, "User"], str]


class DecideSelected(SelectedLabels):
    """The actions that decide about selected labels."""

    def has_decide_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("labels.change_shippinglabel")

    @admin.action(description=gettext_lazy("Cancel …"), permissions=["decide"])
    def cancel_selected(self, request: HttpRequest, queryset: QuerySet[ShippingLabel]) -> HttpResponse | None:
        """Cancel the bought ones at their carriers."""
        context = {
            "title": gettext("Cancel labels"),
            "action": "cancel_selected",
            "explanation": gettext(
                "The carrier is asked to cancel each, or the label is marked as cancelled where unused ones "
                "are not billed. It must not be used, and the shop cannot retrieve it. This cannot be undone."
            ),
            "button": gettext("Cancel the labels"),
        }
        return self.decide(request, queryset, lambda label: label.state == LabelState.GENERATED, cancel, context)

    @admin.action(description=gettext_lazy("Mark as not made …"), permissions=["decide"])
    def mark_selected_as_not_made(self, request: HttpRequest, queryset: QuerySet[ShippingLabel]) -> HttpResponse | None:
        """Mark those that are open to a decision."""
        context = {
            "title": gettext("Mark labels as not made"),
            "action": "mark_selected_as_not_made",
            "explanation": gettext(
                "Confirm that the carrier has no parcel for any of them. They count as not bought, and the "
                "shops can order again: if there is a parcel after all, it is bought twice."
            ),
            "button": gettext("Mark as not made"),
        }
        return self.decide(request, queryset, lambda label: label.state in OPEN, mark_as_not_made, context)

    def decide(
        self,
        request: HttpRequest,
        queryset: QuerySet[ShippingLabel],
        is_concerned: Callable[[ShippingLabel], bool],
        decision: Decision,
        context: dict[str, Any],
    ) -> HttpResponse | None:
        labels = self.chosen(request, queryset, MAX_LABELS)
        concerned = [label for label in labels if is_concerned(label)]
        left_out = [(label, OVER) for label in labels if not is_concerned(label)]
        if not concerned:
            if labels:
                self.message_user(
                    request,
                    gettext("Nothing was changed: all are {over}.").format(over=gettext(OVER)),
                    messages.WARNING,
                )
            return None
        if not is_confirmed(request):
            return self.ask_about(request, context | {"labels": concerned, "left_out": by_reason(left_out)})
        self.report_outcomes(request, left_out + outcomes(concerned, decision, cast("User", request.user)))
        return None

    def report_outcomes(self, request: HttpRequest, ended: list[tuple[ShippingLabel, str]]) -> None:
        """Tell how many ended in which way, and which those are that did not end well."""
        counts = Counter(outcome for _, outcome in ended)
        for outcome, labels in by_reason(ended):
            is_done = outcome in DONE
            names = "" if is_done else f": {joined_ids(labels)}"
            self.message_user(
                request,
                f"{counts[outcome]} {gettext(outcome)}{names}.",
                messages.SUCCESS if is_done else messages.WARNING,
            )


CANCELLED, NOT_MADE = gettext_noop("cancelled"), gettext_noop("marked as not made")
NOT_YET = gettext_noop("not cancelled yet, it is tried again for an hour")
DONE = {CANCELLED, NOT_MADE}


def outcomes(labels: list[ShippingLabel], decision: Decision, user: "User") -> list[tuple[ShippingLabel, str]]:
    """Decide about each label, as long as there is time."""
    ends_at = time.monotonic() + TIME_LIMIT_S
    return [(label, decision(label, user) if time.monotonic() < ends_at else NOT_REACHED) for label in labels]


def cancel(label: ShippingLabel, user: "User") -> str:
    try:
        cancelled = decisions.cancel(label=label, decided_by=user)
    except decisions.DecisionError as error:
        reason = str(error.__cause__).removeprefix(f"{label.id} ").removeprefix("is not cancelled: ")
        return gettext("not cancelled ({reason})").format(reason=reason)
    return CANCELLED if cancelled.state == LabelState.CANCELLED else NOT_YET


def mark_as_not_made(label: ShippingLabel, user: "User") -> str:
    try:
        decisions.mark_as_not_made(label=label, decided_by=user)
    except decisions.NotOpenError:
        return OVER
    return NOT_MADE

"""Actions on selected labels: decisions about each, and outcomes in words."""

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from django.contrib import messages
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext, gettext_lazy, gettext_noop

from labels.lifecycle import decisions, outdated
from labels.lifecycle.cancelling import CancelError
from labels.models import IN_CANCELLATION, OPEN, LabelState, ShippingLabel
from shops.personal_data import dots
from shops.staff.acts import Choice, Question, StaffRequest, asked
from shops.staff.base import LargeTableAdmin
from shops.staff.masking import may_see

Decision = Callable[[StaffRequest, ShippingLabel], str]
NAMED_AT_MOST = 10
MAX_LABELS = 100  # a carrier is asked for each
TIME_LIMIT_S = 45.0  # no further label is begun after it
NOT_REACHED = gettext_noop("not asked any more, as the others took too long: select them again")
OVER = gettext_noop("over, or still worked on")
CHANGED = gettext_noop("changed since the page was read")
UNDECIDED = gettext_noop("not bought yet, or to be decided")
WHY_NOT_CANCELLED: Final[Mapping[str, str]] = {
    LabelState.GENERATED: "",
    **dict.fromkeys((LabelState.FAILED, LabelState.CANCELLED), OVER),
    **dict.fromkeys(IN_CANCELLATION, gettext_noop("being cancelled")),
}
CANCELLED, NOT_MADE = gettext_noop("cancelled"), gettext_noop("marked as not made")
NOT_YET = gettext_noop("not cancelled yet, it is tried again for an hour")


class SelectedLabels(LargeTableAdmin[ShippingLabel]):
    confirm_template = "labels/selected.html"
    too_many = gettext_lazy("Choose at most {limit} labels. Nothing was done.")

    def chosen_rows(self, queryset: QuerySet[Any]) -> list[ShippingLabel]:
        """Return the labels in the order of the list, with the PDFs that rows keep."""
        labels = list(queryset.defer(None).defer("pdf", "customs", "sender"))
        kept = [label.pk for label in labels if label.state == LabelState.RECEIVED]
        pdfs = dict(ShippingLabel.objects.filter(pk__in=kept).values_list("pk", "pdf")) if kept else {}
        for label in labels:
            label.pdf = pdfs.get(label.pk)
        return labels


def joined_ids(labels: Sequence[ShippingLabel]) -> str:
    ids = ", ".join(label.id for label in labels[:NAMED_AT_MOST])
    more = len(labels) - NAMED_AT_MOST
    return gettext("{ids} and {count} more").format(ids=ids, count=more) if more > 0 else ids


CANCEL: Final = Question(
    title=gettext_lazy("Cancel labels"),
    explanation=gettext_lazy(
        "The carrier is asked to cancel each, or the label is marked as cancelled where unused ones "
        "are not billed. It must not be used, and the shop cannot retrieve it. This cannot be undone."
    ),
    button=gettext_lazy("Cancel the labels"),
    none=gettext_lazy("Nothing was changed: all are {reason}."),
    why_not=lambda label: WHY_NOT_CANCELLED.get(label.state, UNDECIDED),
    limit=MAX_LABELS,
)
MARK_AS_NOT_MADE: Final = Question(
    title=gettext_lazy("Mark labels as not made"),
    explanation=gettext_lazy(
        "Confirm that the carrier has no parcel for any of them. They count as not bought, and the "
        "shops can order again: if there is a parcel after all, it is bought twice."
    ),
    button=gettext_lazy("Mark as not made"),
    none=CANCEL.none,
    why_not=lambda label: "" if label.state in OPEN else OVER,
    limit=MAX_LABELS,
)


class DecideSelected(SelectedLabels):
    @asked(CANCEL, gettext_lazy("Cancel …"), "act")
    def cancel_selected(self, request: StaffRequest, choice: Choice) -> None:
        """Cancel the bought ones at their carriers."""
        decide(request, choice, cancel)

    @asked(MARK_AS_NOT_MADE, gettext_lazy("Mark as not made …"), "act")
    def mark_selected_as_not_made(self, request: StaffRequest, choice: Choice) -> None:
        """Mark those that are open to a decision."""
        decide(request, choice, mark_as_not_made)


def decide(request: StaffRequest, choice: Choice, decision: Decision) -> None:
    """Decide about each label, as long as there is time; report which ended in which way."""
    ends_at, ended = time.monotonic() + TIME_LIMIT_S, choice.left_out
    for label in choice.concerned:
        outcome = decision(request, label) if time.monotonic() < ends_at else NOT_REACHED
        ended.setdefault(outcome, []).append(label)
    for outcome, labels in ended.items():
        facts = {"count": len(labels), "outcome": gettext(outcome), "ids": joined_ids(labels)}
        if outcome in {CANCELLED, NOT_MADE}:
            messages.success(request, gettext("{count} {outcome}.").format(**facts))
        else:
            messages.warning(request, gettext("{count} {outcome}: {ids}.").format(**facts))


def cancel(request: StaffRequest, label: ShippingLabel) -> str:
    try:
        cancelled = decisions.cancel(label=label)
    except CancelError as error:
        return gettext("not cancelled ({reason})").format(reason=masked_words(request, error, error.problem))
    return CANCELLED if cancelled.state == LabelState.CANCELLED else NOT_YET


def masked_words(request: HttpRequest, error: CancelError, text: str) -> str:
    """Return a text about an error, the carrier's own words in it for those alone who may see personal data."""
    words = "" if error.failure is None or may_see(request) else error.failure.carrier_text
    return text.replace(words, dots(words)) if words else text


def mark_as_not_made(request: StaffRequest, label: ShippingLabel) -> str:
    try:
        outdated.check_seen(label, request.POST.getlist("seen"))
        decisions.mark_as_not_made(label=label)
    except decisions.NotOpenError:
        return OVER
    except outdated.OutdatedError:
        return CHANGED
    return NOT_MADE

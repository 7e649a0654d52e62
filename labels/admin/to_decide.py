"""The page of the labels to decide: why, since when, and what happens by itself."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.core.paginator import Paginator
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import path, reverse
from django.utils.translation import gettext, pgettext

from labels.lifecycle import decisions
from labels.models import CANCEL_TIMEOUT, IN_CANCELLATION, OPEN, OVER, LabelState, ShippingLabel, settle_wait
from labels.templatetags.label_page import state_name
from shops.contracts.models import CarrierContract
from shops.db import clock
from shops.staff.acts import StaffRequest
from shops.staff.audit.models import Action
from shops.staff.audit.recording import record
from shops.staff.base import LISTED_AT_MOST, LargeTableAdmin
from shops.staff.masking import may_see
from shops.staff.panels import may_view, moment

NAME = "labels_shippinglabel_to_decide"
LISTED = 50


def undecided_count(request: HttpRequest) -> int:
    """Count the labels that wait for a person, once a request and no further than is listed."""
    if not hasattr(request, "undecided_labels"):
        waiting = (ShippingLabel.objects.needing_decision(), ShippingLabel.objects.with_notice())
        request.undecided_labels = sum(rows.order_by()[:LISTED_AT_MOST].count() for rows in waiting)  # type: ignore[attr-defined]  # for this request
    return request.undecided_labels  # type: ignore[attr-defined, no-any-return]  # as above


def is_decision_needed(request: HttpRequest) -> bool:
    """Return whether the sidebar links to the labels to decide: there are some, and this user may see them."""
    return may_view(request, "labels", "shippinglabel") and undecided_count(request) > 0


class ToDecideAdmin(LargeTableAdmin[ShippingLabel]):
    """The part of the label's admin with the page of labels to decide."""

    def get_urls(self) -> list[Any]:
        view = self.admin_site.admin_view(self.to_decide_view)
        return [path("to-decide/", view, name=NAME), *super().get_urls()]

    def to_decide_view(self, request: HttpRequest) -> HttpResponse:
        """List the labels to decide, the oldest first; those with a notice; those that need nobody yet."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        waiting = Paginator(listed(ShippingLabel.objects.needing_decision()), LISTED).get_page(request.GET.get("p"))
        needing = ShippingLabel.objects.needing_decision().order_by().values("pk")
        others = ShippingLabel.objects.live().filter(state__in=[*OPEN, *IN_CANCELLATION]).exclude(pk__in=needing)
        noticed = listed(ShippingLabel.objects.with_notice())[:LISTED_AT_MOST]
        needing_nobody = listed(others.free())[:LISTED]
        if may_see(request):
            shown = self.shown_rows({label.pk: label for label in (*waiting, *noticed, *needing_nobody)}.values())
            record(Action.LISTED, shown=shown, of=self.opts.label_lower)
        context = {
            "title": gettext("Labels to decide"),
            "opts": None,  # the page's own title stands in the header, not that of all labels
            "page": waiting,
            "waiting": next_steps(self.shown(request, label) for label in waiting),
            "noticed": [self.shown(request, label) for label in noticed],
            "others": next_steps(self.shown(request, label) for label in needing_nobody),
            "may_decide": self.has_act_permission(request),
        }
        return self.page(request, "labels/to_decide.html", context)

    def have_asked(self, request: StaffRequest, label: ShippingLabel) -> HttpResponse:
        """Have the carrier asked about a label now, and stay on the page."""
        try:
            asked = decisions.reconcile_now(label=label)
        except decisions.DecisionError as error:
            messages.error(request, str(error))
        else:
            facts = {"id": label.id, "carrier_code": label.carrier_code, "asked": state_name(asked)}
            if asked.state == label.state:
                text = gettext("{id}: {carrier_code} was asked, and it is as open as before.")
                messages.warning(request, text.format(**facts))
            else:
                messages.success(
                    request, gettext("{id}: {carrier_code} was asked. It is now: {asked}.").format(**facts)
                )
        return page_again()

    def has_act_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("labels.change_shippinglabel")


def page_again(*_: Any) -> HttpResponse:
    return HttpResponseRedirect(reverse(f"admin:{NAME}"))


def listed(labels: QuerySet[ShippingLabel]) -> QuerySet[ShippingLabel]:
    return labels.order_by("id").select_related("shop").defer("pdf", "sender", "customs")


def waits_for_person(label: ShippingLabel) -> bool:
    """Return whether a person may decide about a label: no process works on it, and its outcome is open."""
    is_overdue = label.state in IN_CANCELLATION and label.is_cancellation_overdue
    return is_overdue or (label.state in OPEN and not label.is_leased)


@dataclass(frozen=True)
class NextStep:
    """One label: its future in words, around the time `at` if there is one."""

    label: ShippingLabel
    text: str
    at: datetime | None = None
    suffix: str = ""
    can_be_asked: bool = False
    is_open: bool = True

    @property
    def when(self) -> str:
        return moment(self.at)


def next_steps(labels: Iterable[ShippingLabel]) -> list[NextStep]:
    """Look at several labels, with one query for all their contracts."""
    labels = list(labels)
    shops = {label.shop_id for label in labels}
    contracts = set(CarrierContract.objects.filter(shop__in=shops).values_list("shop", "carrier_code"))
    return [next_step(label, has_contract=(label.shop_id, label.carrier_code) in contracts) for label in labels]


def next_step(label: ShippingLabel, *, has_contract: bool) -> NextStep:
    carrier, now = label.carrier_code, clock.now()
    if label.state in OVER:
        return afterwards(label)
    if label.state in IN_CANCELLATION and label.is_cancellation_overdue:
        text = gettext("Nothing more: {carrier} could not cancel it within an hour.")
        return NextStep(label, text.format(carrier=carrier))
    if now < label.leased_until:
        text, suffix = gettext("A process works on it, until"), gettext("at the latest.")
        return NextStep(label, text, label.leased_until, suffix, is_open=False)
    if label.state in OPEN and not label.is_billed_unused:
        return unbilled(label, now)
    if decisions.can_be_asked(label) and not has_contract:
        text = gettext("Nothing: the shop has no {carrier} contract any more, so {carrier} can't be asked.")
        return NextStep(label, text.format(carrier=carrier))
    due = label.ask_again_at if label.ask_again_at and label.ask_again_at > now else None
    return question(label, due, pgettext("time", "at") if due else gettext("with the next run of the reconciliation"))


def afterwards(label: ShippingLabel) -> NextStep:
    """Describe what is still to be done about a label that is over."""
    if label.ask_again_at is None:
        return NextStep(label, gettext("Nothing more, by itself."), is_open=False)
    if label.state == LabelState.FAILED:
        return NextStep(label, gettext("It is looked for once more at"), label.ask_again_at, is_open=False)
    return NextStep(label, gettext("What was made beyond it is cancelled at"), label.ask_again_at, is_open=False)


def unbilled(label: ShippingLabel, now: datetime) -> NextStep:
    """Describe when a label settles itself, as its carrier bills none that is not used."""
    settles_at = label.created_at + settle_wait()
    if now < settles_at:
        return NextStep(label, gettext("It fails, with its key free, as it costs nothing. That is at"), settles_at)
    if label.ask_again_at is None or label.ask_again_at <= now:
        text = gettext("It fails with the next run of the reconciliation, unless its PDF is in the storage.")
        return NextStep(label, text)
    return NextStep(label, gettext("Nothing: its PDF is in the storage, so its shop may have it."))


def question(label: ShippingLabel, due: datetime | None, when: str) -> NextStep:
    """Describe what the reconciliation asks about a label when it is due."""
    text, suffix, can_be_asked = gettext("{carrier} is asked {when}"), "", decisions.can_be_asked(label)
    if label.state == LabelState.RECEIVED:
        text, can_be_asked = gettext("Its PDF is merged and stored {when}"), False
    elif not can_be_asked:
        text = gettext("{carrier} can't be asked. Its PDF is looked for in the storage {when}")
    elif label.state in IN_CANCELLATION:
        ends_at = (label.cancel_requested_at or label.created_at) + CANCEL_TIMEOUT
        text = gettext("{carrier} is asked to cancel it {when}")
        suffix = gettext("until {time}").format(time=moment(ends_at))
    text = text.format(carrier=label.carrier_code, when=when)
    return NextStep(label, text, due, suffix, can_be_asked=can_be_asked)

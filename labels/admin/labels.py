"""The staff's pages of labels, and their decisions."""

from collections.abc import Mapping
from contextlib import suppress
from itertools import zip_longest
from typing import Any

from django.contrib import admin, messages
from django.contrib.admin.utils import unquote
from django.db.models import OuterRef, QuerySet, Subquery
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.utils.html import format_html, format_html_join
from django.utils.safestring import mark_safe
from django.utils.timesince import timesince
from django.utils.translation import gettext, gettext_lazy

from carriers.products import PRODUCTS
from labels.admin.actions import DecideSelected, masked_words
from labels.admin.filters import FILTERS
from labels.admin.forms import AdoptForm
from labels.admin.panels import parcel_of, parcels_by_label
from labels.admin.printing import LabelPdfs
from labels.admin.search import SEARCH
from labels.admin.slips import SlipForSelected
from labels.admin.to_decide import ToDecideAdmin, next_step, page_again, waits_for_person
from labels.lifecycle import decisions, outcomes, outdated
from labels.lifecycle.cancelling import CancelError
from labels.lifecycle.states import said_of
from labels.models import IN_CANCELLATION, OPEN, LabelState, ShippingLabel, total_kg
from labels.pdfs import unmerged
from labels.personal_data.columns import KEYS, LABEL
from labels.templatetags.label_page import reason, recipient_name, state_label, timestamp, weights
from parcels.templatetags.parcel_page import late_label
from shops.contracts.models import CarrierContract
from shops.models import AccessToken
from shops.personal_data import Part
from shops.staff.acts import Act, StaffRequest
from shops.staff.base import CappedList
from shops.staff.display_texts import NOTHING, column, number
from shops.staff.exports import read_columns
from shops.staff.masking import conceal, may_see
from shops.staff.pages import address_of

MASKED: Mapping[str, Part] = {**LABEL, **KEYS}


def name(address: dict[str, Any]) -> str:
    return f"{address.get('firstName', '')} {address.get('lastName', '')}".strip()


class LabelList(CappedList):
    """Reads each label's parcel too, which may be late."""

    result_list: Any

    def get_results(self, request: HttpRequest) -> None:
        super().get_results(request)
        parcels = parcels_by_label([label.id for label in self.result_list])
        for label in self.result_list:
            label.parcel = parcels.get(label.id)


@admin.register(ShippingLabel)
class ShippingLabelAdmin(LabelPdfs, SlipForSelected, DecideSelected, ToDecideAdmin):
    """Every attempt to buy a label, read-only; a person decides those whose outcome no process can find out."""

    list_display = ("order", "status", "why", "to", "shop", "product", "ordered")
    list_filter = FILTERS
    list_class = LabelList
    not_listed = ("pdf", "sender", "customs", "body_digest", "search_words")
    search_help_text = gettext_lazy("Label id, tracking number, order id or request id")
    actions = ("print_selected", "make_slip", "cancel_selected", "mark_selected_as_not_made")
    export_columns = read_columns(__file__, "shippinglabel", name=name, total=total_kg)
    fields = ("id",)  # the page has its own template
    personal = MASKED
    are_views_recorded = True

    def get_queryset(self, request: HttpRequest) -> QuerySet[ShippingLabel]:
        name = AccessToken.objects.filter(id=OuterRef("token_id")).values("name")
        return super().get_queryset(request).defer("pdf").annotate(token_name=Subquery(name))

    def shown(self, request: HttpRequest, row: ShippingLabel) -> ShippingLabel:
        """Leave the shop's own address: any other sender may be a customer who returns something."""
        if may_see(request):
            return row
        is_the_shops = "sender" in row.__dict__ and row.sender == row.shop.sender_address
        own = {"sender"} if is_the_shops else set()
        concealed: ShippingLabel = conceal(row, {name: MASKED[name] for name in MASKED.keys() - own})
        return concealed

    def shown_alone(self, request: HttpRequest, row: ShippingLabel) -> ShippingLabel:
        """Show a label that waits for a person whole to whoever decides about it; each look is on record."""
        return row if self.has_act_permission(request) and waits_for_person(row) else self.shown(request, row)

    def customer_of(self, row: ShippingLabel) -> str:
        return str(row.recipient.get("email", ""))

    def found_by(self, text: str, *, may_see: bool) -> QuerySet[Any, Any]:
        return SEARCH.whole(text)

    def facts(self, request: HttpRequest, label: ShippingLabel) -> dict[str, Any]:
        contracts = CarrierContract.objects.for_shop(label.shop_id).filter(carrier_code=label.carrier_code)
        parcels = zip_longest(label.weights_kg, label.tracking_numbers, label.parcel_references, fillvalue="")
        product = PRODUCTS.get(label.product_code)
        contract = contracts.defer("encrypted_credentials").first()
        is_open = label.state in OPEN or unmerged.waits_for_merge(label)
        return {
            "label": label,
            "parcels": list(parcels),
            "parcel": parcel_of(label),
            "product_meaning": gettext(product.meaning) if product else "",
            "contract": contract,
            "last_event": said_of(label),
            "next_step": next_step(label, has_contract=contract is not None),
            "has_pdf": label.has_pdf and self.has_open_permission(request),
            "has_unmerged_pdfs": unmerged.are_kept(label) and self.has_open_permission(request),
            "is_open": is_open and not label.is_leased,
            "is_over": not is_open,
            "is_cancellation_open": label.state in IN_CANCELLATION and not label.is_leased,
            "may_decide": self.has_act_permission(request),
            "can_be_asked": outcomes.has_search(label),
        }

    def get_urls(self) -> list[Any]:
        return [
            *self.act_urls(
                pdf=Act(ask=self.pdf, may=self.has_open_permission),
                ask=Act(self.have_asked, page_again),
                adopt=Act(self.adopt, self.adopt),
                not_made=Act(self.mark_as_not_made, self.ask_if_not_made),
                cancel=Act(self.cancel, self.ask_to_cancel),
                cancelled=Act(self.end_cancellation),
                notice=Act(self.dismiss_notice),
            ),
            *super().get_urls(),
        ]

    def act_view(self, request: HttpRequest, object_id: str, act: Act) -> HttpResponse:
        """Say on the label's page why a decision about it is refused."""
        try:
            return super().act_view(request, object_id, act)
        except decisions.DecisionError as error:
            messages.error(request, str(error))
        except CancelError as error:
            text = gettext("Nothing was changed: {error}.").format(error=error)
            messages.error(request, masked_words(request, error, text))
        return HttpResponseRedirect(address_of("labels.shippinglabel", unquote(object_id)))

    def row_or_404(self, request: HttpRequest, object_id: str) -> ShippingLabel:
        label = super().row_or_404(request, object_id)
        outdated.check_seen(label, request.POST.getlist("seen"))
        return label

    def adopt(self, request: StaffRequest, label: ShippingLabel) -> HttpResponse | None:
        """Ask for the parcels' numbers and PDF, and adopt them."""
        form = AdoptForm(request.POST or None, request.FILES or None, label=label)
        if form.is_valid():
            numbers, pdf = form.tracking_numbers, form.cleaned_data["pdf"]
            try:
                adopted = decisions.adopt(label=label, tracking_numbers=numbers, pdf=pdf)
            except decisions.NoPdfError as error:
                text = gettext("{error} Upload it instead, from the carrier's own portal.")
                form.add_error("pdf", text.format(error=error))
            else:
                if adopted.state == LabelState.GENERATED:
                    messages.success(request, gettext("Adopted. The shop can retrieve the label now."))
                else:
                    text = gettext("Adopted. The PDF waits for the storage; the shop can retrieve the label then.")
                    messages.warning(request, text)
                return None
        return self.question(request, label, "labels/adopt.html", gettext("Adopt the carrier's parcels"), form=form)

    def ask_if_not_made(self, request: HttpRequest, label: ShippingLabel) -> HttpResponse:
        return self.question(request, label, "labels/not_made.html", gettext("Mark as not made"))

    def mark_as_not_made(self, request: StaffRequest, label: ShippingLabel) -> None:
        """Let the shop buy again."""
        decisions.mark_as_not_made(label=label)
        messages.success(request, gettext("Marked as not made. The shop can order again, with the same key too."))

    def ask_to_cancel(self, request: HttpRequest, label: ShippingLabel) -> HttpResponse:
        may_be_done, title = label.state == LabelState.GENERATED, gettext("Cancel the label")
        return self.question(request, label, "labels/cancel.html", title, may_be_done=may_be_done)

    def cancel(self, request: StaffRequest, label: ShippingLabel) -> None:
        """Cancel at the carrier: the shop can't retrieve the label afterwards."""
        cancelled = decisions.cancel(label=label)
        if cancelled.state == LabelState.CANCELLED:
            messages.success(request, gettext("Cancelled. The shop cannot retrieve the label any more."))
        else:
            text = gettext("{carrier_code} could not cancel it yet. It is tried again for an hour.")
            messages.warning(request, text.format(carrier_code=label.carrier_code))

    def end_cancellation(self, request: StaffRequest, label: ShippingLabel) -> None:
        """Take a decision about a label whose carrier could not cancel it."""
        match request.POST.get("outcome"):
            case "cancelled":
                decisions.mark_as_cancelled(label=label)
                messages.success(request, gettext("Marked as cancelled."))
            case "kept":
                decisions.keep(label=label, cancelled=request.POST.getlist("parcel"))
                messages.success(request, gettext("Kept. The shop can retrieve the label again."))

    def dismiss_notice(self, request: StaffRequest, label: ShippingLabel) -> None:
        with suppress(decisions.NotOpenError):  # a colleague was faster
            decisions.dismiss_notice(label=label)

    def question(
        self, request: HttpRequest, label: ShippingLabel, template: str, title: str, **context: Any
    ) -> HttpResponse:
        """Show a label, which is on record, and ask about it."""
        self.record_view(label)
        facts = self.facts(request, label)
        own = {"original": label, "title": title, "may_be_done": facts["is_open"]}
        return self.page(request, template, facts | own | context)

    @admin.display(description=gettext_lazy("state"))
    def status(self, label: Any) -> str:
        return format_html("{} {}", state_label(label), late_label(label.parcel) if label.parcel else "")

    why = column(gettext_lazy("reason"), reason)

    @admin.display(description=gettext_lazy("recipient"))
    def to(self, label: Any) -> str:
        place = label.recipient["city"], label.recipient["countryCode"]
        return ", ".join(filter(None, (recipient_name(label), *place))) or NOTHING

    @admin.display(description=gettext_lazy("product"))
    def product(self, label: ShippingLabel) -> str:
        """Name carrier and product, and the weight; a long code may wrap after each of its words."""
        code = format_html_join(mark_safe("_<wbr>"), "{}", ((word,) for word in label.product_code.split("_")))
        count, weight = len(label.weights_kg), f"{weights(label)} kg"
        if count > 1:
            several = gettext("{weight_kg} kg in {count} parcels")
            weight = several.format(weight_kg=number(label.weight_kg), count=count)
        return format_html("{} · {} <small>{}</small>", label.carrier_code, code, weight)

    @admin.display(description=gettext_lazy("order"))
    def order(self, label: ShippingLabel) -> str:
        others = len(label.tracking_numbers) - 1
        number = f"{label.tracking_number} +{others}" if others > 0 else label.tracking_number
        return format_html("{} <small>{}</small>", label.order_id, number)

    @admin.display(description=gettext_lazy("ordered"))
    def ordered(self, label: Any) -> str:
        """Show the time and the access token of the order; the token's id is the tooltip."""
        name = format_html(' · <span title="{}">{}</span>', label.token_id, label.token_name or label.token_id)
        at, token = label.created_at, name if label.token_id else ""
        ago = gettext("{time} ago").format(time=timesince(at))
        return format_html("{} <small>{}{}</small>", timestamp(at), ago, token)

    class Media:
        css = {"all": ["labels/admin.css"]}

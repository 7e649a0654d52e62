"""The staff's pages of labels, and their decisions."""

from contextlib import suppress
from itertools import zip_longest
from typing import TYPE_CHECKING, Any, cast

from django.contrib import admin, messages
from django.contrib.admin.views.main import ChangeList
from django.core.exceptions import PermissionDenied
from django.db import models
from django.db.models import OuterRef, QuerySet, Subquery, Value
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import path
from django.utils.html import format_html, format_html_join
from django.utils.safestring import mark_safe
from django.utils.timesince import timesince
from django.utils.translation import gettext, gettext_lazy

from carriers import CARRIERS
from carriers.products import PRODUCTS
from labels.admin.columns import EXPORT_COLUMNS
from labels.admin.deciding import DecideSelected
from labels.admin.filters import (
    NotHandedInFilter,
    OrderedFilter,
    ProductFilter,
    ReasonFilter,
    RecentFilter,
    StateFilter,
)
from labels.admin.forms import AdoptForm
from labels.admin.lists import LabelList
from labels.admin.next_step import next_step
from labels.admin.parcels import parcel_of
from labels.admin.pdf_view import PdfOfLabel
from labels.admin.personal import MASKED, columns_of
from labels.admin.printing import PrintSelected
from labels.admin.search import whole
from labels.admin.slips import SlipForSelected
from labels.admin.to_decide import ToDecideAdmin, waits_for_person
from labels.lifecycle import decisions
from labels.lifecycle.states import said_of
from labels.models import IN_CANCELLATION, OPEN, LabelState, ShippingLabel
from labels.pdfs import unmerged
from labels.templatetags.label_page import reason, recipient_name, state_label, state_meaning, timestamp, weights
from parcels.templatetags.parcel_page import late_label
from shops.contracts.clients import client
from shops.contracts.models import CarrierContract
from shops.models import AccessToken
from shops.staff.display_texts import NOTHING, number
from shops.staff.filters import AutocompleteSelectFilter, CarrierFilter, ModeFilter
from shops.staff.masking import conceal, masked, may_see
from shops.staff.pages import page_of

if TYPE_CHECKING:
    from django.contrib.auth.models import User


@admin.register(ShippingLabel)
class ShippingLabelAdmin(PdfOfLabel, PrintSelected, SlipForSelected, DecideSelected, ToDecideAdmin):
    """Every attempt to buy a label, read-only; a person decides those whose outcome no process can find out."""

    list_display = ("order", "status", "why", "to", "shop", "product", "ordered")
    list_filter = (
        ("shop", AutocompleteSelectFilter),
        ModeFilter,
        ReasonFilter,
        CarrierFilter,
        ProductFilter,
        StateFilter,
        NotHandedInFilter,
        RecentFilter,
        OrderedFilter,
    )
    search_help_text = gettext_lazy("Label id, tracking number, order id or request id")
    actions = ("print_selected", "make_slip", "cancel_selected", "mark_selected_as_not_made")
    export_columns = EXPORT_COLUMNS
    fields = ("id",)  # the page has its own template
    personal = MASKED
    are_views_recorded = True

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[ChangeList]:
        return LabelList

    def get_queryset(self, request: HttpRequest) -> QuerySet[ShippingLabel]:
        name = AccessToken.objects.filter(id=OuterRef("token_id")).values("name")
        is_shown = Value(may_see(request), models.BooleanField())
        labels = super().get_queryset(request).defer("pdf")
        return labels.annotate(token_name=Subquery(name), is_personal=is_shown)

    def shown(self, request: HttpRequest, row: ShippingLabel) -> ShippingLabel:
        label: ShippingLabel = row if may_see(request) else conceal(row, columns_of(row))
        return label

    def shown_alone(self, request: HttpRequest, row: ShippingLabel) -> ShippingLabel:
        """Show a label that waits for a person whole to whoever decides about it; each look is on record."""
        return row if self.may_decide(request) and waits_for_person(row) else self.shown(request, row)

    def customer_of(self, row: ShippingLabel) -> str:
        return str(row.recipient.get("email", ""))

    def found_by(self, text: str, *, may_see: bool) -> QuerySet[Any, Any]:
        return whole(text)

    def change_view(self, request: HttpRequest, object_id: str, *args: Any, **kwargs: Any) -> Any:
        label = self.row_at(request, object_id)
        extra_context = self.facts(request, label) if label else {}
        return super().change_view(request, object_id, extra_context=extra_context)

    def facts(self, request: HttpRequest, label: ShippingLabel) -> dict[str, Any]:
        """Collect what the label's pages show beside its fields."""
        contracts = CarrierContract.objects.for_shop(label.shop_id).filter(carrier_code=label.carrier_code)
        parcels = zip_longest(label.weights_kg, label.tracking_numbers, label.parcel_references, fillvalue="")
        product = PRODUCTS.get(label.product_code)
        contract = contracts.defer("encrypted_credentials").first()
        is_open = label.state in OPEN or unmerged.waits_for_merge(label)
        return {
            "label": label,
            "parcels": list(parcels),
            "parcel": parcel_of(label),
            "state_label": state_label(label),
            "state_meaning": state_meaning(label),
            "product_meaning": gettext(product.meaning) if product else "",
            "contract": contract,
            "last_event": said_of(label),
            "next_step": next_step(label, has_contract=contract is not None),
            "has_pdf": label.has_pdf and may_see(request),
            "has_unmerged_pdfs": unmerged.are_kept(label) and may_see(request),
            "is_open": is_open and not label.is_leased,
            "is_over": not is_open,
            "is_cancellation_open": label.state in IN_CANCELLATION and not label.is_leased,
            "may_decide": self.may_decide(request),
            "can_be_asked": client(label.carrier_code, is_test=label.shop.is_test).can_be_asked,
        }

    def get_urls(self) -> list[Any]:
        site, name = self.admin_site, "labels_shippinglabel"
        own = [
            # "Cacheable" leaves the headers to the view, which forbids caching.
            path("<path:object_id>/pdf/", site.admin_view(self.pdf_view, cacheable=True), name=f"{name}_pdf"),
            path("<path:object_id>/adopt/", site.admin_view(self.adopt_view), name=f"{name}_adopt"),
            path("<path:object_id>/not-made/", site.admin_view(self.not_made_view), name=f"{name}_not_made"),
            path("<path:object_id>/cancel/", site.admin_view(self.cancel_view), name=f"{name}_cancel"),
            path("<path:object_id>/cancelled/", site.admin_view(self.cancelled_view), name=f"{name}_cancelled"),
            path("<path:object_id>/notice/", site.admin_view(self.notice_view), name=f"{name}_notice"),
        ]
        return own + super().get_urls()

    def adopt_view(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Ask for the parcels' numbers and PDF, and adopt them."""
        label = self.label_to_decide(request, object_id)
        form = AdoptForm(request.POST or None, request.FILES or None, label=label)
        if not form.is_valid():
            return self.adopt_page(request, label, form)
        try:
            adopted = decisions.adopt(
                label=label,
                tracking_numbers=form.tracking_numbers,
                pdf=form.cleaned_data["pdf"],
                decided_by=cast("User", request.user),
            )
        except decisions.NoPdfError as error:
            form.add_error(
                "pdf", gettext("{error} Upload it instead, from the carrier's own portal.").format(error=error)
            )
            return self.adopt_page(request, label, form)
        except decisions.DecisionError as error:
            messages.error(request, str(error))
            return self.back_to(label)
        if adopted.state == LabelState.GENERATED:
            messages.success(request, gettext("Adopted. The shop can retrieve the label now."))
        else:
            messages.warning(
                request, gettext("Adopted. The PDF waits for the storage; the shop can retrieve the label then.")
            )
        return self.back_to(label)

    def adopt_page(self, request: HttpRequest, label: ShippingLabel, form: AdoptForm) -> HttpResponse:
        return self.page(
            request, "labels/adopt.html", label, {"title": gettext("Adopt the carrier's parcels"), "form": form}
        )

    def not_made_view(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Ask for confirmation first: the shop may buy again afterwards."""
        label = self.label_to_decide(request, object_id)
        if request.method != "POST":
            return self.page(request, "labels/not_made.html", label, {"title": gettext("Mark as not made")})
        try:
            decisions.mark_as_not_made(label=label, decided_by=cast("User", request.user))
        except decisions.DecisionError as error:
            messages.error(request, str(error))
        else:
            messages.success(request, gettext("Marked as not made. The shop can order again, with the same key too."))
        return self.back_to(label)

    def cancel_view(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Ask for confirmation first: the shop can't retrieve the label afterwards."""
        label = self.label_to_decide(request, object_id)
        if request.method != "POST":
            is_billed = CARRIERS[label.carrier_code].bills_unused_labels
            context = {"title": gettext("Cancel the label"), "is_billed": is_billed}
            return self.page(request, "labels/cancel.html", label, context)
        try:
            cancelled = decisions.cancel(label=label, decided_by=cast("User", request.user))
        except decisions.DecisionError as error:
            messages.error(request, str(error))
            return self.back_to(label)
        if cancelled.state == LabelState.CANCELLED:
            messages.success(request, gettext("Cancelled. The shop cannot retrieve the label any more."))
        else:
            messages.warning(
                request,
                gettext("{carrier_code} could not cancel it yet. It is tried again for an hour.").format(
                    carrier_code=label.carrier_code
                ),
            )
        return self.back_to(label)

    def cancelled_view(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Take a decision about a label whose carrier could not cancel it."""
        label = self.label_to_decide(request, object_id)
        is_cancelled = request.POST.get("outcome") == "cancelled"
        if request.method != "POST" or not (is_cancelled or request.POST.get("outcome") == "kept"):
            return self.back_to(label)
        try:
            decisions.end_cancellation(label=label, is_cancelled=is_cancelled, decided_by=cast("User", request.user))
        except decisions.DecisionError as error:
            messages.error(request, str(error))
        else:
            messages.success(
                request,
                gettext("Marked as cancelled.")
                if is_cancelled
                else gettext("Kept. The shop can retrieve the label again."),
            )
        return self.back_to(label)

    def notice_view(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Take away a notice that staff have dealt with."""
        label = self.label_to_decide(request, object_id)
        if request.method == "POST":
            with suppress(decisions.NotOpenError):  # a colleague was faster
                decisions.dismiss_notice(label=label, decided_by=cast("User", request.user))
        return self.back_to(label)

    def label_to_decide(self, request: HttpRequest, object_id: str) -> ShippingLabel:
        if not self.may_decide(request):
            raise PermissionDenied
        return self.label_or_404(request, object_id)

    def back_to(self, label: ShippingLabel) -> HttpResponseRedirect:
        return HttpResponseRedirect(page_of(label))

    def page(self, request: HttpRequest, template: str, label: ShippingLabel, context: dict[str, Any]) -> HttpResponse:
        self.record_view(label)
        site = {**self.admin_site.each_context(request), "opts": self.opts, "original": label, "media": self.media}
        return TemplateResponse(request, template, site | self.facts(request, label) | context)

    @admin.display(description=gettext_lazy("state"))
    def status(self, label: Any) -> str:
        return format_html("{} {}", state_label(label), late_label(label.parcel) if label.parcel else "")

    @admin.display(description=gettext_lazy("reason"))
    def why(self, label: ShippingLabel) -> str:
        return reason(label)

    @admin.display(description=gettext_lazy("recipient"))
    def to(self, label: Any) -> str:
        """Show the recipient's name, for those who may see it, and the town."""
        name = masked(recipient_name(label), is_shown=label.is_personal)
        return ", ".join(filter(None, [name, label.recipient["city"], label.recipient["countryCode"]])) or NOTHING

    @admin.display(description=gettext_lazy("product"))
    def product(self, label: ShippingLabel) -> str:
        """Name carrier and product, and the weight; a long code may wrap after each of its words."""
        code = format_html_join(mark_safe("_<wbr>"), "{}", ((word,) for word in label.product_code.split("_")))
        count = len(label.weights_kg)
        weight = (
            gettext("{weight_kg} kg in {count} parcels").format(weight_kg=number(label.weight_kg), count=count)
            if count > 1
            else f"{weights(label)} kg"
        )
        return format_html("{} · {} <small>{}</small>", label.carrier_code, code, weight)

    @admin.display(description=gettext_lazy("order"))
    def order(self, label: ShippingLabel) -> str:
        """Name the order, and the label's numbers."""
        others = len(label.tracking_numbers) - 1
        number = f"{label.tracking_number} +{others}" if others > 0 else label.tracking_number
        return format_html("{} <small>{}</small>", label.order_id, number)

    @admin.display(description=gettext_lazy("ordered"))
    def ordered(self, label: Any) -> str:
        """Show the time and the access token of the order; the token's id is the tooltip."""
        name = format_html(' · <span title="{}">{}</span>', label.token_id, label.token_name or label.token_id)
        at, token = label.created_at, name if label.token_id else ""
        return format_html(
            "{} <small>{}{}</small>", timestamp(at), gettext("{time} ago").format(time=timesince(at)), token
        )

    class Media:
        css = {"all": ["labels/admin.css"]}

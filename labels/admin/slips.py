"""Deposit slips for selected labels, and the staff's pages of slips."""

from typing import Any, Final

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.translation import gettext, gettext_lazy, ngettext

from labels.admin.actions import SelectedLabels
from labels.models import DepositSlip, ShippingLabel
from labels.pdfs import storage
from labels.personal_data.columns import COLUMNS, REFUSAL
from labels.slips import making
from shops.api.file_answers import file_answer
from shops.staff.acts import Act, Choice, Question, asked
from shops.staff.audit.models import Action
from shops.staff.audit.recording import Shown, record
from shops.staff.base import LargeTableAdmin
from shops.staff.display_texts import NOTHING, badge, column
from shops.staff.exports import read_columns
from shops.staff.filters import CarrierFilter
from shops.staff.masking import may_see
from shops.staff.pages import address_of, link_to, page_of
from shops.staff.unfold_classes import AutocompleteSelectFilter

MAX_LABELS = 500
COLOURS = {"made": "success", "refused": "danger", "open": "warning"}
QUESTION: Final = Question(
    title=gettext_lazy("Deposit slip"),
    explanation=gettext_lazy("{left_out} of {total} selected labels can't be on a slip."),
    button=gettext_lazy("Ask for a slip of the other {ready}"),
    none=gettext_lazy("None of these labels can be on a slip: {reason}."),
    why_not=making.why_not,
    is_always_asked=False,
    limit=MAX_LABELS,
)


class SlipForSelected(SelectedLabels):
    """The action that asks for deposit slips of selected labels."""

    def has_slip_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("labels.add_depositslip")

    @asked(QUESTION, QUESTION.title, "slip")
    def make_slip(self, request: HttpRequest, choice: Choice) -> HttpResponse:
        """Ask for one slip for each contract; where a label is on none, ask first if it is to be left out."""
        slips = making.make(choice.concerned)
        report(request, slips, len(choice.concerned))
        lone = slips[0] if len(slips) == 1 else None
        return HttpResponseRedirect(page_of(lone) if lone else reverse("admin:labels_depositslip_changelist"))


def report(request: HttpRequest, slips: list[DepositSlip], count: int) -> None:
    """Say how each slip ended, and of how many labels none was asked for."""
    for slip in slips:
        refusal = slip.refusal if may_see(request) else REFUSAL.masked(slip.refusal, {})
        facts = {"shop": slip.shop, "number": slip.number, "listed": len(slip.label_ids), "refusal": refusal}
        if slip.number:
            text = ngettext(
                "{shop}: slip {number} lists {listed} label.",
                "{shop}: slip {number} lists {listed} labels.",
                len(slip.label_ids),
            )
            messages.success(request, text.format(**facts))
        else:
            messages.error(request, gettext("{shop}: no slip. {refusal}").format(**facts))
    if left := count - len({label_id for slip in slips for label_id in slip.label_ids}):
        text = ngettext(
            "{left} label was not asked for any more: select it again.",
            "{left} labels were not asked for any more: select them again.",
            left,
        )
        messages.error(request, text.format(left=left))


@admin.register(DepositSlip)
class DepositSlipAdmin(LargeTableAdmin[DepositSlip]):
    """Deposit slips, read-only; staff who see personal data open their PDFs."""

    list_display = ("title", "shop", "carrier_code", "parcel_count", "coloured_state", "asked_at", "asked_by")
    list_filter = (("shop", AutocompleteSelectFilter), CarrierFilter)
    export_columns = read_columns(__file__, "depositslip")
    search_help_text = gettext_lazy("The carrier's number of the slip, a label's id, or the slip's id")
    personal = {"refusal": COLUMNS[DepositSlip]["refusal"]}
    are_views_recorded = True
    fields = readonly_fields = (
        *("title", "coloured_state", "pdf_link", "shop", "carrier_code", "published_at", "asked_at", "asked_by"),
        *("refused", "parcels"),
    )

    def get_queryset(self, request: HttpRequest) -> QuerySet[DepositSlip]:
        return super().get_queryset(request).defer("pdf", "label_ids")

    def get_fields(self, request: HttpRequest, obj: DepositSlip | None = None) -> list[Any]:
        return [name for name in self.fields if name != "pdf_link" or self.has_open_permission(request)]

    def found_by(self, text: str, *, may_see: bool) -> QuerySet[Any, Any]:
        slips = DepositSlip.objects.order_by()
        others = (slips.filter(pk=text).values("pk"), slips.listing(text.upper()).values("pk"))
        return slips.filter(number=text).values("pk").union(*others, all=True)

    def get_urls(self) -> list[Any]:
        return [*self.act_urls(pdf=Act(ask=self.pdf, may=self.has_open_permission)), *super().get_urls()]

    def pdf(self, request: HttpRequest, slip: DepositSlip) -> HttpResponse | None:
        """Answer with the PDF; one that the row still keeps is moved to the storage first."""
        if not slip.has_pdf:
            raise Http404(gettext("This deposit slip has no PDF."))
        content = self.content(slip)
        if content is None:
            messages.error(request, gettext("The storage can't be reached now. Try again later."))
            return None
        labels = ShippingLabel.objects.filter(pk__in=slip.label_ids).order_by("pk").only("recipient")
        shown = [Shown(label.pk, label.recipient.get("email", "")) for label in labels]
        record(Action.PDF_OPENED, slip, shown=shown)
        return file_answer(content, f'inline; filename="deposit-slip-{slip.number}.pdf"')

    def content(self, slip: DepositSlip) -> bytes | None:
        try:
            making.store(slip)
            return storage.read(slip.pdf_key)
        except storage.StorageError:
            return bytes(slip.pdf) if slip.pdf is not None else None

    title = column(gettext_lazy("slip"), str, "number")
    parcel_count = column(gettext_lazy("parcels"), lambda slip: len(slip.tracking_numbers))
    coloured_state = column(gettext_lazy("state"), lambda slip: badge(slip.state, COLOURS[slip.state]))

    @admin.display(description="PDF")
    def pdf_link(self, slip: DepositSlip) -> str:
        if not slip.has_pdf:
            return gettext("Removed, as labels' PDFs are") if slip.number else NOTHING
        link = '<a class="label-open" href="{}" target="_blank" rel="noopener">{}</a>'
        return format_html(link, page_of(slip, "pdf"), gettext("Open or print the PDF"))

    @admin.display(description=gettext_lazy("no slip because"))
    def refused(self, slip: DepositSlip) -> str:
        if slip.state == "open":
            return gettext("The carrier's answer never came. A slip costs nothing: select the labels and ask again.")
        return slip.refusal or NOTHING

    @admin.display(description=gettext_lazy("parcels"))
    def parcels(self, slip: DepositSlip) -> str:
        """List the parcels' numbers, and link to the labels."""
        labels = ((link_to(address_of("labels.shippinglabel", label_id), label_id),) for label_id in slip.label_ids)
        links = format_html_join(" ", "{}", labels)
        return format_html("<p>{}</p><p>{} {}</p>", ", ".join(slip.tracking_numbers), gettext("Labels:"), links)

    class Media:
        css = {"all": ["labels/admin.css", "shops/admin.css"]}

"""A label's PDF, in the storage or still in its row, and those of selected labels printed as one."""

from typing import Final

from django.contrib import messages
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.utils import timezone
from django.utils.translation import gettext, gettext_lazy

from labels.admin.actions import SelectedLabels
from labels.lifecycle.cancelling import WHY_NOT
from labels.models import IN_CANCELLATION, UNFINISHED, LabelState, ShippingLabel
from labels.pdfs import printing, storage, unmerged
from labels.templatetags.label_page import state_name
from shops.api.file_answers import FILE_HEADERS, file_answer
from shops.staff.acts import Choice, Question, asked
from shops.staff.audit.models import Action
from shops.staff.audit.recording import record
from shops.staff.pages import page_of

NOT_TO_USE: Final = (LabelState.CANCELLED, *IN_CANCELLATION)


def why_not(label: ShippingLabel) -> str:
    """Return the reason why a label is in no stack; one that must not be used would go out on a parcel."""
    if not label.has_pdf:
        return gettext("no PDF: {state}").format(state=state_name(label).lower())
    return WHY_NOT[LabelState(label.state)] if label.state in NOT_TO_USE else ""


QUESTION: Final = Question(
    title=gettext_lazy("Print labels"),
    explanation=gettext_lazy("{left_out} of {total} selected labels can't be printed."),
    button=gettext_lazy("Print the other {ready}"),
    none=gettext_lazy("None of these labels can be printed: {reason}."),
    why_not=why_not,
    is_always_asked=False,
    limit=printing.MAX_LABELS,
)


class LabelPdfs(SelectedLabels):
    """Opens a label's PDF, for those who may see its recipient, and prints selected ones; each is on record."""

    def pdf(self, request: HttpRequest, label: ShippingLabel) -> HttpResponse:
        """Redirect to the stored PDF by a URL signed now, or send the file that the row keeps."""
        # In one query: the PDF may just be moving to the storage.
        label.refresh_from_db(fields=["state", "pdf", "pdf_removed_at"])
        if label.state in UNFINISHED and label.pdf is not None:
            response = kept_file(label, bytes(label.pdf))
        elif label.has_pdf:
            response = HttpResponseRedirect(signed_url(request, label), headers=FILE_HEADERS)
        else:
            raise Http404(gettext("This label has no PDF."))
        record(Action.PDF_OPENED, label, customer_email=self.customer_of(label))
        return response

    @asked(QUESTION, gettext_lazy("Print as one PDF"), "open")
    def print_selected(self, request: HttpRequest, choice: Choice) -> HttpResponse | None:
        """Print in the order of the list; where a label has no PDF, ask first: no stack is short of one in silence."""
        try:
            content = printing.printed(choice.concerned)
        except printing.PrintingError as error:
            messages.error(request, str(error))
            return None
        with transaction.atomic():
            for label in choice.concerned:
                email, others = self.customer_of(label), len(choice.concerned) - 1
                record(Action.PDF_OPENED, label, customer_email=email, printed_with=others)
        return file_answer(content, f'inline; filename="labels-{timezone.localtime():%Y%m%d-%H%M}.pdf"')


def kept_file(label: ShippingLabel, content: bytes) -> HttpResponse:
    """Send a PDF, or the ZIP file of those that are not merged."""
    if unmerged.is_zipped(content):
        return file_answer(content, f'attachment; filename="label-{label.id}.zip"', "application/zip")
    return file_answer(content, storage.disposition(label.pdf_key))


def signed_url(request: HttpRequest, label: ShippingLabel) -> str:
    """Return the address of the stored PDF; of the label's page while the storage can't be reached."""
    try:
        return storage.signed_url(label, base_url=request.build_absolute_uri("/"))
    except storage.StorageError:
        text = gettext("The storage can't be reached now. The PDF is safe there; try again later.")
        messages.error(request, text)
        return page_of(label)

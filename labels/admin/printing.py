"""Prints selected labels as one PDF."""

from typing import Final

from django.contrib import admin, messages
from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.utils.translation import gettext, gettext_lazy

from labels.admin.actions import Choice, Question, SelectedLabels
from labels.models import ShippingLabel
from labels.pdfs import printing, storage
from labels.templatetags.label_page import state_name
from shops.staff.audit.models import Action
from shops.staff.audit.recording import record

# Of a file that is kept nowhere and runs no script.
FILE_HEADERS: Final = {
    "Cache-Control": storage.CACHE_CONTROL,
    "X-Content-Type-Options": "nosniff",
    "Content-Security-Policy": storage.FILE_POLICY,
}


def why_not(label: ShippingLabel) -> str:
    return "" if label.has_pdf else gettext("no PDF: {state}").format(state=state_name(label).lower())


QUESTION: Final = Question(
    "print_selected",
    why_not,
    none=gettext_lazy("None of these labels has a PDF."),
    title=gettext_lazy("Print labels"),
    explanation=gettext_lazy("{left_out} of {total} selected labels can't be printed."),
    button=gettext_lazy("Print the other {ready}"),
)


class PrintSelected(SelectedLabels):
    """The action that prints selected labels; a stack is never short of a label that nobody was told about."""

    @admin.action(description=gettext_lazy("Print as one PDF"), permissions=["open"])
    def print_selected(self, request: HttpRequest, queryset: QuerySet[ShippingLabel]) -> HttpResponse | None:
        """Print in the order of the list; where a label has no PDF, ask first if the others are to be printed."""
        choice = self.choice(request, queryset, QUESTION, printing.MAX_LABELS)
        if not isinstance(choice, Choice):
            return choice
        try:
            content = printing.printed(choice.concerned)
        except printing.PrintingError as error:
            messages.error(request, str(error))
            return None
        record_opened(choice.concerned)
        return pdf_answer(content, f"labels-{timezone.localtime():%Y%m%d-%H%M}.pdf")


def record_opened(labels: list[ShippingLabel]) -> None:
    with transaction.atomic():
        for label in labels:
            email = label.recipient.get("email", "")
            record(Action.PDF_OPENED, label, customer_email=email, printed_with=len(labels) - 1)


def pdf_answer(content: bytes, name: str) -> HttpResponse:
    headers = FILE_HEADERS | {"Content-Disposition": f'inline; filename="{name}"'}
    return HttpResponse(content, content_type="application/pdf", headers=headers)

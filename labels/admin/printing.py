"""Prints selected labels as one PDF."""

from django.contrib import admin, messages
from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.utils.translation import gettext, gettext_lazy

from labels.admin.actions import SelectedLabels, by_reason
from labels.models import ShippingLabel
from labels.pdfs import printing, storage
from labels.templatetags.label_page import state_name
from shops.staff import masking
from shops.staff.acts import is_confirmed
from shops.staff.audit.models import Action
from shops.staff.audit.recording import record


class PrintSelected(SelectedLabels):
    """The action that prints selected labels; a stack is never short of a label that nobody was told about."""

    def has_print_permission(self, request: HttpRequest) -> bool:
        return self.has_view_permission(request) and masking.may_see(request)

    @admin.action(description=gettext_lazy("Print as one PDF"), permissions=["print"])
    def print_selected(self, request: HttpRequest, queryset: QuerySet[ShippingLabel]) -> HttpResponse | None:
        """Print in the order of the list; where a label has no PDF, ask first if the others are to be printed."""
        labels = self.chosen(request, queryset, printing.MAX_LABELS)
        ready = [label for label in labels if label.has_pdf]
        left_out = [(label, f"no PDF: {state_name(label).lower()}") for label in labels if not label.has_pdf]
        if not ready:
            if left_out:
                self.message_user(request, gettext("None of these labels has a PDF."), messages.WARNING)
            return None
        if left_out and not is_confirmed(request):
            return self.ask_to_leave_out(request, ready, left_out)
        try:
            content = printing.printed(ready)
        except printing.PrintingError as error:
            self.message_user(request, str(error), messages.ERROR)
            return None
        record_opened(ready)
        return pdf_answer(content, f"labels-{timezone.now():%Y%m%d-%H%M}.pdf")

    def ask_to_leave_out(
        self, request: HttpRequest, ready: list[ShippingLabel], left_out: list[tuple[ShippingLabel, str]]
    ) -> HttpResponse:
        context = {
            "title": gettext("Print labels"),
            "action": "print_selected",
            "explanation": gettext("{left_out} of {total} selected labels can't be printed.").format(
                left_out=len(left_out), total=len(ready) + len(left_out)
            ),
            "button": gettext("Print the other {ready}").format(ready=len(ready)),
            "labels": ready,
            "left_out": by_reason(left_out),
        }
        return self.ask_about(request, context)


def record_opened(labels: list[ShippingLabel]) -> None:
    with transaction.atomic():
        for label in labels:
            email = label.recipient.get("email", "")
            record(Action.PDF_OPENED, label, customer_email=email, printed_with=len(labels) - 1)


def pdf_answer(content: bytes, name: str) -> HttpResponse:
    """Answer with a PDF that is kept nowhere and runs no script."""
    answer = HttpResponse(content, content_type="application/pdf")
    answer["Content-Disposition"] = f'inline; filename="{name}"'
    answer["Cache-Control"] = storage.CACHE_CONTROL
    answer["X-Content-Type-Options"] = "nosniff"
    answer["Content-Security-Policy"] = storage.FILE_POLICY
    return answer

"""The PDF of a label on the staff's pages: in the storage, or still in its row."""

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.utils.translation import gettext

from labels.admin.to_decide import ToDecideAdmin
from labels.models import UNFINISHED, ShippingLabel
from labels.pdfs import storage, unmerged
from shops.staff.audit.models import Action
from shops.staff.audit.recording import record
from shops.staff.masking import may_see
from shops.staff.pages import page_of


class PdfOfLabel(ToDecideAdmin):
    """Opens a label's PDF, for those who may see its recipient; each is on record."""

    def pdf_view(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Redirect to the stored PDF by a URL signed now, or send the file that the row keeps."""
        if not (self.has_view_permission(request) and may_see(request)):
            raise PermissionDenied
        label = self.row_or_404(request, object_id)
        # In one query: the PDF may just be moving to the storage.
        label.refresh_from_db(fields=["state", "pdf", "pdf_removed_at"])
        if label.state in UNFINISHED and label.pdf is not None:
            response = self.kept_file(label, bytes(label.pdf))
        elif label.has_pdf:
            response = self.signed_redirect(request, label)
        else:
            raise Http404(gettext("This label has no PDF."))
        record(Action.PDF_OPENED, label, customer_email=self.customer_of(label))
        response["Cache-Control"] = storage.CACHE_CONTROL
        response["X-Content-Type-Options"] = "nosniff"
        response["Content-Security-Policy"] = storage.FILE_POLICY
        return response

    def kept_file(self, label: ShippingLabel, content: bytes) -> HttpResponse:
        """Send a PDF, or the ZIP file of those that are not merged."""
        if not unmerged.is_zipped(content):
            response = HttpResponse(content, content_type="application/pdf")
            response["Content-Disposition"] = storage.disposition(label.pdf_key)
            return response
        response = HttpResponse(content, content_type="application/zip")
        response["Content-Disposition"] = f'attachment; filename="label-{label.id}.zip"'
        return response

    def signed_redirect(self, request: HttpRequest, label: ShippingLabel) -> HttpResponse:
        try:
            url = storage.signed_url(label, base_url=request.build_absolute_uri("/"))
        except storage.StorageError:
            messages.error(
                request, gettext("The storage can't be reached now. The PDF is safe there; try again later.")
            )
            return HttpResponseRedirect(page_of(label))
        return HttpResponseRedirect(url)

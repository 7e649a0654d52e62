"""The PDF of a label on the staff's pages: in the storage, or still in its row."""

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.utils.translation import gettext

from labels.admin.printing import FILE_HEADERS
from labels.admin.to_decide import ToDecideAdmin
from labels.models import UNFINISHED, ShippingLabel
from labels.pdfs import storage, unmerged
from shops.staff.audit.models import Action
from shops.staff.audit.recording import record
from shops.staff.pages import page_of


class PdfOfLabel(ToDecideAdmin):
    """Opens a label's PDF, for those who may see its recipient; each is on record."""

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


def kept_file(label: ShippingLabel, content: bytes) -> HttpResponse:
    """Send a PDF, or the ZIP file of those that are not merged."""
    kind, disposition = "pdf", storage.disposition(label.pdf_key)
    if unmerged.is_zipped(content):
        kind, disposition = "zip", f'attachment; filename="label-{label.id}.zip"'
    headers = FILE_HEADERS | {"Content-Disposition": disposition}
    return HttpResponse(content, content_type=f"application/{kind}", headers=headers)


def signed_url(request: HttpRequest, label: ShippingLabel) -> str:
    """Return the address of the stored PDF; of the label's page while the storage can't be reached."""
    try:
        return storage.signed_url(label, base_url=request.build_absolute_uri("/"))
    except storage.StorageError:
        text = gettext("The storage can't be reached now. The PDF is safe there; try again later.")
        messages.error(request, text)
        return page_of(label)

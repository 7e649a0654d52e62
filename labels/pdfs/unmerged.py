"""The PDFs of several parcels, kept in the row as a ZIP file until they are merged into the label's one."""

import io
from collections.abc import Mapping
from zipfile import ZIP_DEFLATED, ZipFile

from django.db.models.functions import Substr

from carriers import pdf
from carriers.shipment import form_of
from labels.models import LabelState, ShippingLabel

# Some dozens of pages take half a second; after it the reconciliation tries again.
MERGING_TIMEOUT_S = 15.0
ZIP = b"PK"


def packed(pdfs: Mapping[str, bytes]) -> bytes:
    """Return the only PDF of a label as it is, several as a ZIP file."""
    return next(iter(pdfs.values())) if len(pdfs) == 1 else zipped(pdfs)


def zipped(pdfs: Mapping[str, bytes]) -> bytes:
    """Pack PDFs under their rank and name."""
    content = io.BytesIO()
    with ZipFile(content, "w", ZIP_DEFLATED) as archive:
        for rank, (name, each) in enumerate(pdfs.items(), 1):
            archive.writestr(f"{rank:02}-{name}.pdf", each)
    return content.getvalue()


def is_zipped(content: bytes) -> bool:
    return content.startswith(ZIP)


def parts(content: bytes) -> dict[str, bytes]:
    """Return the PDFs by name, in their order; one that was never packed has the name `label`."""
    if not is_zipped(content):
        return {"label": content}
    with ZipFile(io.BytesIO(content)) as archive:
        names = {name.partition("-")[2].removesuffix(".pdf"): name for name in archive.namelist()}
        return {name: archive.read(path) for name, path in names.items()}


def merged(content: bytes) -> bytes:
    """Return the label's one PDF, with the pages of all; raise UnreadableError."""
    return pdf.rewritten(list(parts(content).values()), MERGING_TIMEOUT_S) if is_zipped(content) else content


def of_parcels(content: bytes, numbers: list[str]) -> dict[str, bytes]:
    """Return the PDFs of some parcels: their labels, then their customs forms; none if a label is missing."""
    found = parts(content)
    if not found.keys() >= set(numbers):
        return {}
    return {name: found[name] for name in [*numbers, *map(form_of, numbers)] if name in found}


def are_kept(label: ShippingLabel) -> bool:
    """Return whether the row has PDFs of a label that is not known to be whole, without reading them."""
    may_be = label.state in {LabelState.UNKNOWN, LabelState.INCOMPLETE}
    return may_be and ShippingLabel.objects.row_of(label).filter(pdf__isnull=False).exists()


def waits_for_merge(label: ShippingLabel) -> bool:
    """Return whether a bought label's PDFs are not merged yet: a person may put one in their place."""
    if label.state != LabelState.RECEIVED:
        return False
    start = ShippingLabel.objects.row_of(label).values_list(Substr("pdf", 1, len(ZIP)), flat=True).get()
    return start is not None and bytes(start) == ZIP  # none once it is stored

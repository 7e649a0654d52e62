"""Parcels' PDFs that could not be merged into one: the row keeps them for the staff, as a ZIP file."""

import io
from collections.abc import Sequence
from zipfile import ZIP_DEFLATED, ZipFile

from labels.models import LabelState, ShippingLabel


def zipped(numbers: Sequence[str], pdfs: Sequence[bytes]) -> bytes:
    """Pack each parcel's PDF under its rank and tracking number, and the customs forms that follow them."""
    forms = ["customs-form"] * (len(pdfs) - len(numbers))
    content = io.BytesIO()
    with ZipFile(content, "w", ZIP_DEFLATED) as archive:
        for rank, (name, pdf) in enumerate(zip([*numbers, *forms], pdfs, strict=True), 1):
            archive.writestr(f"{rank:02}-{name}.pdf", pdf)
    return content.getvalue()


def are_kept(label: ShippingLabel) -> bool:
    """Tell if the label's row has such a file, without reading it."""
    may_be = label.state == LabelState.UNKNOWN and label.tracking_numbers != []
    return may_be and ShippingLabel.objects.row_of(label).filter(pdf__isnull=False).exists()

"""Labels that came and could not be joined into one PDF: the staff find them in the label's row, as a ZIP file."""

import io
from collections.abc import Sequence
from zipfile import ZIP_DEFLATED, ZipFile

from labels.models import LabelState, ShippingLabel


def zipped(numbers: Sequence[str], pdfs: Sequence[bytes]) -> bytes:
    """Give each parcel's PDF by its rank and number."""
    content = io.BytesIO()
    with ZipFile(content, "w", ZIP_DEFLATED) as archive:
        for rank, (number, pdf) in enumerate(zip(numbers, pdfs, strict=True), 1):
            archive.writestr(f"{rank:02}-{number}.pdf", pdf)
    return content.getvalue()


def are_kept(label: ShippingLabel) -> bool:
    """Whether the label's row has such a file; it is not read."""
    may_be = label.state == LabelState.UNKNOWN and len(label.tracking_numbers) > 1
    return may_be and ShippingLabel.objects.row_of(label).filter(pdf__isnull=False).exists()

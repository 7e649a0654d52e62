"""The form to adopt parcels: a tracking number for each, and the PDF from the carrier's own portal."""

from typing import Any

from django import forms
from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.files.uploadedfile import UploadedFile
from django.core.validators import RegexValidator
from django.utils.translation import gettext, gettext_lazy

from carriers import pdf
from carriers.http.transport import UnreadableError
from labels.lifecycle import decisions
from labels.models import ShippingLabel
from labels.pdfs import unmerged
from shops.staff import display_texts
from shops.staff.unfold_classes import TextInput

READING_TIMEOUT_S = 20
tracking_number = RegexValidator(
    r"\A[A-Z0-9]{5,35}\Z", gettext_lazy("A tracking number has 5 to 35 letters and digits.")
)


class TrackingNumberField(forms.CharField):
    """A tracking number as it is printed: spaces are ignored, letters become upper case."""

    default_validators = [tracking_number]

    def to_python(self, value: Any) -> str:
        return "".join((super().to_python(value) or "").split()).upper()


class PdfInput(forms.FileInput):
    """The browser's own file chooser."""

    allow_multiple_selected = True


class PdfField(forms.FileField):
    """One PDF or several, rewritten into one: all their pages in the order of the files."""

    widget = PdfInput(attrs={"accept": "application/pdf", "class": "label-file"})

    def clean(self, data: Any, initial: Any = None) -> bytes | None:
        files = [super(PdfField, self).clean(item, initial) for item in data or [None]]
        if not data:
            return None
        if sum(file.size for file in files) > settings.MAX_UPLOAD_BYTES:
            text = gettext("That is more than {max_upload_bytes} MiB.")
            raise ValidationError(text.format(max_upload_bytes=settings.MAX_UPLOAD_BYTES // 1024**2))
        try:
            return pdf.rewritten([content(file) for file in files], READING_TIMEOUT_S)
        except UnreadableError:
            raise ValidationError(gettext("This PDF can't be read.")) from None


class AdoptForm(forms.Form):
    """The parcels of a label, one number each, in their order; those without one are left out."""

    def __init__(self, *args: Any, label: ShippingLabel, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.label, is_only = label, len(label.weights_kg) == 1
        self.number_names = [f"number_{rank}" for rank, _ in enumerate(label.weights_kg, 1)]
        for rank, (name, weight) in enumerate(zip(self.number_names, label.weights_kg, strict=True), 1):
            known, written = label.tracking_numbers[rank - 1 : rank], display_texts.number(weight)
            self.fields[name] = TrackingNumberField(
                label=gettext("Tracking number of parcel {rank} ({weight} kg)").format(rank=rank, weight=written),
                initial=known[0] if known else "",
                required=is_only,
                help_text="" if is_only else gettext("Empty: this parcel was not made, or is left out."),
                widget=TextInput(attrs={"autocomplete": "off", "spellcheck": "false"}),
            )
        may_be_left_out = bool(label.reservation_number) or unmerged.are_kept(label)
        text = gettext("From {carrier_code}'s own portal: one file, or one a parcel, in the parcels' order.")
        if may_be_left_out:
            text = gettext("Leave it out: those that came are taken, or {carrier_code} is asked by the reservation.")
        text = text.format(carrier_code=label.carrier_code)
        self.fields["pdf"] = PdfField(required=not may_be_left_out, label=gettext("PDF of the label"), help_text=text)

    @property
    def tracking_numbers(self) -> list[str]:
        return [self.cleaned_data[name] for name in self.number_names]

    def clean(self) -> None:
        numbers = list(filter(None, (self.cleaned_data.get(name) for name in self.number_names)))
        if not numbers and not self.errors:
            raise ValidationError(gettext("Give the number of one parcel at least."))
        if len(set(numbers)) < len(numbers):
            raise ValidationError(gettext("Each parcel has a tracking number of its own."))
        for number in set(numbers).intersection(self.label.cancelled_numbers):
            raise ValidationError(gettext("{number} is cancelled at the carrier.").format(number=number))
        try:
            decisions.check_not_taken(self.label, numbers)
        except decisions.DecisionError as error:
            raise ValidationError(str(error)) from None


def content(file: UploadedFile[Any]) -> bytes:
    """Read an uploaded PDF; raise ValidationError."""
    data: bytes = file.read()
    if not data.startswith(b"%PDF-"):
        raise ValidationError(gettext("This is no PDF."))
    return data

"""The texts of a bought label's notice and warnings: stored in English, worded in the reader's language."""

import re
from collections.abc import Container, Iterable, Sequence
from textwrap import shorten
from typing import Final

from django.utils.translation import gettext, gettext_noop

from carriers.shipment import form_of
from labels.models import ShippingLabel
from shops.staff.display_texts import number
from shops.staff.worded import forms_of
from shops.staff.worded import worded as in_words

# beta gives it once, with the label: without it the parcel is stopped at customs.
CUSTOMS_FORM_MISSING = gettext_noop(
    "The customs form did not come with the label, and can't be fetched again. Get it from the carrier or fill it in"
    " by hand: without it the parcel is stopped at customs."
)
CUSTOMS_FORMS_MISSING = gettext_noop(
    "The customs form of %s did not come with the label, and can't be fetched again. Get it from the carrier or fill it"
    " in by hand: without it the parcel is stopped at customs."
)
CANCELLED = gettext_noop("Cancelled: %s. The label is for the other parcels.")
LEFT_OUT = gettext_noop("Not made: %s. The label is for the other parcels.")
SURPLUS = gettext_noop("The carrier made %s too, which could not be cancelled: cancel it there, or it is paid for.")
FORMS: Final = forms_of(CUSTOMS_FORM_MISSING, CUSTOMS_FORMS_MISSING, CANCELLED, LEFT_OUT, SURPLUS)
PARCEL: Final = re.compile(r"parcel (\d+) \(([\d.]+) kg\)")
MAX_LENGTH = ShippingLabel._meta.get_field("staff_notice").max_length or 0


def of_missing_forms(label: ShippingLabel, numbers: Sequence[str], pdfs: Container[str]) -> str:
    """Warn of customs forms that are not among the PDFs; name their parcels where others have one."""
    kept = [rank for rank, number in enumerate(numbers) if number]
    ranks = [rank for rank in kept if form_of(numbers[rank]) not in pdfs]
    return CUSTOMS_FORMS_MISSING % named(label, ranks) if len(ranks) < len(kept) else CUSTOMS_FORM_MISSING


def named(label: ShippingLabel, ranks: Iterable[int]) -> str:
    return ", ".join(f"parcel {rank + 1} ({label.weights_kg[rank]} kg)" for rank in ranks)


def of_surplus(numbers: Sequence[str]) -> str:
    """Name the parcels that are left, as many as the column has room for."""
    return SURPLUS % shorten(", ".join(numbers), MAX_LENGTH - len(SURPLUS % ""), placeholder=" …")


def is_of_surplus(notice: str) -> bool:
    return notice.startswith(SURPLUS.partition("%s")[0])


def worded(text: str) -> str:
    """Return a text of ours in the reader's language, and a carrier's as it is."""
    return in_words(text, FORMS, parcels_worded)


def parcels_worded(text: str) -> str:
    """Word the parcels that a text names."""
    return PARCEL.sub(lambda found: f"{gettext('parcel')} {found[1]} ({number(found[2])} kg)", text)


def notice_of(label: ShippingLabel) -> str:
    """Word a label's notice, with all parcels that are left."""
    is_shortened = label.staff_notice and label.staff_notice == of_surplus(label.left_of_surplus)
    return gettext(SURPLUS) % ", ".join(label.left_of_surplus) if is_shortened else worded(label.staff_notice)

"""Draws beta's customs declaration CN23: one form, in copies on A4."""

from collections.abc import Sequence
from dataclasses import dataclass

from reportlab.lib.pagesizes import A4

from carriers.sandbox.label import Label
from carriers.sandbox.page import BOLD, NOTICE, REGULAR, Page


@dataclass(frozen=True)
class CustomsForm:
    """The facts that were declared, as the form prints them."""

    facts: Sequence[str]  # postage, EORI, invoice and the like, a line each
    articles: Sequence[str]
    copies: int

    @property
    def printed(self) -> tuple[str, ...]:
        return (*self.facts, *self.articles)


def customs_form_pdf(label: Label, form: CustomsForm) -> bytes:
    """Return a PDF of A4 pages, one for each copy."""
    page = Page(A4, f"CN23 {label.tracking_number}")
    for copy in range(1, form.copies + 1):
        page.text((20, 270), "CUSTOMS DECLARATION   CN23", (BOLD, 18))
        page.text((20, 262), f"Parcel {label.tracking_number}   {label.weight_kg:.2f} kg", (REGULAR, 11))
        page.text((160, 262), f"Copy {copy} of {form.copies}", (REGULAR, 11))
        page.lines((20, 248), ["FROM", *label.sender], (REGULAR, 10), 80)
        page.lines((110, 248), ["TO", *label.recipient], (REGULAR, 10), 80)
        page.lines((20, 200), form.facts, (REGULAR, 10), 170)
        page.lines((20, 150), ["CONTENTS", *form.articles], (REGULAR, 10), 170)
        page.text((20, 30), NOTICE, (BOLD, 14))
        page.turn()
    return page.finished()

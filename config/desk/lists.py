"""The page of lists: numbers pasted or uploaded, looked up or checked as a carrier's invoice, shown or as a sheet."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from itertools import islice
from typing import Any, Final

from django import forms
from django.contrib import admin
from django.core.exceptions import PermissionDenied, ValidationError
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.template.response import TemplateResponse
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_http_methods

from config.desk.found import FOUND, MISSING, NOT_OURS, OUTCOMES, RIGHT, TITLES, Result, results
from config.desk.pasted import MAX_LINES, decoded, lines
from labels.admin.finance import are_figures_allowed
from shops.staff.audit.models import Action
from shops.staff.audit.recording import record
from shops.staff.exports import answer
from shops.staff.filters import day_field
from shops.staff.panels import may_view
from shops.staff.spreadsheets import FORMATS

SHOWN: Final = 200  # rows of each result


class ListForm(forms.Form):
    """A list, and what its second column is."""

    numbers = forms.CharField(
        required=False, label=_("Numbers"), widget=forms.Textarea(attrs={"rows": 4, "spellcheck": "false"})
    )
    file = forms.FileField(required=False, label=_("or a file (text or CSV)"))
    column = forms.ChoiceField(
        required=False,
        label=_("Second column"),
        choices=[("", _("none: look up")), ("weight", _("invoice: weight in kg")), ("amount", _("invoice: amount"))],
    )
    first, last = day_field(_("Invoice from")), day_field(_("to"))

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        file = cleaned.get("file")
        content = file.read() if file else b""
        if content.startswith(b"PK"):
            raise ValidationError(_("Save the workbook as CSV first."))
        listed = list(islice(lines(decoded(content) if file else cleaned.get("numbers", "")), MAX_LINES + 1))
        if not listed:
            raise ValidationError(_("There is no number in it."))
        if len(listed) > MAX_LINES:
            raise ValidationError(_("At most %(count)s numbers at a time.") % {"count": MAX_LINES})
        return cleaned | {"listed": listed}


@dataclass
class Group:
    """The numbers of one result: how many, what was billed for them, and the first of them."""

    outcome: str
    count: int = 0
    billed: Decimal = Decimal(0)
    rows: list[Result] = field(default_factory=list)

    @property
    def is_ours(self) -> bool:
        return self.outcome not in {MISSING, NOT_OURS}

    @property
    def is_fault(self) -> bool:
        return self.outcome not in {FOUND, RIGHT}

    def add(self, result: Result) -> None:
        self.count += 1
        self.billed += result.billed or 0
        if len(self.rows) < SHOWN:
            self.rows.append(result)


def may_check(request: HttpRequest) -> bool:
    """Return whether a user may look lists up: those who see parcels, and those who see the figures for finance."""
    return may_view(request, "parcels", "parcel") or are_figures_allowed(request)


@require_http_methods(["GET", "HEAD", "POST"])
def check_list(request: HttpRequest) -> HttpResponseBase:
    """Show the form; look a list up and show its results, or send them as a sheet."""
    if not may_check(request):
        raise PermissionDenied
    form = ListForm(request.POST or None, request.FILES or None)
    if not form.is_valid():
        return page(request, form)
    listed, chosen = form.cleaned_data["listed"], form.cleaned_data
    found = results(listed, chosen["column"], chosen["first"], chosen["last"])
    if (kind := request.POST.get("as", "")) in FORMATS:
        words = {outcome: gettext(outcome) for outcome in OUTCOMES}  # now, as the sheet is written after the request
        rows = (result.cells(words) for result in found)
        return answer(kind, name="parcels.list", titles=[*map(str, TITLES)], rows=rows, filters={})
    return page(request, form, gathered(found))


def look_up_typed(request: HttpRequest, text: str) -> HttpResponse:
    return page(request, ListForm(initial={"numbers": text}), gathered(results(lines(text))))


def gathered(found: Iterator[Result]) -> list[Group]:
    """Gather results by what they are, faults first."""
    groups: dict[str, Group] = {}
    for result in found:
        groups.setdefault(result.outcome, Group(result.outcome)).add(result)
    hits = sum(group.count for group in groups.values() if group.outcome != MISSING)
    record(Action.SEARCHED, kind="list", hits=hits)
    return sorted(groups.values(), key=lambda group: not group.is_fault)


def page(request: HttpRequest, form: ListForm, groups: list[Group] | None = None) -> HttpResponse:
    context = {"title": _("Lists of numbers"), "form": form, "groups": groups, "titles": TITLES[:1] + TITLES[2:]}
    context["is_bill"] = bool(form.is_bound and form["column"].value())
    return TemplateResponse(request, "staff/list.html", admin.site.each_context(request) | context)

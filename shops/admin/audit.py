"""The admin's pages of the audit log, read-only."""

from dataclasses import dataclass
from typing import Any

import orjson
from django.contrib import admin
from django.db.models import Q, QuerySet
from django.http import HttpRequest
from django.template.loader import render_to_string
from django.urls import NoReverseMatch
from django.utils.translation import gettext_lazy

from shops.db.words import word
from shops.staff.audit.entry_texts import facts, kind
from shops.staff.audit.models import Action, AuditEntry, Channel
from shops.staff.audit.recording import customer_digests
from shops.staff.base import LargeTableAdmin
from shops.staff.display_texts import NOTHING, column
from shops.staff.exports import read_columns
from shops.staff.filters import ColumnFilter, MultiChoiceFilter, PeriodFilter, of
from shops.staff.pages import address_of, link_to
from shops.staff.panels import may_view

CHANNELS = {value: gettext_lazy(label) for value, label in Channel.choices}


def as_json(value: dict[str, Any]) -> str:
    return orjson.dumps(value).decode() if value else ""


def what(entry: AuditEntry) -> str:
    made = render_to_string("shops/what.html", {"entry": entry, "facts": facts(entry)})
    return made if made.strip() else NOTHING


@dataclass(frozen=True)
class ObjectLink:
    """A column with an entry's object, which is a link for those who may see its page."""

    request: HttpRequest
    __name__ = "object"
    short_description = gettext_lazy("object")

    def __call__(self, entry: AuditEntry) -> str:
        if not entry.object_id:
            return NOTHING
        app, _, name = entry.object_type.partition(".")
        text = f"{kind(entry.object_type)} {entry.object_id}"
        try:
            page = address_of(entry.object_type, entry.object_id)
        except NoReverseMatch:
            return text
        return link_to(page, text) if may_view(self.request, app, name) else text


@admin.register(AuditEntry)
class AuditEntryAdmin(LargeTableAdmin[AuditEntry]):
    """Who saw or changed what; the log is read by superusers and Accounts."""

    what = column(gettext_lazy("what"), what)
    list_display = ("at", "actor", "channel", "action", "what")
    list_filter = (
        of(MultiChoiceFilter, gettext_lazy("action"), "action", values=Action),
        of(ColumnFilter, gettext_lazy("channel"), "channel", offered=CHANNELS),
        of(PeriodFilter, gettext_lazy("day"), "created", column="at"),
    )
    not_listed = ("search_words",)
    list_select_related = False  # type: ignore[assignment]  # it has no foreign key
    search_help_text = gettext_lazy("A person, an object's id, or a customer's e-mail")
    export_columns = read_columns(__file__, "auditentry", json=as_json)

    def get_list_display(self, request: HttpRequest) -> tuple[Any, ...]:
        *columns, what, key = super().get_list_display(request)
        return (*columns, ObjectLink(request), what, key)

    def get_fields(self, request: HttpRequest, obj: AuditEntry | None = None) -> tuple[Any, ...]:
        return (*("at", "actor", "channel", "address", "action"), ObjectLink(request), "shop_id", "customer", "what")

    get_readonly_fields = get_fields

    def found_by(self, text: str, *, may_see: bool) -> QuerySet[Any, Any]:
        """Find by person, by object and, where there is an e-mail, by customer: who may read the log may ask that."""
        condition = Q(actor=text) | Q(object_id=text)
        customers = customer_digests(text) if "@" in text else []
        condition |= Q(customer__in=customers)
        for shown in filter(None, (word(text), *customers)):
            condition |= Q(search_words__has=shown)
        return AuditEntry.objects.filter(condition).order_by().values("pk")

    class Media:
        css = {"all": ["shops/admin.css"]}

"""Entries of the audit log in the reader's words: the kinds of objects, and the names of fields and details."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from django.apps import apps
from django.core.exceptions import FieldDoesNotExist
from django.utils.translation import gettext, gettext_noop

from shops.staff.audit.models import AuditEntry
from shops.staff.display_texts import NOTHING, words

# Details that are shown by another name than the one that they are stored under.
FACTS: Final[Mapping[str, str]] = {
    "of": gettext_noop("list"),
    "list": gettext_noop("list"),
    "shown": gettext_noop("shown"),
    "hits": gettext_noop("found"),
    "kind": gettext_noop("kind"),
    "by": gettext_noop("by"),
    "format": gettext_noop("file"),
    "file": gettext_noop("file"),
    "filters": gettext_noop("filters"),
    "rows": gettext_noop("rows"),
    "is_complete": gettext_noop("complete"),
    "begun": gettext_noop("begun by the entry"),
    "reason": gettext_noop("reason"),
    "name": gettext_noop("name"),
    "number": gettext_noop("number"),
    "count": gettext_noop("count"),
    "kept_days": gettext_noop("days kept"),
    "parcels": gettext_noop("parcels"),
    "labels": gettext_noop("labels"),
    "pdfs": "PDF",
    "asked": gettext_noop("asked"),
    "printed_with": gettext_noop("printed with"),
}
KINDS: Final[Mapping[str, str]] = {
    "text": gettext_noop("text"),
    "token": gettext_noop("access token"),
    "list": gettext_noop("list"),
    "number": gettext_noop("number"),
    "recipient": gettext_noop("recipient"),
    "customer": gettext_noop("customer"),
}
LISTS: Final[Mapping[str, str]] = {"parcels.list": gettext_noop("Lists of numbers")}


def kind(object_type: str, *, is_list: bool = False) -> str:
    """Name a kind of object, such as `labels.shippinglabel`, or its list, as the pages do."""
    try:
        options = apps.get_model(object_type)._meta
    except (LookupError, ValueError):  # of a page that is no model's, or a model that is gone
        return gettext(LISTS.get(object_type, object_type))
    return str(options.verbose_name_plural if is_list else options.verbose_name)


def changes(entry: AuditEntry) -> Iterator[tuple[str, Any, Any]]:
    """Yield the changes of an entry: a field's name, as the pages have it, and its old and new value."""
    for name, (old, new) in entry.changes.items():
        try:
            field: Any = apps.get_model(entry.object_type)._meta.get_field(name)
        except (LookupError, ValueError, FieldDoesNotExist):  # of a form alone, or a model or a field that is gone
            field = None
        yield str(getattr(field, "verbose_name", name)), old, new


def facts(entry: AuditEntry) -> Iterator[tuple[str, Any]]:
    """Yield the details of an entry: a name, empty of a note, and the value."""
    for name, value in entry.details.items():
        yield "" if name == "note" else gettext(FACTS.get(name, name)), fact(name, value)


def fact(name: str, value: Any) -> str:
    if name == "by" and isinstance(value, list):  # all that was looked for
        return ", ".join(fact(name, each) for each in value) or NOTHING
    if not isinstance(value, str):
        return words(value)
    if name in {"of", "list"}:
        return kind(value, is_list=True)
    return gettext(KINDS[value]) if name in {"kind", "by"} and value in KINDS else words(value)

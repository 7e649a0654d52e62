"""Entries of the audit log in the reader's words: the kinds of objects, and the names of fields and details."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from django.apps import apps
from django.core.exceptions import FieldDoesNotExist
from django.utils.translation import gettext
from django.utils.translation import gettext_noop as _

from shops.staff.audit.models import AuditEntry
from shops.staff.display_texts import NOTHING, words

# Names of details, and kinds of searches: those shown as they are stored, and those by another name.
FACTS: Final[Mapping[str, str]] = {
    **{name: name for name in (_("list"), _("shown"), _("kind"), _("by"), _("file"), _("filters"), _("rows"))},
    **{name: name for name in (_("reason"), _("name"), _("number"), _("count"), _("parcels"), _("labels"), _("asked"))},
    "of": _("list"),
    "hits": _("found"),
    "format": _("file"),
    "is_complete": _("complete"),
    "begun": _("begun by the entry"),
    "kept_days": _("days kept"),
    "pdfs": "PDF",
    "printed_with": _("printed with"),
}
KINDS: Final[Mapping[str, str]] = {
    **{name: name for name in (_("text"), _("list"), _("number"), _("recipient"), _("customer"))},
    "token": _("access token"),
}
LISTS: Final[Mapping[str, str]] = {"parcels.list": _("Lists of numbers")}


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

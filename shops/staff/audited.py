"""The admin's part of the audit log: records views, searches and changes, and shows an object's history from it."""

from collections.abc import Callable, Iterable, Sequence
from types import SimpleNamespace
from typing import Any, ClassVar

from django.core.exceptions import PermissionDenied
from django.db.models import Model
from django.http import HttpRequest, HttpResponse
from django.utils.text import capfirst
from django.utils.translation import gettext

from shops.models import AccessToken
from shops.personal_data import MASKED
from shops.staff.acts import ActingAdmin
from shops.staff.audit import changes
from shops.staff.audit.models import Action, AuditEntry
from shops.staff.audit.recording import Shown, acting, current_actor, record
from shops.staff.masking import Row, may_see

HISTORY = (Action.ADDED, Action.CHANGED, Action.REMOVED)
HISTORY_AT_MOST = 200


class AuditedAdmin(ActingAdmin[Row]):
    """Records what staff see, search for and change, in place of Django's own log of changes."""

    are_views_recorded: ClassVar[bool] = False

    def customer_of(self, row: Any) -> str:
        """Return the e-mail of the customer whose data a row has."""
        return ""

    def record_view(self, row: Any) -> None:
        email = self.customer_of(row)
        record(Action.VIEWED, row, customer_email=email if email != MASKED else "")

    def changeform_view(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        answer = super().changeform_view(request, *args, **kwargs)
        row = (getattr(answer, "context_data", None) or {}).get("original")
        if row is not None and self.are_views_recorded and request.method == "GET":
            self.record_view(row)
        return answer

    def shown_rows(self, rows: Iterable[Any]) -> list[Shown]:
        """Return rows of a list as the audit log has them."""
        return [Shown(str(row.pk), self.customer_of(row)) for row in rows]

    def changelist_view(self, request: HttpRequest, extra_context: Any = None) -> Any:
        """Record a search, and a list of customers' rows that shows them."""
        title = capfirst(self.opts.verbose_name_plural)
        answer = super().changelist_view(request, {"title": title, **(extra_context or {})})
        listed = (getattr(answer, "context_data", None) or {}).get("cl")
        if listed is None:
            return answer
        of = self.opts.label_lower
        shown = self.shown_rows(listed.result_list) if self.are_views_recorded and may_see(request) else []
        if listed.query:
            record_search(listed.query, shown, hits=listed.result_count, of=of)
        elif shown:
            record(Action.LISTED, shown=shown, of=of)
        return answer

    def page_recorder(self, request: HttpRequest, *, file: str) -> Callable[[Sequence[dict[str, Any]]], None]:
        """Return what records a page of a file's rows, if they show customers; it runs when the request is over."""
        if not (self.are_views_recorded and may_see(request)):
            return lambda _: None
        actor, key = current_actor.get(), self.opts.pk.name

        def record_page(rows: Sequence[dict[str, Any]]) -> None:
            with acting(actor):
                shown = self.shown_rows(SimpleNamespace(pk=row[key], **row) for row in rows)
                record(Action.LISTED, shown=shown, of=self.opts.label_lower, file=file)

        return record_page

    def construct_change_message(self, request: HttpRequest, form: Any, formsets: Any, add: bool = False) -> Any:  # noqa: FBT001, FBT002 - Django's signature
        return changes.of_form(form)

    def log_addition(self, request: HttpRequest, obj: Model, message: Any) -> Any:
        return record(Action.ADDED, obj, changes=message)

    def log_change(self, request: HttpRequest, obj: Model, message: Any) -> Any:
        """Record the changes of a form, or what an action did, in words."""
        if isinstance(message, str):
            return record(Action.CHANGED, obj, note=message)
        return record(Action.CHANGED, obj, changes=message) if message else None

    def log_deletions(self, request: HttpRequest, queryset: Any) -> Any:
        return [record(Action.REMOVED, obj, name=str(obj)) for obj in queryset]

    def history_view(self, request: HttpRequest, object_id: str, extra_context: Any = None) -> HttpResponse:
        """Show the changes of an object from the audit log, the newest first."""
        row = self.row_or_404(request, object_id)
        if not self.has_view_or_change_permission(request, row):
            raise PermissionDenied
        entries = AuditEntry.about(row).filter(action__in=HISTORY)[:HISTORY_AT_MOST]
        context = {"title": gettext("History"), "entries": entries, "original": row}
        return self.page(request, "shops/history.html", context)


def record_search(text: str, shown: Iterable[Shown], *, hits: int, **details: Any) -> AuditEntry:
    """Record a search by what it found, a typed token by its id: what was typed may be a person's or a secret."""
    if token := AccessToken.objects.typed(text):
        return record(Action.SEARCHED, token, kind="token", hits=hits, **details)
    email = text.strip() if "@" in text else ""
    kind = "e-mail" if email else "text"
    return record(Action.SEARCHED, customer_email=email, shown=shown, kind=kind, hits=hits, **details)

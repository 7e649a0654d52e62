"""Bases of the pages of what shops have: it is never deleted, and a secret is shown once, when it is issued."""

from typing import Any, ClassVar

from django.contrib import admin
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext_noop

from shops.staff.base import ModelAdmin
from shops.staff.masking import Row


class KeptAdmin(ModelAdmin[Row]):
    """Rows that are made inactive, replaced or revoked, never deleted."""

    show_facets = admin.ShowFacets.NEVER

    def has_delete_permission(self, request: HttpRequest, obj: Row | None = None) -> bool:
        return False

    class Media:
        css = {"all": ["shops/admin.css"]}


class OfShopAdmin(KeptAdmin[Row]):
    """Rows that are a shop's, which is chosen when they are made."""

    list_filter_submit = True
    list_select_related = ("shop",)
    autocomplete_fields: ClassVar[tuple[str, ...]] = ("shop",)

    class Media:
        js = ["shops/autocomplete_names.js"]


def revoked_before(row: Any) -> str:
    return gettext_noop("revoked before") if row.revoked_at else ""


class IssuedAdmin(OfShopAdmin[Row]):
    """Rows with a secret, which is shown in the answer that makes it; one that is revoked changes no more."""

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        is_revoked = obj is not None and obj.revoked_at is not None
        return not is_revoked and super().has_change_permission(request, obj)

    def issue(self, request: HttpRequest, row: Any) -> tuple[Row, str | None]:
        """Make a row like this one; return it with its secret, if it has one yet."""
        raise NotImplementedError

    def show_secret(self, request: HttpRequest, row: Any) -> HttpResponse:
        """Show `row.secret` in this answer, which is stored nowhere: a message would be kept in a cookie or session."""
        raise NotImplementedError

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:  # noqa: FBT001 - Django's signature
        if change:
            obj.save(update_fields=form.changed_data)  # not what was noted or revoked meanwhile
            return
        issued, obj.secret = self.issue(request, obj)
        obj.pk = issued.pk

    def response_add(self, request: HttpRequest, obj: Any, *args: Any) -> HttpResponse:
        return self.show_secret(request, obj)

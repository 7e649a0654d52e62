"""Pages of an admin, and what is done to a row once it is confirmed."""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

from django.contrib.admin.utils import unquote
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import path
from django.utils.translation import gettext

from shops.staff.masking import ConcealingAdmin, Row, may_see
from shops.staff.pages import page_of


class StaffRequest(HttpRequest):
    """A request of a member of staff, as every view of the admin has it."""

    user: User


Step = Callable[[Any, Any], HttpResponse | None]  # with the request and the row; nothing: back to the row's page


class Act(NamedTuple):
    """An act on one row, done when its form is sent; one without a page that asks first is a button, or a file."""

    do: Step | None = None
    ask: Step | None = None
    may: Callable[[Any], bool] | None = None  # who may, in place of those who may act


def is_confirmed(request: HttpRequest) -> bool:
    return "is_confirmed" in request.POST


class ActingAdmin(ConcealingAdmin[Row]):
    """The part of every admin with its pages and acts."""

    def row_or_404(self, request: HttpRequest, object_id: str) -> Row:
        """Return the row that a page's address names, as this user may see it."""
        row: Row | None = self.get_object(request, unquote(object_id))
        if row is None:
            raise Http404(gettext("There is no such object."))
        return row

    def page(self, request: HttpRequest, template: str, context: dict[str, Any]) -> TemplateResponse:
        site = {**self.admin_site.each_context(request), "opts": self.opts, "media": self.media}
        return TemplateResponse(request, template, site | context)

    def has_act_permission(self, request: HttpRequest) -> bool:
        return False

    def has_open_permission(self, request: HttpRequest) -> bool:
        """Tell if a user may open a row's files, which name customers."""
        return self.has_view_permission(request) and may_see(request)

    def act_urls(self, **acts: Act) -> list[Any]:
        """Return the addresses of acts on a row by their names, below the row's own."""
        name = f"{self.opts.app_label}_{self.opts.model_name}"
        views = {each: self.admin_site.admin_view(partial(self.act_view, act=act)) for each, act in acts.items()}
        return [
            path(f"<path:object_id>/{each.replace('_', '-')}/", view, name=f"{name}_{each}")
            for each, view in views.items()
        ]

    def act_view(self, request: HttpRequest, object_id: str, act: Act) -> HttpResponse:
        """Do what a form says and lead back to the row, or ask first."""
        if not (act.may or self.has_act_permission)(request):
            raise PermissionDenied
        row = self.row_or_404(request, object_id)
        step = act.do if request.method == "POST" else act.ask
        return (step(request, row) if step else None) or HttpResponseRedirect(page_of(row))

"""Pages of an admin, and what is done to a row, or to those chosen of a list, once it is confirmed."""

from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial, wraps
from typing import Any, ClassVar, Final, NamedTuple

from django.contrib import admin, messages
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.contrib.admin.utils import unquote
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.db import DatabaseError
from django.db.models import QuerySet
from django.forms import Form
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import path
from django.utils.translation import gettext, gettext_lazy
from django_stubs_ext import StrOrPromise

from shops.db.failures import is_timeout
from shops.staff.masking import ConcealingAdmin, Row, may_see
from shops.staff.pages import page_of

HELD: Final = gettext_lazy("It is held by another process, such as an import. Try again later.")


class StaffRequest(HttpRequest):
    """A request of a member of staff, as every view of the admin has it."""

    user: User


def may_still(name: str, permission: str) -> bool:
    """Return whether who asked for something, which a colleague completes, has a permission now."""
    user = User.objects.filter(username=name, is_staff=True).first()
    return user is not None and user.has_perm(permission)


Step = Callable[[Any, Any], HttpResponse | None]  # with the request and the row; nothing: back to the row's page


class Act(NamedTuple):
    """An act on one row, done when its form is sent; one without a page that asks first is a button, or a file."""

    do: Step | None = None
    ask: Step | None = None
    may: Callable[[Any], bool] | None = None  # who may, in place of those who may act


@dataclass
class Question:
    """The question before an action: which rows it is for, and texts, which may name counts and the reasons."""

    title: StrOrPromise
    explanation: StrOrPromise
    none: StrOrPromise  # said where it is for none of the rows
    why_not: Callable[[Any], str]  # the reason why it is not for a row; empty where it is
    button: StrOrPromise = ""  # none: the title
    limit: int | None = None
    form: type[Form] | None = None
    is_always_asked: bool = True  # not only where rows are left out


@dataclass
class Choice:
    """The rows that an action is for, those that it leaves out, by the reason, and the question's form."""

    concerned: list[Any]
    left_out: dict[str, list[Any]]
    form: Any


def asked(question: Question, description: StrOrPromise, permission: str = "change") -> Callable[[Any], Any]:
    """Declare an action whose method gets the choice, once that is confirmed."""

    def declared(do: Callable[[Any, Any, Choice], HttpResponse | None]) -> Any:
        @wraps(do)
        def action(self: Any, request: HttpRequest, queryset: QuerySet[Any]) -> HttpResponse | None:
            choice = self.choice(request, queryset, question, do.__name__)
            return do(self, request, choice) if isinstance(choice, Choice) else choice

        return admin.action(action, description=description, permissions=[permission])

    return declared


class ActingAdmin(ConcealingAdmin[Row]):
    """The part of every admin with its pages and acts."""

    confirm_template: ClassVar[str] = "shops/confirm.html"
    too_many: ClassVar[StrOrPromise] = ""  # said where more rows are chosen than a question's limit

    def row_or_404(self, request: HttpRequest, object_id: str) -> Row:
        """Return the row that a page's address names, as this user may see it."""
        row: Row | None = self.get_object(request, unquote(object_id))
        if row is None:
            raise Http404(gettext("There is no such object."))
        return row

    def page(self, request: HttpRequest, template: str, context: dict[str, Any]) -> TemplateResponse:
        own = {"opts": self.opts, "media": self.media, "subtitle": context.get("original", "")}
        site = {**self.admin_site.each_context(request), **own}
        return TemplateResponse(request, template, site | context)

    def has_act_permission(self, request: HttpRequest) -> bool:
        return False

    def has_open_permission(self, request: HttpRequest) -> bool:
        """Return whether a user may open a row's files, which name customers."""
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
        step, answer = act.do if request.method == "POST" else act.ask, None
        try:
            answer = step(request, row) if step else None
        except DatabaseError as error:
            if not is_timeout(error):
                raise
            messages.error(request, HELD)
        return answer or HttpResponseRedirect(page_of(row))

    def chosen_rows(self, queryset: QuerySet[Any]) -> list[Any]:
        return list(queryset)

    def choice(
        self, request: HttpRequest, queryset: QuerySet[Any], question: Question, action: str
    ) -> Choice | HttpResponse | None:
        """Return what is chosen and confirmed, or the page that asks; None where nothing is done, which is said."""
        rows = self.chosen_rows(queryset[: question.limit and question.limit + 1])
        if question.limit and len(rows) > question.limit:
            messages.warning(request, self.too_many.format(limit=question.limit))
            return None
        left_out = defaultdict(list)
        for row in rows:
            left_out[gettext(why) if (why := question.why_not(row)) else ""].append(row)
        if not (concerned := left_out.pop("", [])):
            gone = gettext("Nothing was done: what was chosen is no longer in this list.")
            messages.warning(request, question.none.format(reason="; ".join(left_out)) if left_out else gone)
            return None
        if changed := self.gone(request, rows):
            left_out[gettext("no longer in this list")] = changed
        is_sent = "is_confirmed" in request.POST
        form = question.form(request.POST if is_sent else None) if question.form else None
        choice = Choice(concerned, dict(left_out), form)
        is_answered = form.is_valid() if form else is_sent or not (left_out or question.is_always_asked)
        return choice if is_answered else self.ask(request, question, choice, action)

    def gone(self, request: HttpRequest, rows: Iterable[Any]) -> list[Any]:
        """Return the chosen rows that are not among those found: they have changed since the list was read."""
        chosen = set() if request.POST.get("select_across") == "1" else {*request.POST.getlist(ACTION_CHECKBOX_NAME)}
        missing = chosen - {str(row.pk) for row in rows}
        return list(self.get_queryset(request).filter(pk__in=missing)) if missing else []

    def ask(self, request: HttpRequest, question: Question, choice: Choice, action: str) -> HttpResponse:
        ready, left_out = len(choice.concerned), sum(map(len, choice.left_out.values()))
        counts = {"left_out": left_out, "total": ready + left_out, "ready": ready}
        context = {
            "title": question.title,
            "explanation": question.explanation.format(**counts),
            "button": (question.button or question.title).format(**counts),
            "variant": "danger" if question.is_always_asked else "primary",
            "media": self.media + choice.form.media if choice.form else self.media,
        }
        return self.page(request, self.confirm_template, context | {"choice": choice, "action": action})

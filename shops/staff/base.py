"""Base classes of the admin's pages, with read-only ones for large tables."""

from collections.abc import Iterator
from contextlib import nullcontext
from functools import cached_property, partial
from hashlib import sha256
from typing import Any, ClassVar, cast

from django.contrib import admin, messages
from django.contrib.admin.exceptions import DisallowedModelAdminLookup
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.contrib.admin.options import IncorrectLookupParameters
from django.contrib.admin.utils import unquote
from django.contrib.admin.views.main import SEARCH_VAR, ChangeList
from django.core.exceptions import PermissionDenied, ValidationError
from django.core.paginator import Page, Paginator
from django.db import IntegrityError, transaction
from django.db.models import F, QuerySet
from django.db.models.functions import Coalesce
from django.http import HttpRequest, HttpResponse, HttpResponseBase, HttpResponseRedirect
from django.urls import path, reverse
from django.utils.translation import gettext
from django.views.decorators.http import require_GET

from shops.staff import headers
from shops.staff.audited import AuditedAdmin, record_search
from shops.staff.exports import Column, answer, audited_filters, columns_of, pages
from shops.staff.filters import chosen_texts
from shops.staff.masking import Row, may_see
from shops.staff.spreadsheets import FORMATS

headers.install()
LISTED_AT_MOST = 1000


class RestrictedChangeList(ChangeList):
    """A list that accepts only the filters and the orders it offers.

    Django would compare any column with anything: that reveals a secret letter by letter, and fails on a value that
    the column can't hold. It would sort by any column that it shows, too.
    """

    def get_ordering_field(self, field_name: Any) -> Any:
        return super().get_ordering_field(field_name) if field_name in (self.sortable_by or ()) else None

    def leading(self) -> list[str]:
        """Return the columns that the list and its file are sorted by before the model's own order."""
        return []

    def get_filters(self, request: HttpRequest) -> Any:
        filters = super().get_filters(request)
        if filters[2]:  # the parameters that no filter took
            raise DisallowedModelAdminLookup(gettext("This list has no such filter."))
        return filters

    def chips(self) -> Iterator[tuple[str, str, str]]:
        """Yield the filters that narrow the list: title, what is chosen, and the address of the list without it."""
        if self.query:
            yield gettext("Search"), self.query, self.get_query_string({SEARCH_VAR: None})
        for spec in self.filter_specs:
            if texts := [*chosen_texts(spec, self)]:
                without = self.get_query_string(dict.fromkeys(map(str, spec.expected_parameters())))
                yield str(spec.title), ", ".join(texts), without


class ModelAdmin(AuditedAdmin[Row]):
    """The base of every page: unfold's; lists are restricted and exported, personal data concealed, all on record."""

    change_list_template = "shops/change_list.html"
    change_form_before_template = "shops/seen.html"
    list_class: ClassVar[type[ChangeList]] = RestrictedChangeList
    export_columns: tuple[Column, ...] = ()  # none: the fields that the list shows

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[ChangeList]:
        return self.list_class

    def get_list_display(self, request: HttpRequest) -> tuple[Any, ...]:
        """Show the id last: it is copied now and then, and hardly ever read."""
        key = self.opts.pk.name
        return (*(column for column in super().get_list_display(request) if column != key), key)

    def get_changeform_initial_data(self, request: HttpRequest) -> dict[str, Any]:
        """Take from an address what our own links have, a row that is chosen: any other text may not fit its widget."""
        given = super().get_changeform_initial_data(request)
        return {name: value for name, value in given.items() if name in self.autocomplete_fields}

    def get_object(self, request: HttpRequest, object_id: str, from_field: str | None = None) -> Any:
        """Find a row by its key where an address names no field, as `?_to_field=` does."""
        return super().get_object(request, object_id, from_field or None)

    def response_action(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse | None:
        """Refuse a key that no row can have: a column of numbers can't be compared with it."""
        try:
            for key in request.POST.getlist(ACTION_CHECKBOX_NAME):
                self.opts.pk.to_python(key)
        except ValidationError as error:
            raise DisallowedModelAdminLookup(gettext("There is no such object.")) from error
        return super().response_action(request, *args, **kwargs)

    def changeform_view(self, request: HttpRequest, object_id: str | None = None, *args: Any, **kwargs: Any) -> Any:
        """Save nothing that was typed on a page whose fields a colleague or a command has changed since.

        A row that a colleague adds at the same moment is found, as any other, when the form is checked once more.
        """
        seen = request.POST.get("seen")
        with transaction.atomic() if seen else nullcontext():
            row = self.get_object(request, unquote(object_id)) if seen and object_id else None
            if row and self.has_change_permission(request, row):
                # Until it is saved nobody else changes it: a form writes columns that it does not show, too.
                self.model._default_manager.select_for_update(no_key=True).filter(pk=row.pk).exists()
                row = self.get_object(request, str(row.pk))
                form = self.get_form(request, row, change=True)(instance=row)
                if shown_by(form) != seen:
                    text = gettext("Nothing was changed: it has changed since the page was read. Look again.")
                    messages.error(request, text)
                    return HttpResponseRedirect(request.get_full_path())
            try:
                return super().changeform_view(request, object_id, *args, **kwargs)
            except IntegrityError:
                return super().changeform_view(request, object_id, *args, **kwargs)

    def facts(self, request: HttpRequest, row: Any) -> dict[str, Any]:
        """Collect what the page of a row shows beside its fields."""
        return {}

    def render_change_form(self, request: HttpRequest, context: Any, *args: Any, **kwargs: Any) -> HttpResponse:
        row = kwargs["obj"]
        facts = self.facts(request, row) | {"seen": shown_by(context["adminform"].form)} if row else {}
        return super().render_change_form(request, context | facts, *args, **kwargs)

    def get_urls(self) -> list[Any]:
        return [*self.export_urls(), *super().get_urls()]

    def export_urls(self) -> list[Any]:
        """Return the addresses of a file of each kind, beside the list's own; they take its filters."""
        name = f"{self.opts.app_label}_{self.opts.model_name}"
        views = {kind: require_GET(partial(self.export_view, kind=kind)) for kind in FORMATS}
        return [
            # "Cacheable" leaves the headers to the view, which forbids caching.
            path(f"export.{kind}", self.admin_site.admin_view(view, cacheable=True), name=f"{name}_{kind}")
            for kind, view in views.items()
        ]

    def export_view(self, request: HttpRequest, kind: str) -> HttpResponseBase:
        """Send the rows of the list as it is filtered, all of them but test shops'."""
        if not self.has_view_or_change_permission(request):
            raise PermissionDenied
        try:
            listed = cast("RestrictedChangeList", self.get_changelist_instance(request))
        except IncorrectLookupParameters as error:
            raise DisallowedModelAdminLookup(gettext("This list has no such filter.")) from error
        columns = self.export_columns or columns_of(self.model, self.get_list_display(request))
        if listed.query:
            record_search(listed.query, (), hits=listed.result_count, of=self.opts.label_lower)
        rows_shown, recorder = without_tests(listed.queryset), self.page_recorder(request, file=kind)
        found = pages(rows_shown, columns, recorder, first=listed.leading())
        masks = {} if may_see(request) else self.personal
        rows = ([column.text(row, masks) for column in columns] for row in found)
        titles = [gettext(column.title) for column in columns]
        filters = audited_filters(request)
        return answer(kind, name=self.opts.label_lower, titles=titles, rows=rows, filters=filters)


def shown_by(form: Any) -> str:
    """Digest the values that a form shows of a row, before anything is typed."""
    values = [form.get_initial_for_field(field, name) for name, field in form.fields.items()]
    # The rows of a relation come in any order.
    texts = [sorted(map(str, value)) if isinstance(value, list) else str(value) for value in values]
    return sha256(repr(texts).encode()).hexdigest()


def without_tests(rows: QuerySet[Row]) -> QuerySet[Row]:
    """Leave out test shops, and the rows that are of one: a file does not say TEST."""
    fields = {field.name for field in rows.model._meta.fields}
    if "is_test" in fields:
        return rows.filter(is_test=False)
    return rows.filter(shop__is_test=False) if "shop" in fields else rows


class CappedPaginator(Paginator[Any]):
    """Pages of the newest rows, up to a cap, so that nothing counts millions of rows."""

    template_name = "shops/pagination.html"

    @cached_property
    def found(self) -> int:
        """The number of rows, counted to one above the cap."""
        rows = cast("QuerySet[Any]", self.object_list)
        return rows.order_by()[: LISTED_AT_MOST + 1].count()

    @cached_property
    def count(self) -> int:
        return min(self.found, LISTED_AT_MOST)

    @property
    def is_capped(self) -> bool:
        return self.found > LISTED_AT_MOST

    def page(self, number: int | str) -> Page[Any]:
        """Sort few rows by no index, so that the filters' are used: along its own, all newer rows would be read."""
        rows = cast("QuerySet[Any]", self.object_list)
        first, *rest = rows.query.order_by or [""]  # none where a form offers rows to choose, as it finds none
        if first and isinstance(first, str) and not self.is_capped:  # no expression, which has an index
            column = Coalesce(F(first.removeprefix("-")), F(first.removeprefix("-")))
            self.object_list = rows.order_by(column.desc() if first.startswith("-") else column.asc(), *rest)
        return super().page(number)


class CappedList(RestrictedChangeList):
    """A list that does not read the columns it does not show."""

    model_admin: "LargeTableAdmin[Any]"

    def get_queryset(self, *args: Any, **kwargs: Any) -> QuerySet[Any]:
        return super().get_queryset(*args, **kwargs).defer(*self.model_admin.not_listed)

    def get_results(self, request: HttpRequest) -> None:
        super().get_results(request)
        if not self.result_count:
            self.result_list = self.result_list.none()  # not looked for a second time
        if not self.query and not self.has_active_filters:
            self.full_result_count = self.result_count  # offers "Show all" only if something is left out


class ReadOnly:
    """Rows that the admin shows and never adds, changes or deletes."""

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    has_change_permission = has_delete_permission = has_add_permission


class LargeTableAdmin(ReadOnly, ModelAdmin[Row]):
    """Pages of a large table: lists the newest rows, and searches for others along indexes only."""

    list_class = CappedList
    not_listed: ClassVar[tuple[str, ...]] = ()  # columns that the list does not read
    list_filter_submit = True
    list_select_related = ("shop",)
    list_per_page = 25  # a row costs 2 ms of templates
    sortable_by: ClassVar[tuple[str, ...]] = ()  # the newest first, along the index
    paginator = CappedPaginator
    show_full_result_count = False
    show_facets = admin.ShowFacets.NEVER
    search_fields = ("pk",)  # shows the search box; `found_by` does the search
    actions: Any = None

    class Media:
        css = {"all": ["shops/lists.css"]}
        js = ["shops/autocomplete_names.js"]

    def found_by(self, text: str, *, may_see: bool) -> QuerySet[Any, Any]:
        """Return the keys of the rows that match what staff typed; in personal data only for those who may see it."""
        raise NotImplementedError

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Row], search_term: str
    ) -> tuple[QuerySet[Row], bool]:
        """Search for a list; no field of a form offers these rows, so the choice of one finds none."""
        if request.path_info == reverse("admin:autocomplete"):
            return queryset.none(), False
        text = search_term.strip()
        found = self.found_by(text, may_see=may_see(request)) if text else None
        return (queryset if found is None else queryset.filter(pk__in=found)), False

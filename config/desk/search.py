"""The staff's one search box, over the parcels and labels of all shops."""

from collections.abc import Iterator
from typing import Any

from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.db.models import Model
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.utils.translation import gettext, gettext_lazy
from django.views.decorators.http import require_safe

from config.desk.lists import look_up_typed, may_check
from config.desk.pasted import is_list
from labels.admin.search import SEARCH as IN_LABELS
from labels.models import ShippingLabel
from parcels.admin.search import SEARCH as IN_PARCELS
from parcels.importing.numbers import are_of_one_time
from parcels.models import Parcel
from parcels.tracking.events import milliseconds
from shops.api.errors.coded import CODES
from shops.models import AccessToken, Shop
from shops.staff.audited import record_search
from shops.staff.masking import may_see
from shops.staff.pages import address_of, page_of
from shops.staff.panels import list_url
from shops.staff.recipients import RecipientSearch
from shops.staff.search import LISTED, MIN_BEGINNING, Found

MAX_LENGTH = 200
MAX_LIST_LENGTH = 4000  # as the address takes it; a longer list has its page
NUMBER_KINDS = (
    gettext_lazy("tracking numbers"),
    gettext_lazy("order numbers and ids"),
    gettext_lazy("parcel ids"),
    gettext_lazy("label ids"),
)
NOTHING = Found(set(), set())


class Search:
    """One search, and its hits: parcels, and the labels that are not one of these parcels, the newest first."""

    def __init__(self, request: HttpRequest, text: str) -> None:
        models = (Parcel, ShippingLabel, AccessToken, Shop)
        sees = (site_admin(model).has_view_permission(request) for model in models)
        self.sees_parcels, self.sees_labels, self.sees_tokens, self.sees_shops = sees
        self.is_personal = may_see(request)
        self.text = text
        self.found: list[Found] = []
        self.parcels: list[Parcel] = []
        self.labels: list[ShippingLabel] = []
        self.token: AccessToken | None = None
        self.others: list[tuple[str, str]] = []  # what is no customer's: a title and a page

    def run(self) -> None:
        self.token = AccessToken.objects.typed(self.text)
        searches = ((self.sees_parcels, IN_PARCELS), (self.sees_labels, IN_LABELS))
        self.found = [
            each.find(self.text, is_personal=self.is_personal) if sees else NOTHING for sees, each in searches
        ]
        of_parcels, of_labels = self.found
        newest = Parcel.objects.filter(pk__in=of_parcels.keys).newest_first().select_related("shop")
        self.parcels = list(newest.defer("events", "line_items", "gift_config", "cross_sell_recommendations")[:LISTED])
        others = ShippingLabel.objects.filter(pk__in=of_labels.keys - of_parcels.keys).order_by("-id")
        self.labels = [
            label
            for label in others.select_related("shop").defer("pdf", "sender", "customs")[:LISTED]
            if not any(is_parcel_of(label, parcel) for parcel in self.parcels)
        ]
        self.others = [*self.shops(), *self.error_code()]

    def shops(self) -> Iterator[tuple[str, str]]:
        if self.sees_shops and len(self.text) >= MIN_BEGINNING:
            for shop in Shop.objects.filter(name__icontains=self.text).order_by("name")[:LISTED]:
                yield f"{gettext('Shop')} {shop.name}", page_of(shop)

    def error_code(self) -> Iterator[tuple[str, str]]:
        """Yield the list of the orders that were refused with this code."""
        code = self.text.upper()
        if self.sees_labels and code in CODES:
            yield f"{gettext('Orders refused with')} {code}", list_url("labels", "shippinglabel", reason=code)

    @property
    def hits(self) -> list[Model]:
        return [*self.parcels, *self.labels]

    @property
    def count(self) -> int:
        return len(self.hits) + len(self.others)

    @property
    def is_capped(self) -> bool:
        return max(len(self.parcels), len(self.labels)) >= LISTED

    @property
    def is_short(self) -> bool:
        return len(self.text) < MIN_BEGINNING

    @property
    def kinds(self) -> list[str]:
        return [*NUMBER_KINDS, *(RecipientSearch(self.text).kinds if self.is_personal else ())]

    @property
    def page(self) -> str:
        """The address of the one hit's page: a parcel's, which leads to its label, but a whole label id its label's."""
        if self.token and self.sees_tokens:
            return page_of(self.token)
        label_id = self.text.upper()
        if label_id in self.found[-1].by_number:
            return address_of("labels.shippinglabel", label_id)
        pages = [*map(page_of, self.hits[:2]), *(page for _title, page in self.others[:2])]
        return pages[0] if len(pages) == 1 else ""

    def record(self) -> None:
        """Record the search with its hits, which only those see who may see customers' data."""
        is_by_number = any(found.by_number for found in self.found)
        is_by_recipient = any(found.by_recipient for found in self.found)
        shown = site_admin(Parcel).shown_rows(self.parcels) + site_admin(ShippingLabel).shown_rows(self.labels)
        by = ["number"] * is_by_number + ["recipient"] * is_by_recipient
        record_search(self.text, shown if self.is_personal else (), hits=len(self.hits), by=by)


def is_parcel_of(label: ShippingLabel, parcel: Parcel) -> bool:
    """Tell if a parcel is a label's, by its id or a number of the same time, before it is given out again."""
    is_of_time = are_of_one_time(parcel.created_at, milliseconds(label.created_at))
    is_numbered = is_of_time and not {*parcel.tracking_numbers}.isdisjoint(label.tracking_numbers)
    return parcel.shop_id == label.shop_id and (parcel.id == label.id or is_numbered)


def site_admin(model: type[Model]) -> Any:
    return admin.site.get_model_admin(model)


@require_safe
def search(request: HttpRequest) -> HttpResponse:
    """Open the page of the only hit, list several, or say what was looked for."""
    if not any(site_admin(model).has_view_permission(request) for model in (Parcel, ShippingLabel)):
        raise PermissionDenied
    typed = request.GET.get("q", "")[:MAX_LIST_LENGTH]
    if may_check(request) and is_list(typed):
        return look_up_typed(request, typed)
    asked = Search(request, typed.strip()[:MAX_LENGTH])
    if asked.text:
        asked.run()
        asked.record()
        if asked.page:
            return HttpResponseRedirect(asked.page)
        asked.parcels = [site_admin(Parcel).shown(request, parcel) for parcel in asked.parcels]
        asked.labels = [site_admin(ShippingLabel).shown(request, label) for label in asked.labels]
    context = {**admin.site.each_context(request), "title": gettext("Search"), "search": asked}
    return TemplateResponse(request, "staff/search.html", context)

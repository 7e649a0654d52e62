"""The admin's pages of parcels, which answer "where is this parcel", and of event codes that the tables lack."""

from collections.abc import Callable
from datetime import datetime
from functools import partial
from typing import Any, ClassVar

from django.contrib import admin, messages
from django.contrib.admin.views.main import ORDER_VAR
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.utils.html import format_html
from django.utils.text import Truncator
from django.utils.translation import gettext, gettext_lazy

from parcels.admin import dossier
from parcels.admin.claim import claim, may_exist, proof
from parcels.admin.filters import DELIVERY, FILTERS
from parcels.admin.search import SEARCH
from parcels.figures.models import Timing
from parcels.figures.timing import WINDOW_END
from parcels.importing.numbers import GIVEN_OUT_AGAIN_MS, let_go
from parcels.models import Parcel, TrackingNumber, UnlistedEventCode
from parcels.personal_data.columns import COLUMNS
from parcels.templatetags.parcel_page import late_label, moment, status_label, time
from parcels.tracking.events import milliseconds
from shops.api.file_answers import file_answer
from shops.contracts.clients import tracker
from shops.db import clock
from shops.staff import taking
from shops.staff.acts import Act
from shops.staff.audit.models import Action
from shops.staff.audit.recording import record
from shops.staff.base import CappedList, LargeTableAdmin, ModelAdmin, ReadOnly
from shops.staff.display_texts import NOTHING, column
from shops.staff.exports import read_columns
from shops.staff.filters import CarrierFilter, PeriodFilter
from shops.staff.masking import conceal, may_see
from shops.staff.search import spellings
from shops.webhooks.models import WebhookDelivery

MAX_DELIVERIES = 20
LONGEST_PLACE = 60  # characters of a list
admin.site.index_template = "parcels/admin_index.html"


def last_day(window: dict[str, Any]) -> datetime | None:
    return moment(window.get("maximumDeliveryDate"))


def may_change(request: HttpRequest) -> bool:
    return request.user.has_perm(taking.PERMISSION)


def can_be_asked(number: TrackingNumber) -> bool:
    """Return whether the number's carrier has a tracking service, and has not given the number out again."""
    if not number.carrier_code or milliseconds(timezone.now()) - number.created_at >= GIVEN_OUT_AGAIN_MS:
        return False
    return tracker(number.carrier_code, is_test=number.shop.is_test) is not None


class ParcelList(CappedList):
    """The list, by the times that it is filtered by."""

    def leading(self) -> list[str]:
        """Return the times that are filtered by, the last first: the newest parcels are never among those of old ones.

        In their usual order, all newer parcels would be read to find the first page, and all older ones for a file.
        Without a first day a time of 0 would be among them, and their index has none. Without a last one all newer
        parcels of other shops would be read to find those of a shop that stopped long ago.
        """
        periods = [spec for spec in self.filter_specs if isinstance(spec, PeriodFilter) and spec.has_first_day]
        is_of_shop = "shop__id__exact" in self.params
        return [f"-{period.column}" for period in periods if period.has_last_day or not is_of_shop]

    def get_ordering(self, request: HttpRequest, queryset: QuerySet[Any]) -> list[Any]:
        """List parcels past their promise by its end, the last first: the newest parcels are never among them."""
        ordering = list(super().get_ordering(request, queryset))
        if ORDER_VAR in self.params:
            return ordering
        is_of_overdue = request.GET.get(DELIVERY) == Timing.OVERDUE
        return [WINDOW_END.desc(), *ordering] if is_of_overdue else [*self.leading(), *ordering]


@admin.register(Parcel)
class ParcelAdmin(LargeTableAdmin[Parcel]):
    """Parcels, read-only: they are the shops' data."""

    list_display = ("number", "order_number", "shop", "carrier", "status", "updated", "going_to", "created")
    list_filter = FILTERS
    sortable_by: ClassVar[tuple[str, ...]] = ("created",)  # along the index
    list_class = ParcelList
    not_listed = (
        *("events", "line_items", "previous_emails", "gift_config", "cross_sell_recommendations", "search_words"),
        *("reported", "notes"),
    )
    search_help_text = gettext_lazy("Tracking number, order, e-mail or id")
    export_columns = read_columns(__file__, "parcel", moment=moment, last_day=last_day)
    personal = COLUMNS[Parcel]
    are_views_recorded = True

    # What an app above adds to a parcel's page: functions of request and parcel that return HTML.
    panels: ClassVar[list[Callable[[HttpRequest, Parcel], str]]] = []

    def facts(self, request: HttpRequest, parcel: Parcel) -> dict[str, Any]:
        numbers = list(TrackingNumber.objects.filter(parcel=parcel.pk).select_related("shop"))
        if not may_see(request):
            for number in numbers:
                conceal(number, COLUMNS[TrackingNumber])
        words, is_late = dossier.promise(parcel)
        about = [parcel.pk, *filter(None, (number.label for number in numbers))]
        deliveries = WebhookDelivery.objects.for_shop(parcel.shop_id).filter(subject__in=about).select_related("event")
        return {
            "promise": words,
            "is_late": is_late,
            "story": dossier.story(parcel, numbers),
            "copies": dossier.copies(parcel),
            "may_claim": may_see(request),
            "has_proof": may_see(request) and may_exist(parcel, numbers),
            "deliveries": deliveries[:MAX_DELIVERIES],
            "numbers": numbers,
            "is_followed": any(number.followed_since for number in numbers),
            "may_change": may_change(request),
            "may_ask": may_change(request) and any(map(can_be_asked, numbers)),
            "colleagues": taking.colleagues() if may_change(request) else [],
            "panels": [panel(request, parcel) for panel in self.panels],
        }

    def file(self, make: Callable[[Parcel], bytes], request: HttpRequest, parcel: Parcel) -> HttpResponse | None:
        """Answer with a file about a parcel, which names the customer."""
        content = make(parcel)
        if not content:
            messages.warning(request, gettext("The carrier gives no proof of this delivery now."))
            return None
        record(Action.PDF_OPENED, parcel, customer_email=parcel.customer_email, note=make.__name__)
        return file_answer(content, f'inline; filename="{make.__name__}.pdf"')

    def get_urls(self) -> list[Any]:
        take = Act(lambda request, parcel: taking.act(request, Parcel, parcel.pk))
        acts = {"ask": Act(self.have_asked), "let-go": Act(self.have_let_go), "take": take}
        files = {
            make.__name__: Act(ask=partial(self.file, make), may=self.has_open_permission) for make in (claim, proof)
        }
        return [*self.act_urls(**acts, **files), *super().get_urls()]

    def has_act_permission(self, request: HttpRequest) -> bool:
        return may_change(request)

    def have_asked(self, request: HttpRequest, parcel: Parcel) -> None:
        """Let the carriers be asked as soon as a process is free."""
        rows = TrackingNumber.objects.filter(parcel=parcel.pk)
        asked = [number.pk for number in rows.select_related("shop") if can_be_asked(number)]
        if rows.filter(pk__in=asked).update(due_at=clock.now()):
            record(Action.CHANGED, parcel, note="The carrier is asked by hand.")
            messages.success(request, gettext("The carrier is asked now. Reload the page in a minute."))
        else:
            text = gettext("Its carrier can't be asked: the parcel is not followed, or there is no service.")
            messages.error(request, text)

    def have_let_go(self, request: HttpRequest, parcel: Parcel) -> None:
        number = request.POST.get("number", "")
        if let_go(parcel.pk, number):
            record(Action.CHANGED, parcel, note=f"Number {number} was let go.")
            messages.success(request, gettext("{number} is no number of this parcel any more.").format(number=number))
        else:
            messages.error(request, gettext("It is the parcel's only number, or none of its numbers."))

    def customer_of(self, row: Parcel) -> str:
        return row.customer_email or ""

    def found_by(self, text: str, *, may_see: bool) -> QuerySet[Any, Any]:
        found, parcels = SEARCH.whole(text), Parcel.objects.order_by().values("pk")
        return found.union(parcels.filter(customer_email__in=spellings(text)), all=True) if may_see else found

    @admin.display(description=gettext_lazy("number"))
    def number(self, parcel: Parcel) -> str:
        others = len(set(parcel.tracking_numbers) - {parcel.tracking_id})
        return f"{parcel.tracking_id} +{others}" if others else parcel.tracking_id

    carrier = column(gettext_lazy("carrier"), lambda parcel: parcel.carrier_display_name or parcel.carrier_code)
    status = column(
        gettext_lazy("status"),
        lambda parcel: format_html("{} {}", status_label(parcel.last_status), late_label(parcel)),
    )
    updated = column(gettext_lazy("last update"), lambda parcel: time(parcel.updated_at))
    created = column(gettext_lazy("created"), lambda parcel: time(parcel.created_at), "created_at")

    @admin.display(description=gettext_lazy("destination"))
    def going_to(self, parcel: Parcel) -> str:
        to = parcel.destination
        text = ", ".join(filter(None, [to["city"], to["country"]])) or NOTHING
        return Truncator(text).chars(LONGEST_PLACE)  # a row of a hundred lines hides the others

    class Media:
        css = {"all": ["parcels/admin.css"]}
        js = ["parcels/dossier.js"]


@admin.register(UnlistedEventCode)
class UnlistedEventCodeAdmin(ReadOnly, ModelAdmin[UnlistedEventCode]):
    """Codes that carriers report and our tables lack, read-only: they change no status until they are added."""

    list_display = ("code", "carrier_code", "text", "count", "first_seen_at", "last_seen_at")
    list_filter = (CarrierFilter,)
    ordering = ("-count",)
    fields = list_display
    personal = COLUMNS[UnlistedEventCode]
    are_views_recorded = True

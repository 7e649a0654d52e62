"""Filters of the staff's list of labels."""

from typing import Any, Final

from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext_lazy, pgettext_lazy

from carriers import CARRIERS
from carriers.products import PRODUCTS
from labels.ids import id_prefix
from labels.models import LabelState, ShippingLabel
from labels.templatetags.label_page import error_name
from parcels.models import NumberState, Parcel, TrackingNumber
from shops.api.errors.coded import CODES
from shops.staff import filters
from shops.staff.days import start_of
from shops.staff.filters import of
from shops.staff.unfold_classes import AutocompleteSelectFilter


def reasons(*_: Any) -> list[tuple[str, str]]:
    """Offer the carriers' error codes."""
    carriers = {carrier.upper(): carrier for carrier in CARRIERS}
    found = ((code, carriers.get(code.partition("_")[0])) for code in CODES)
    return [(code, f"{carrier}: {error_name(code)}") for code, carrier in found if carrier]


def of_product(choice: Any, _: HttpRequest, labels: QuerySet[ShippingLabel]) -> QuerySet[ShippingLabel]:
    """Find the labels of one product of its carrier, along their index."""
    if not choice.value():
        return labels
    product = PRODUCTS.get(choice.value())
    return labels.filter(carrier_code=product.carrier, product_code=product.code) if product else labels.none()


def not_handed_in() -> QuerySet[Any, Any]:
    """Find the ids of labels with a number on a parcel that is not handed in, along the index of such parcels."""
    waiting = Parcel.objects.filter(handed_in_at=None, is_withdrawn=False).order_by().values("pk")
    bought = TrackingNumber.objects.filter(state=NumberState.BOUGHT, parcel__in=waiting)
    return bought.order_by().values("label")


# The time of an order by the label's id, which begins with it: no other index is needed.
ORDERED: Final[dict[str, Any]] = {"column": "id", "midnight": staticmethod(lambda day: id_prefix(start_of(day)))}
OFFERED: Final = {code: f"{product.carrier}: {code}" for code, product in PRODUCTS.items()}
NOT_YET = (gettext_lazy("Not yet"), lambda labels: labels.generated().filter(pk__in=not_handed_in()))
FILTERS: Final = (
    *(("shop", AutocompleteSelectFilter), filters.ModeFilter),
    of(filters.ColumnFilter, gettext_lazy("reason"), "reason", column="error_code", lookups=reasons),
    filters.CarrierFilter,
    of(filters.ColumnFilter, gettext_lazy("product"), "product", offered=OFFERED, queryset=of_product),
    of(filters.MultiChoiceFilter, gettext_lazy("state"), "state", values=LabelState),
    of(filters.OptionFilter, pgettext_lazy("filter", "handed in"), "handed", options={"no": NOT_YET}),
    of(filters.OptionFilter, pgettext_lazy("filter", "ordered"), "when", options=filters.recent(**ORDERED)),
    of(filters.PeriodFilter, gettext_lazy("day of the order"), "created", **ORDERED),
)

"""Filters of the staff's list of labels."""

from typing import Any

from django.db.models import QuerySet
from django.http import HttpRequest

from carriers import CARRIERS
from carriers.products import PRODUCTS
from labels.models import LabelState, ShippingLabel
from shops.admin.filters import DropdownFilter, MultiChoiceFilter
from shops.errors.coded import CODES

NEEDED, MADE, NOTICE = "needed", "made", "notice"


class DecisionFilter(DropdownFilter):
    """Labels that wait for a person, those that a person decided, and those with a notice for staff."""

    title = "decision"
    parameter_name = "decision"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [(NEEDED, "Needs a decision"), (MADE, "Decided by staff"), (NOTICE, "Needs attention")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[ShippingLabel]) -> QuerySet[ShippingLabel]:
        if self.value() == NEEDED:
            return queryset.needing_decision()  # type: ignore[attr-defined, no-any-return]  # it is the model's own
        if self.value() == NOTICE:
            return queryset.with_notice()  # type: ignore[attr-defined, no-any-return]  # as above
        return queryset.filter(decided_at__isnull=False) if self.value() == MADE else queryset


class StateFilter(MultiChoiceFilter):
    """Labels in any of the states ticked."""

    title = parameter_name = column = "state"
    values = LabelState


class ReasonFilter(DropdownFilter):
    """Labels with one error."""

    title = parameter_name = "reason"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [(code, code) for code in CODES if code.partition("_")[0].lower() in CARRIERS]

    def queryset(self, request: HttpRequest, queryset: QuerySet[ShippingLabel]) -> QuerySet[ShippingLabel]:
        return queryset.filter(error_code=self.value()) if self.value() else queryset


class ProductFilter(DropdownFilter):
    """Labels of one product."""

    title = parameter_name = "product"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [(code, f"{product.carrier}: {code}") for code, product in PRODUCTS.items()]

    def queryset(self, request: HttpRequest, queryset: QuerySet[ShippingLabel]) -> QuerySet[ShippingLabel]:
        return queryset.filter(product_code=self.value()) if self.value() else queryset

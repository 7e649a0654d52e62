"""The form field of a contract's products: one row each, with the carrier's own codes where they differ."""

from collections.abc import Mapping
from typing import Any

from django import forms
from django.utils.translation import gettext

from carriers import CARRIERS
from carriers.products import PRODUCTS

PARTS = {"code": "carrier_code", "service": "service", "as": "as_code"}  # of the form, and of what is stored


class ProductsWidget(forms.Widget):
    """A table of products to tick; `carriers` are those whose products it shows."""

    template_name = "shops/contract_products.html"
    carriers: tuple[str, ...] = tuple(CARRIERS)

    def get_context(self, name: str, value: Any, attrs: Any) -> dict[str, Any]:
        chosen = entered(value)
        groups = [(carrier, CARRIERS[carrier].has_services, rows(carrier, chosen)) for carrier in self.carriers]
        return super().get_context(name, value, attrs) | {"groups": groups, "is_one": len(groups) == 1}

    def value_from_datadict(self, data: Any, files: Any, name: str) -> dict[str, tuple[str, ...]]:
        """Return code, service and `as` by ticked product, as typed."""
        return {
            product: tuple(data.get(f"{name}-{product}-{part}", "").strip() for part in PARTS)
            for product in data.getlist(name)
        }

    def value_omitted_from_data(self, data: Any, files: Any, name: str) -> bool:
        return False  # none ticked sends nothing

    def use_required_attribute(self, initial: Any) -> bool:
        return False


class ProductsField(forms.Field):
    """A contract's products, as typed; the form checks them with its carrier."""

    widget = ProductsWidget

    def has_changed(self, initial: Any, data: Any) -> bool:
        return entered(initial) != entered(data)


def entered(value: Any) -> dict[str, tuple[str, ...]]:
    """Return code, service and `as` by product, of what is stored or typed."""
    return {product: texts(own) for product, own in (value or {}).items()}


def texts(own: Any) -> tuple[str, ...]:
    """Return the codes that a contract has for a product, empty for the catalogue's."""
    if isinstance(own, Mapping):
        return tuple(own.get(name, "") for name in PARTS.values())
    return own or ("",) * len(PARTS)


def rows(carrier: str, chosen: Mapping[str, tuple[str, ...]]) -> list[dict[str, Any]]:
    return [
        {
            "code": product.code,
            "meaning": gettext(product.meaning),
            "usual": ", ".join(dict.fromkeys(route.carrier_code for route in product.routes)),
            "is_chosen": product.code in chosen,
            "own": dict(zip(PARTS, chosen.get(product.code) or texts(None), strict=True)),
        }
        for product in PRODUCTS.values()
        if product.carrier == carrier
    ]

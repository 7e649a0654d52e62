"""The admin's pages of carrier contracts."""

from typing import TYPE_CHECKING

from django import forms
from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils import formats, timezone
from django.utils.html import format_html, format_html_join

from carriers.products import PRODUCTS
from shops.admin.base import ModelAdmin, ReadOnly
from shops.admin.exports import Column, joined
from shops.admin.filters import AutocompleteSelectFilter, CarrierFilter
from shops.admin.wording import NOTHING
from shops.contracts.models import CarrierContract

if TYPE_CHECKING:
    ContractModelForm = forms.ModelForm[CarrierContract]
else:
    ContractModelForm = forms.ModelForm


class ContractForm(ContractModelForm):
    """Labels for fields whose names do not read well."""

    class Meta:
        labels = {
            "customs_value_eur": "Customs value (EUR)",
            "customs_hs_code": "Customs HS code",
            "customs_shipping_cost_eur": "Customs postage (EUR)",
        }


@admin.register(CarrierContract)
class CarrierContractAdmin(ReadOnly, ModelAdmin[CarrierContract]):
    """Contracts, read-only. `configure_carrier` sets them, so that credentials never pass through a browser."""

    form = ContractForm
    list_display = ("shop", "carrier_code", "account_number", "product_count", "updated_at")
    list_display_links = ("shop", "carrier_code", "account_number")
    list_filter = (("shop", AutocompleteSelectFilter), CarrierFilter)
    list_filter_submit = True
    list_select_related = ("shop",)
    search_fields = ("account_number", "shop__name", "id")
    search_help_text = "Account number, shop or id"
    show_facets = admin.ShowFacets.NEVER
    actions = None
    export_columns = (
        Column("Contract", "id"),
        Column("Shop id", "shop_id"),
        Column("Shop", "shop__name"),
        Column("Carrier", "carrier_code"),
        Column("Account number", "account_number"),
        Column("Products", "products", joined),
        Column("Commercial name", "commercial_name"),
        Column("Updated (UTC)", "updated_at"),
    )
    fields = readonly_fields = (
        "id",
        "shop",
        "carrier_code",
        "account_number",
        "secret",
        "activated",
        "commercial_name",
        "customs_description",
        "customs_value_eur",
        "customs_hs_code",
        "customs_shipping_cost_eur",
        "updated_at",
        "tracking",
    )

    def get_queryset(self, request: HttpRequest) -> QuerySet[CarrierContract]:
        return super().get_queryset(request).defer("encrypted_credentials")

    @admin.display(description="activated products")
    def product_count(self, contract: CarrierContract) -> int:
        return len(contract.products)

    @admin.display(description="activated products")
    def activated(self, contract: CarrierContract) -> str:
        """List the products that the shop may order, each with the carrier's code where the contract overrides it."""
        return format_html_join("", "{}", ((product_line(contract, code),) for code in contract.products)) or NOTHING

    @admin.display(description="password or API key")
    def secret(self, contract: CarrierContract) -> str:
        command = f"manage.py configure_carrier {contract.shop_id} {contract.carrier_code} …"
        return format_html("Kept encrypted and never shown. To replace it: <code>{}</code>", command)

    @admin.display(description="tracking")
    def tracking(self, contract: CarrierContract) -> str:
        """Tell if the carrier's tracking service refuses the credentials."""
        if not contract.is_tracking_refused:
            return NOTHING
        at = formats.date_format(timezone.localtime(contract.tracking_refused_at), "DATETIME_FORMAT")
        return f"Stopped: the carrier has refused the credentials ({at}). It goes on when they are replaced."

    class Media:
        css = {"all": ["shops/admin.css"]}


def product_line(contract: CarrierContract, code: str) -> str:
    product, own = PRODUCTS.get(code), contract.override(code)
    meaning = product.meaning if product else ""
    replaced = f"{own.carrier_code} {own.service}".strip() if own else ""
    text = f" (carrier's code {replaced})" if replaced else ""
    return format_html('<span class="contract-product"><code>{}</code> {}{}</span>', code, meaning, text)

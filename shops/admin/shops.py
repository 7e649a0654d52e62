"""The admin's pages of shops, and the form of a shop with its sender address."""

# ruff: noqa: N815 - the public names are camelCase

from dataclasses import dataclass
from typing import Any

from django import forms
from django.contrib import admin, messages
from django.db.models import Count, Q, QuerySet
from django.http import HttpRequest
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.text import capfirst
from django.utils.translation import gettext, gettext_lazy

from shops.admin.kept import KeptAdmin
from shops.admin.shop_overview import PANELS
from shops.admin.tokens import TokenInline
from shops.contracts.addresses import AddressSerializer, SenderError, checked_sender
from shops.models import Shop
from shops.staff.display_texts import NOTHING, column
from shops.staff.pages import link_to
from shops.staff.panels import may_view
from shops.staff.unfold_classes import TextInput
from shops.staff.worded import fault
from shops.templatetags.staff import mode_of

PREFIX = "sender_"
LABELS = {
    "firstName": gettext_lazy("First name"),
    "lastName": gettext_lazy("Last name"),
    "company": gettext_lazy("Company"),
    "address1": gettext_lazy("Street and number"),
    "address2": gettext_lazy("Building, floor, entrance"),
    "zip": gettext_lazy("Postal code"),
    "city": gettext_lazy("Town"),
    "countryCode": gettext_lazy("Country (two letters)"),
    "phone": gettext_lazy("Phone"),
}
FIELDS = tuple(PREFIX + name for name in LABELS)


def address_field(name: str) -> forms.CharField:
    widget = TextInput(attrs={"autocomplete": "off"})
    return forms.CharField(label=LABELS[name], required=False, max_length=1000, strip=False, widget=widget)


class ShopForm(forms.ModelForm[Shop]):
    """A shop; an address with nothing in it is none."""

    refusals: dict[str, str]  # by carrier, why labels can't be sent from the address

    sender_firstName, sender_lastName, sender_company = map(address_field, ("firstName", "lastName", "company"))
    sender_address1, sender_address2, sender_zip = map(address_field, ("address1", "address2", "zip"))
    sender_city, sender_countryCode, sender_phone = map(address_field, ("city", "countryCode", "phone"))

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.refusals = {}
        for name, value in (self.instance.sender_address or {}).items():
            self.initial[PREFIX + name] = value

    def clean(self) -> dict[str, Any]:
        super().clean()
        typed = {name: self.cleaned_data.get(PREFIX + name, "") for name in LABELS}
        typed = {name: text for name, text in typed.items() if text or name not in {"company", "address2"}}
        if not any(name in self.data for name in FIELDS):  # the page has none for those who only look
            return self.cleaned_data
        if not any(text.strip() for text in typed.values()):
            self.instance.sender_address = None
            return self.cleaned_data
        try:
            self.instance.sender_address, self.refusals = checked_sender(typed)
        except SenderError as error:
            known = {name: faults for name, faults in error.faults.items() if name in AddressSerializer().fields}
            for name, faults in known.items():
                self.add_error(PREFIX + name, [capfirst(fault(str(each))) for each in faults])
            if not known:
                self.add_error(None, gettext("The sender address: {error}.").format(error=fault(str(error))))
        return self.cleaned_data


@dataclass(frozen=True)
class Links:
    """A column with links to a shop's records that the user may see, uncounted: a shop may have millions of parcels."""

    user: Any
    __name__ = "links"
    short_description = gettext_lazy("go to")
    lists = (
        (gettext_lazy("parcels"), "parcels", "parcel"),
        (gettext_lazy("labels"), "labels", "shippinglabel"),
        (gettext_lazy("contracts"), "shops", "carriercontract"),
        (gettext_lazy("tokens"), "shops", "accesstoken"),
        (gettext_lazy("webhooks"), "shops", "webhookendpoint"),
    )

    def __call__(self, shop: Shop) -> str:
        links = [
            (link_to(reverse(f"admin:{app}_{model}_changelist", query={"shop__id__exact": shop.id}), text),)
            for text, app, model in self.lists
            if self.user.has_perm(f"{app}.view_{model}")
        ]
        if self.user.has_perm("shops.add_accesstoken"):
            page = reverse("admin:shops_accesstoken_add", query={"shop": shop.id})
            links.append((link_to(page, gettext("new token")),))
        return format_html("<span>{}</span>", format_html_join(" ", "{}", links) or NOTHING)


@admin.register(Shop)
class ShopAdmin(KeptAdmin[Shop]):
    """Shops. A shop that leaves is made inactive, never deleted: its parcels stay."""

    form = ShopForm
    change_form_outer_after_template = "shops/desk.html"
    list_display = ("name", "mode", "is_active", "tokens_in_use", "created_at")
    ordering = ("name", "id")  # the model's own is lost by annotating a count
    list_filter = ("is_test", "is_active")
    search_fields = ("name", "id")
    search_help_text = gettext_lazy("Name or id")

    def get_list_display(self, request: HttpRequest) -> tuple[Any, ...]:
        *columns, key = super().get_list_display(request)
        return (*columns, Links(request.user), key)

    def get_readonly_fields(self, request: HttpRequest, obj: Shop | None = None) -> tuple[Any, ...]:
        return ("id", "mode", "created_at", "sends_from", Links(request.user)) if obj else ()

    def get_fieldsets(self, request: HttpRequest, obj: Shop | None = None) -> Any:
        known = self.get_readonly_fields(request, obj)
        if obj and not self.has_change_permission(request, obj):
            return [(None, {"fields": ("name", "is_active", *known)})]
        own = tuple(name for name in known if name != "sends_from")
        text = gettext(
            "Labels are sent from here if their order names no other place. Empty: each order must bring its own."
        )
        return [
            (None, {"fields": ("name", "is_active", *own)}),
            (gettext("Sender address"), {"fields": FIELDS, "description": text}),
        ]

    def save_model(self, request: HttpRequest, obj: Shop, form: Any, change: bool) -> None:  # noqa: FBT001 - Django's signature
        super().save_model(request, obj, form, change)
        for carrier, refusal in form.refusals.items():
            text = gettext("Labels of {carrier} can't be sent from this address: {refusal}.")
            messages.warning(request, text.format(carrier=carrier, refusal=fault(refusal)))

    def get_inlines(self, request: HttpRequest, obj: Shop | None) -> tuple[type[TokenInline], ...]:
        return (TokenInline,) if obj else ()

    def facts(self, request: HttpRequest, shop: Shop) -> dict[str, Any]:
        """Show what support needs when the shop calls."""
        return {"panels": [panel(request, shop) for app, model, panel in PANELS if may_view(request, app, model)]}

    def get_queryset(self, request: HttpRequest) -> QuerySet[Shop]:
        in_use = Count("tokens", filter=Q(tokens__revoked_at=None))
        return super().get_queryset(request).annotate(tokens_in_use=in_use)

    tokens_in_use = column(gettext_lazy("tokens not revoked"), lambda shop: shop.tokens_in_use, "tokens_in_use")
    mode = column(gettext_lazy("mode"), lambda shop: mode_of(shop) or gettext("live"), "is_test")

    @admin.display(description=gettext_lazy("sender address"))
    def sends_from(self, shop: Shop) -> str:
        if shop.sender_address:
            return render_to_string("shops/address.html", {"address": shop.sender_address})
        return gettext("None: each label order must bring its own.")

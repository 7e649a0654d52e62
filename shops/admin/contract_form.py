"""The form of a carrier contract: the command's checks, its products, and a secret that is written and never shown."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from django import forms
from django.utils.text import capfirst
from django.utils.translation import gettext, gettext_lazy
from django_stubs_ext import StrOrPromise

from carriers import CARRIERS
from carriers.products import PRODUCTS
from shops.contracts import terms
from shops.contracts.models import CarrierContract
from shops.staff.unfold_classes import PasswordInput
from shops.staff.worded import fault

KEEP = gettext_lazy("Kept encrypted and never shown. Empty: the one that is stored stays.")
PARTS = {"code": "carrier_code", "service": "service", "as": "as_code"}  # of the form, and of what is stored
Typed = dict[str, dict[str, str]]  # the codes of each product as they are stored, empty for the catalogue's


class ProductsWidget(forms.Widget):
    """A table of products to tick; `carriers` are those whose products it shows."""

    template_name = "shops/contract_products.html"
    carriers: tuple[str, ...] = tuple(CARRIERS)

    def get_context(self, name: str, value: Any, attrs: Any) -> dict[str, Any]:
        chosen = entered(value)
        groups = [(carrier, CARRIERS[carrier].has_services, rows(carrier, chosen)) for carrier in self.carriers]
        return super().get_context(name, value, attrs) | {"groups": groups, "is_one": len(groups) == 1}

    def value_from_datadict(self, data: Any, files: Any, name: str) -> Typed:
        return {
            product: {stored: data.get(f"{name}-{product}-{part}", "").strip() for part, stored in PARTS.items()}
            for product in data.getlist(name)
        }


class ProductsField(forms.Field):
    """A contract's products, as typed; the form checks them with its carrier."""

    widget = ProductsWidget

    def has_changed(self, initial: Any, data: Any) -> bool:
        return entered(initial) != entered(data)


def entered(value: Mapping[str, Any] | None) -> Typed:
    """Return what is stored or typed in full: none of its codes, and none of `as`, is stored as nothing."""
    products = (value or {}).items()
    return {product: {name: (own or {}).get(name, "") for name in PARTS.values()} for product, own in products}


def rows(carrier: str, chosen: Typed) -> list[dict[str, Any]]:
    return [
        {
            "code": product.code,
            "meaning": gettext(product.meaning),
            "usual": ", ".join(dict.fromkeys(route.carrier_code for route in product.routes)),
            "is_chosen": product.code in chosen,
            "own": {part: chosen.get(product.code, {}).get(stored, "") for part, stored in PARTS.items()},
        }
        for product in PRODUCTS.values()
        if product.carrier == carrier
    ]


def secret_field(label: StrOrPromise, help_text: StrOrPromise) -> forms.CharField:
    widget = PasswordInput(render_value=False, attrs={"autocomplete": "new-password", "spellcheck": "false"})
    return forms.CharField(label=label, help_text=help_text, required=False, strip=False, widget=widget)


class ContractForm(forms.ModelForm[CarrierContract]):
    takes_secrets = True  # false over plain http
    is_check = False  # the carrier is asked, and nothing is saved
    password = secret_field(gettext_lazy("Password"), KEEP)
    api_key = secret_field(
        gettext_lazy("API key"),
        gettext_lazy("Of beta, in place of the password. Kept encrypted and never shown. Empty: the stored one stays."),
    )
    pickup_secret = secret_field(
        gettext_lazy("Pickup account's secret"),
        gettext_lazy("Its password or API key, if it is not the same. Kept and shown as the others."),
    )
    products = ProductsField(required=False, label=gettext_lazy("Products"))

    class Meta:
        labels = {
            "pickup_account_number": gettext_lazy("Pickup products' account number"),
            "customs_value_eur": gettext_lazy("Customs value (EUR)"),
            "customs_hs_code": gettext_lazy("Customs HS code"),
            "customs_shipping_cost_eur": gettext_lazy("Customs postage (EUR)"),
        }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if "account_number" in self.fields:
            self.fields["account_number"].required = False  # by a test shop
        carrier = self.instance.carrier_code
        if carrier and "products" in self.fields:
            self.fields["products"].widget.carriers = (carrier,)

    def is_valid(self) -> bool:
        return super().is_valid() and not self.is_check

    @property
    def new_secret(self) -> dict[str, str]:
        names = ("password", "api_key")
        typed = {name: self.cleaned_data.get(name, "") for name in names}
        if self.is_of_test_shop and self.instance._state.adding and not any(typed.values()):
            return terms.SANDBOX_SECRET
        return typed if any(typed.values()) else {}

    @property
    def is_of_test_shop(self) -> bool:
        shop = self.cleaned_data.get("shop") or (self.instance.shop if self.instance.shop_id else None)
        return shop is not None and shop.is_test

    @property
    def new_pickup_secret(self) -> dict[str, str]:
        """The pickup account's secret that was typed, of the same kind as the contract's."""
        typed = self.cleaned_data.get("pickup_secret", "")
        secret = self.new_secret
        has_api_key = bool(secret["api_key"]) if secret else bool(self.instance.has_api_key)
        name, other = ("api_key", "password") if has_api_key else ("password", "api_key")
        return {name: typed, other: ""} if typed else {}

    def clean(self) -> dict[str, Any]:
        super().clean()
        data, carrier = self.cleaned_data, self.instance.carrier_code or self.cleaned_data.get("carrier_code")
        if not carrier:
            return data
        if self.is_of_test_shop:
            data["account_number"] = data.get("account_number") or terms.SANDBOX_ACCOUNT
        with self.errors_at_fields():
            terms.check_accounts(carrier, {name: data.get(name, "") for name in terms.ACCOUNTS})
        with self.errors_at_fields():
            self.check_secret(carrier)
        with self.errors_at_fields():
            data["products"] = checked_products(carrier, data.get("products") or {})
        with self.errors_at_fields():
            data["commercial_name"] = terms.checked_name(carrier, data.get("commercial_name", ""))
        if not any(name in self.errors for name in terms.NO_CUSTOMS):
            with self.errors_at_fields():
                typed = {name: "" if data.get(name) is None else data[name] for name in terms.NO_CUSTOMS}
                data |= terms.checked_customs(carrier, typed)
        return data

    def check_secret(self, carrier: str) -> None:
        """Raise TermsError for a secret that is missing, one too many, or malformed."""
        secret, pickup_secret, is_new = self.new_secret, self.new_pickup_secret, self.instance._state.adding
        if (secret or pickup_secret) and not self.takes_secrets:
            raise terms.TermsError("", gettext("Open the admin over https to send credentials."))
        if not secret and is_new:
            raise terms.TermsError("password", gettext("a new contract needs its password or API key"))
        if all(secret.values()) and secret:
            raise terms.TermsError("api_key", gettext("give the password or the API key, not both"))
        if pickup_secret and not self.cleaned_data.get("pickup_account_number"):
            raise terms.TermsError("pickup_secret", gettext("needs the account's number"))
        for each in filter(None, (secret, pickup_secret)):
            terms.check_secret(carrier, each["password"], each["api_key"])

    @contextmanager
    def errors_at_fields(self) -> Iterator[None]:
        """Show a wrong value's error at its field."""
        try:
            yield
        except terms.TermsError as error:
            is_of_customs = error.field == "customs"
            text = gettext("Description, value and HS code need each other.") if is_of_customs else fault(f"{error}")
            name = error.field if error.field in self.fields else None
            self.add_error(name, capfirst(text))


def checked_products(carrier: str, typed: Typed) -> dict[str, terms.Override | None]:
    """Return the products as a contract stores them; raise TermsError."""
    if not typed:
        raise terms.TermsError("products", gettext("choose at least one product"))
    products = {}
    for code, own in typed.items():
        try:
            products[code] = terms.checked_product(carrier, code, *own.values())
        except terms.TermsError as error:
            raise terms.TermsError("products", f"{code}: {error}") from None
    return products

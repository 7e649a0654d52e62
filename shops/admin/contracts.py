"""The admin's pages of carrier contracts: added, changed, and tried against the carrier."""

from dataclasses import replace
from operator import methodcaller
from typing import Any

from django.conf import settings
from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.template.response import TemplateResponse
from django.utils import formats, timezone
from django.utils.decorators import method_decorator
from django.utils.html import format_html, format_html_join
from django.utils.translation import gettext, gettext_lazy
from django.views.decorators.debug import sensitive_post_parameters

from carriers.products import PRODUCTS
from carriers.shipment import Credentials
from shops.admin.contract_form import ContractForm
from shops.admin.kept import OfShopAdmin
from shops.contracts import accounts, checking
from shops.contracts.encryption import UnreadableSecretError
from shops.contracts.models import CarrierContract
from shops.contracts.terms import ACCOUNTS, NO_CUSTOMS
from shops.staff.display_texts import NOTHING, column
from shops.staff.exports import read_columns
from shops.staff.filters import CarrierFilter, ModeFilter, OptionFilter, of
from shops.staff.unfold_classes import AutocompleteSelectFilter

LOOPBACK = {"127.0.0.1", "::1"}
CHECK = "_check"
TERMS = ("label_format", "commercial_name", *NO_CUSTOMS)
SECRETS = ("password", "api_key", "pickup_secret")

SECRET_KINDS = {
    "True": (gettext_lazy("API key"), methodcaller("filter", has_api_key=True)),
    "False": (gettext_lazy("password"), methodcaller("filter", has_api_key=False)),
    "None": (gettext_lazy("unknown"), methodcaller("filter", has_api_key=None)),
}
TO_CHANGE = {
    "refused": (gettext_lazy("Refused by the carrier"), methodcaller("refused")),
    "password": (gettext_lazy("A password in place of an API key"), methodcaller("with_password")),
}


@admin.register(CarrierContract)
class CarrierContractAdmin(OfShopAdmin[CarrierContract]):
    """Contracts. Their secrets are written and never shown; a contract is replaced, never deleted."""

    form = ContractForm
    list_display = ("shop", "carrier_code", "account_number", "signs_in_with", "product_count", "updated_at")
    list_display_links = ("shop", "carrier_code", "account_number")
    list_filter = (
        *(("shop", AutocompleteSelectFilter), ModeFilter, CarrierFilter),
        of(OptionFilter, gettext_lazy("secret"), "secret", options=SECRET_KINDS),
        of(OptionFilter, gettext_lazy("credentials"), "credentials", options=TO_CHANGE),
    )
    search_fields = ("account_number", "shop__name", "id")
    search_help_text = gettext_lazy("Account number, shop or id")
    actions = None
    change_form_after_template = "shops/contract_check.html"
    export_columns = read_columns(__file__, "carriercontract")

    def get_queryset(self, request: HttpRequest) -> QuerySet[CarrierContract]:
        return super().get_queryset(request).defer("encrypted_credentials")

    def get_fields(self, request: HttpRequest, obj: CarrierContract | None = None) -> tuple[Any, ...]:
        secrets = SECRETS if may_send_secrets(request) else ("secret",)
        if obj is None:
            return ("shop", "carrier_code", *ACCOUNTS, *secrets, "products", *TERMS)
        known = ("id", "shop", "carrier_code", *ACCOUNTS)
        if not self.has_change_permission(request, obj):
            return (*known, "activated", *TERMS, "updated_at", "tracking")
        return (*known, *secrets, "products", *TERMS, "updated_at", "tracking")

    def get_readonly_fields(self, request: HttpRequest, obj: CarrierContract | None = None) -> tuple[Any, ...]:
        """Keep shop and carrier: a contract never moves to others."""
        own = () if may_send_secrets(request) else ("secret",)
        return (*own, "id", "shop", "carrier_code", "activated", "updated_at", "tracking") if obj else own

    def get_form(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        form: Any = super().get_form(request, *args, **kwargs)  # a class made for this request
        form.takes_secrets, form.is_check = may_send_secrets(request), CHECK in request.POST
        return form

    @method_decorator(sensitive_post_parameters(*SECRETS))
    def changeform_view(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        """Show, check or save a contract; the carrier is asked when the page's transaction has ended."""
        answer = super().changeform_view(request, *args, **kwargs)
        if CHECK in request.POST and isinstance(answer, TemplateResponse) and answer.context_data:
            form = answer.context_data["adminform"].form
            if not form.errors:
                answer.context_data["check"] = check(form)
        return answer

    def save_model(self, request: HttpRequest, obj: CarrierContract, form: Any, change: bool) -> None:  # noqa: FBT001 - Django's signature
        if form.changed_data:
            accounts.save(obj, secret=form.new_secret or None, pickup_secret=form.new_pickup_secret or None)

    # The kind of secret: beta gives up passwords.
    signs_in_with = column(
        gettext_lazy("signs in with"), lambda contract: SECRET_KINDS[str(contract.has_api_key)][0], "has_api_key"
    )
    product_count = column(gettext_lazy("activated products"), lambda contract: len(contract.products))
    secret = column(
        gettext_lazy("password or API key"),
        lambda _: gettext(
            "Kept encrypted and never shown. To replace it, open the admin over https, or use configure_carrier."
        ),
    )

    @admin.display(description=gettext_lazy("activated products"))
    def activated(self, contract: CarrierContract) -> str:
        """List the products that the shop may order, each with the carrier's code where the contract overrides it."""
        return format_html_join("", "{}", ((product_line(contract, code),) for code in contract.products)) or NOTHING

    @admin.display(description=gettext_lazy("tracking"))
    def tracking(self, contract: CarrierContract) -> str:
        if not contract.is_tracking_refused:
            return NOTHING
        text = gettext("Stopped: the carrier has refused the credentials ({at}). It goes on when they are replaced.")
        return text.format(at=formats.date_format(timezone.localtime(contract.tracking_refused_at), "DATETIME_FORMAT"))

    class Media:
        js = ["shops/contract_check.js"]


def may_send_secrets(request: HttpRequest) -> bool:
    """Return whether a secret can be typed here: over https, in development, or on this machine itself."""
    is_local = request.META.get("REMOTE_ADDR") in LOOPBACK and not request.META.get("HTTP_X_FORWARDED_FOR")
    return request.is_secure() or settings.DEBUG or is_local


def check(form: ContractForm) -> checking.Report:
    """Ask the carrier about a contract as it was typed, with the stored secret where none was."""
    contract, data = form.instance, form.cleaned_data
    numbers = {name: data[name] for name in ("account_number", "parent_account_number")}
    secret, number = form.new_secret, data["pickup_account_number"]
    try:
        own = replace(Credentials(**secret) if secret else contract.credentials, **numbers, shop_id=contract.shop_id)
        is_stored = "pickup_account_number" not in form.changed_data  # a new one's is the contract's, if none is typed
        pickup = form.new_pickup_secret or (accounts.kept_secret(contract, number) if is_stored else {})
    except UnreadableSecretError:
        return checking.Report(is_good=False, summary=gettext("The stored credentials can't be read: type them again."))
    credentials = own, replace(own, account_number=number, **pickup) if number else own
    terms = {"products": data["products"], "commercial_name": data["commercial_name"]}
    return checking.check(contract=contract, credentials=credentials, **terms)


def product_line(contract: CarrierContract, code: str) -> str:
    product, own = PRODUCTS.get(code), contract.override(code)
    meaning = gettext(product.meaning) if product else ""
    replaced = " ".join(filter(None, (own.carrier_code, own.service, own.as_code))) if own else ""
    text = gettext(" (carrier's code {replaced})").format(replaced=replaced) if replaced else ""
    return format_html('<span class="contract-product"><code>{}</code> {}{}</span>', code, meaning, text)

"""The staff's pages for shops and their access tokens."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django import forms
from django.contrib import admin, messages
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.core.exceptions import ValidationError
from django.db.models import Count, Q, QuerySet
from django.db.models.functions import Now
from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html, format_html_join

from shops.authentication import REMEMBERED_S
from shops.listing import AutocompleteSelectFilter, DropdownFilter, ModelAdmin
from shops.models import AccessToken, Shop
from shops.wording import NOTHING

if TYPE_CHECKING:  # unfold ships no types; its classes are the admin's, with another look
    from django.contrib.auth.models import AnonymousUser, User

    TokenTabularInline = admin.TabularInline[AccessToken, Shop]
    TokenModelForm = forms.ModelForm[AccessToken]
else:
    from unfold.admin import TabularInline as TokenTabularInline

    TokenModelForm = forms.ModelForm

EXPIRED = Q(expires_at__lte=Now())
STATES = {
    "valid": ("success", Q(revoked_at=None, shop__is_active=True) & ~EXPIRED),
    "revoked": ("danger", Q(revoked_at__isnull=False)),
    "expired": ("warning", Q(revoked_at=None) & EXPIRED),
    "shop inactive": ("warning", Q(revoked_at=None, shop__is_active=False) & ~EXPIRED),
}


def state_label(token: AccessToken) -> str:
    """Tell in colour whether a token works, and if not, why."""
    name = "valid"
    if token.revoked_at:
        name = "revoked"
    elif token.is_expired:
        name = "expired"
    elif not token.shop.is_active:
        name = "shop inactive"
    return render_to_string("unfold/helpers/label.html", {"type": STATES[name][0], "text": name})


def admin_link(text: str, view: str, *args: str, **query: str) -> str:
    """Link to a page of the admin."""
    return format_html('<a class="shop-link" href="{}">{}</a>', reverse(f"admin:{view}", args=args, query=query), text)


class TokenInline(TokenTabularInline):
    """A shop's tokens, to look at; each links to its page."""

    model = AccessToken
    fields = readonly_fields = ("link", "name", "state", "expires_at", "last_used_at", "created_at")
    extra = 0
    can_delete = False
    hide_title = True

    def get_queryset(self, request: HttpRequest) -> QuerySet[AccessToken]:
        return super().get_queryset(request).select_related("shop")

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    @admin.display(description="id")
    def link(self, token: AccessToken) -> str:
        return admin_link(token.id, "shops_accesstoken_change", token.id)

    @admin.display(description="state")
    def state(self, token: AccessToken) -> str:
        return state_label(token)


@dataclass(frozen=True)
class Links:
    """The links to what a shop has, those that this member of staff may follow; a column of the list and of the page.

    Parcels are counted nowhere, a shop may have millions.
    """

    user: "User | AnonymousUser"
    __name__ = "links"
    short_description = "go to"
    pages = (
        ("parcels", "parcels_parcel_changelist", "parcels.view_parcel", "shop__id__exact"),
        ("labels", "labels_shippinglabel_changelist", "labels.view_shippinglabel", "shop__id__exact"),
        ("contracts", "labels_carriercontract_changelist", "labels.view_carriercontract", "shop__id__exact"),
        ("tokens", "shops_accesstoken_changelist", "shops.view_accesstoken", "shop__id__exact"),
        ("new token", "shops_accesstoken_add", "shops.add_accesstoken", "shop"),
    )

    def __call__(self, shop: Shop) -> str:
        allowed = [page for page in self.pages if self.user.has_perm(page[2])]
        links = (admin_link(text, view, **{parameter: shop.id}) for text, view, _, parameter in allowed)
        return format_html("<span>{}</span>", format_html_join(" ", "{}", ((link,) for link in links)) or NOTHING)


@admin.register(Shop)
class ShopAdmin(ModelAdmin[Shop]):
    """Shops. One that leaves is made inactive and never deleted: its parcels stay."""

    list_display = ("name", "id", "is_active", "tokens_in_use", "created_at")
    ordering = ("name", "id")  # the model's own is lost where rows are counted
    list_filter = ("is_active",)
    search_fields = ("name", "id")
    search_help_text = "Name or id"
    show_facets = admin.ShowFacets.NEVER

    def get_list_display(self, request: HttpRequest) -> tuple[Any, ...]:
        return (*self.list_display, Links(request.user))

    def get_readonly_fields(self, request: HttpRequest, obj: Shop | None = None) -> tuple[Any, ...]:
        return ("id", "created_at", "sends_from", Links(request.user)) if obj else ()

    def get_fields(self, request: HttpRequest, obj: Shop | None = None) -> tuple[Any, ...]:
        return ("name", "is_active", *self.get_readonly_fields(request, obj))

    def get_inlines(self, request: HttpRequest, obj: Shop | None) -> tuple[type[TokenInline], ...]:
        return (TokenInline,) if obj else ()

    def get_queryset(self, request: HttpRequest) -> QuerySet[Shop]:
        in_use = Count("tokens", filter=Q(tokens__revoked_at=None))
        return super().get_queryset(request).annotate(tokens_in_use=in_use)

    def has_delete_permission(self, request: HttpRequest, obj: Shop | None = None) -> bool:
        return False

    @admin.display(description="tokens not revoked", ordering="tokens_in_use")
    def tokens_in_use(self, shop: Shop) -> int:
        return shop.tokens_in_use  # type: ignore[attr-defined, no-any-return]  # annotated by get_queryset

    @admin.display(description="sender address")
    def sends_from(self, shop: Shop) -> str:
        if shop.sender_address:
            return render_to_string("shops/address.html", {"address": shop.sender_address})
        command = f"manage.py set_sender_address {shop.id} FILE"
        return format_html("None: each of its label orders brings its own. To set one: <code>{}</code>", command)

    class Media:
        css = {"all": ["shops/admin.css"]}


class StateFilter(DropdownFilter):
    """Tokens in one state."""

    title = "state"
    parameter_name = "state"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [(name, name.capitalize()) for name in STATES]

    def queryset(self, request: HttpRequest, queryset: QuerySet[AccessToken]) -> QuerySet[AccessToken]:
        _, condition = STATES.get(self.value() or "", ("", Q()))
        return queryset.filter(condition)


class TokenForm(TokenModelForm):
    """What staff decide about a token."""

    class Meta:
        help_texts = {"expires_at": "In UTC. Empty: it does not expire."}

    def clean_expires_at(self) -> Any:
        expires_at = self.cleaned_data["expires_at"]
        if "expires_at" in self.changed_data and expires_at and expires_at <= timezone.now():
            raise ValidationError("That is in the past. To end a token now, revoke it.")
        return expires_at


@admin.register(AccessToken)
class AccessTokenAdmin(ModelAdmin[AccessToken]):
    """Tokens. One is shown once, in the answer that makes it; it is ended by revoking it, and its row stays."""

    form = TokenForm
    list_display = ("id", "name", "shop", "state", "expires_at", "last_used_at", "created_at")
    list_filter = (("shop", AutocompleteSelectFilter), StateFilter)
    list_filter_submit = True
    list_select_related = ("shop",)
    search_fields = ("id", "name", "shop__name")
    search_help_text = "Id, name or shop"
    show_facets = admin.ShowFacets.NEVER
    actions = ("revoke",)
    autocomplete_fields = ("shop",)
    change_form_outer_after_template = "shops/revoke_button.html"

    def get_fields(self, request: HttpRequest, obj: AccessToken | None = None) -> tuple[Any, ...]:
        decided = ("shop", "name", "expires_at")
        return ("id", "state", *decided, "last_used_at", "created_at", "revoked_at") if obj else decided

    def get_readonly_fields(self, request: HttpRequest, obj: AccessToken | None = None) -> tuple[Any, ...]:
        """A token stays with the shop it was made for."""
        return ("id", "state", "shop", "last_used_at", "created_at", "revoked_at") if obj else ()

    def has_change_permission(self, request: HttpRequest, obj: AccessToken | None = None) -> bool:
        is_over = obj is not None and obj.revoked_at is not None
        return not is_over and super().has_change_permission(request, obj)

    def has_delete_permission(self, request: HttpRequest, obj: AccessToken | None = None) -> bool:
        return False

    def changeform_view(
        self,
        request: HttpRequest,
        object_id: str | None = None,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> Any:
        buttons = {"show_save_and_continue": False, "show_save_and_add_another": False}
        return super().changeform_view(request, object_id, form_url, (extra_context or {}) | buttons)

    def save_model(self, request: HttpRequest, obj: AccessToken, form: Any, change: bool) -> None:  # noqa: FBT001 - Django's signature
        if change:
            # Only what was edited: a revocation meanwhile must not be undone.
            obj.save(update_fields=form.changed_data)
            return
        issued, secret = AccessToken.issue(shop=obj.shop, name=obj.name, expires_at=obj.expires_at)
        obj.id, obj.secret = issued.id, secret  # type: ignore[attr-defined]  # for this answer alone

    def response_add(self, request: HttpRequest, obj: AccessToken, *args: Any) -> HttpResponse:
        """Show the token in this very answer, which nothing stores: a message would lie in a cookie or a session."""
        context = {"title": "New access token", "token": obj, "media": self.media}
        return self.page(request, "shops/token_issued.html", context)

    @admin.action(description="Revoke", permissions=["change"])
    def revoke(self, request: HttpRequest, queryset: QuerySet[AccessToken]) -> HttpResponse | None:
        """Ask first, listing the tokens; it cannot be taken back."""
        tokens = list(queryset.filter(revoked_at=None))
        if not tokens:
            self.message_user(request, "What you selected was revoked before.", messages.WARNING)
            return None
        if "is_confirmed" not in request.POST:
            context = {"title": "Revoke access tokens", "tokens": tokens, "checkbox_name": ACTION_CHECKBOX_NAME}
            return self.page(request, "shops/revoke_confirmation.html", context | {"delay_s": REMEMBERED_S})
        for token in tokens:
            self.log_change(request, token, "Revoked.")
        AccessToken.objects.filter(id__in=[token.id for token in tokens]).revoke()
        names = ", ".join(map(str, tokens))
        self.message_user(request, f"Revoked, effective within {REMEMBERED_S} seconds: {names}", messages.SUCCESS)
        return None

    @admin.display(description="state")
    def state(self, token: AccessToken) -> str:
        return state_label(token)

    def page(self, request: HttpRequest, template: str, context: dict[str, Any]) -> TemplateResponse:
        context = {**self.admin_site.each_context(request), "opts": self.opts, **context}
        return TemplateResponse(request, template, context)

    class Media:
        css = {"all": ["shops/admin.css"]}

"""The admin's pages of access tokens."""

from operator import methodcaller
from typing import TYPE_CHECKING, Any

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import Case, Q, QuerySet, Value, When
from django.db.models.functions import Now
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.utils import timezone
from django.utils.text import format_lazy
from django.utils.translation import gettext, gettext_lazy

from shops.admin.kept import IssuedAdmin, revoked_before
from shops.api.authentication import TOKEN_CACHE_TTL_S
from shops.models import AccessToken, Shop
from shops.staff.acts import Choice, Question, asked, may_still
from shops.staff.base import ReadOnly
from shops.staff.display_texts import badge, column
from shops.staff.exports import read_columns
from shops.staff.filters import OptionFilter, of
from shops.staff.masking import may_see
from shops.staff.pages import link_to, page_of
from shops.staff.unfold_classes import AutocompleteSelectFilter, TabularInline

COLOURS = {
    "valid": "success",
    "asked for": "info",
    "revoked": "danger",
    "expired": "warning",
    "shop inactive": "warning",
}
STATE = Case(
    When(revoked_at__isnull=False, then=Value("revoked")),
    When(expires_at__lte=Now(), then=Value("expired")),
    When(~Q(asked_by=""), last_four="", then=Value("asked for")),
    When(shop__is_active=False, then=Value("shop inactive")),
    default=Value("valid"),
)
MAX_TOKENS = 500  # Django reads at most 1,000 fields of a form
REVOKE = Question(
    title=gettext_lazy("Revoke access tokens"),
    explanation=format_lazy(
        gettext_lazy("Requests with what is revoked are refused within {delay_s} seconds. This cannot be undone."),
        delay_s=TOKEN_CACHE_TTL_S,
    ),
    none=gettext_lazy("The selected tokens were revoked before."),
    why_not=revoked_before,
    button=gettext_lazy("Revoke"),
    limit=MAX_TOKENS,
)
STATES = {name: (gettext_lazy(name.capitalize()), methodcaller("filter", state=name)) for name in COLOURS}


class WithState:
    """Finds tokens with their state, and shows it."""

    if not TYPE_CHECKING:  # typed as in the class it is mixed into

        def get_queryset(self, request: HttpRequest) -> QuerySet[AccessToken]:
            return super().get_queryset(request).annotate(state=STATE)

    state = column(gettext_lazy("state"), lambda token: badge(token.state, COLOURS[token.state]))


class TokenInline(ReadOnly, WithState, TabularInline[AccessToken, Shop]):
    """A shop's tokens; each links to its page."""

    model = AccessToken
    fields = readonly_fields = ("link", "last_four", "name", "state", "expires_at", "last_used_at", "created_at")
    extra = 0
    hide_title = True

    @admin.display(description=gettext_lazy("id"))
    def link(self, token: AccessToken) -> str:
        return link_to(page_of(token), token.id)


class TokenForm(forms.ModelForm[AccessToken]):
    def clean_expires_at(self) -> Any:
        expires_at = self.cleaned_data["expires_at"]
        if "expires_at" in self.changed_data and expires_at and expires_at <= timezone.now():
            raise ValidationError(gettext("That is in the past. To end a token now, revoke it."))
        return expires_at


@admin.register(AccessToken)
class AccessTokenAdmin(WithState, IssuedAdmin[AccessToken]):
    """Tokens; one of a user who may not see what it shows is asked for, and a colleague gives it."""

    form = TokenForm
    list_display = ("last_four", "name", "shop", "state", "expires_at", "last_used_at", "created_at")
    list_filter = (
        ("shop", AutocompleteSelectFilter),
        of(OptionFilter, gettext_lazy("state"), "state", options=STATES),
    )
    search_fields = ("id", "name", "shop__name")
    search_help_text = gettext_lazy("Id, name or shop, or a token itself")
    actions = ("give", "revoke")
    too_many = gettext_lazy("Choose at most {limit} tokens. Nothing was done.")
    export_columns = read_columns(__file__, "accesstoken")
    change_form_outer_after_template = "shops/revoke_button.html"

    def get_fields(self, request: HttpRequest, obj: AccessToken | None = None) -> tuple[Any, ...]:
        editable = ("shop", "name", "expires_at")
        if obj is None:
            return editable
        asked_by = ("asked_by",) if obj.asked_by else ()
        return ("id", "last_four", "state", *editable, *asked_by, "last_used_at", "created_at", "revoked_at")

    def get_readonly_fields(self, request: HttpRequest, obj: AccessToken | None = None) -> tuple[Any, ...]:
        """Make all but name and expiry read-only: a token never moves to another shop."""
        known = ("id", "last_four", "state", "shop", "asked_by", "last_used_at", "created_at", "revoked_at")
        return known if obj else ()

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[AccessToken], search_term: str
    ) -> tuple[QuerySet[AccessToken], bool]:
        """Find a token by its own text too, which is stored nowhere."""
        if token := AccessToken.objects.typed(search_term):
            return queryset.filter(pk=token.pk), False
        return super().get_search_results(request, queryset, search_term)

    def render_change_form(self, request: HttpRequest, context: Any, *args: Any, **kwargs: Any) -> HttpResponse:
        context |= {"show_save_and_continue": False, "show_save_and_add_another": False}
        return super().render_change_form(request, context, *args, **kwargs)

    def issue(self, request: HttpRequest, row: AccessToken) -> tuple[AccessToken, str | None]:
        facts: dict[str, Any] = {"shop": row.shop, "name": row.name, "expires_at": row.expires_at}
        if may_see(request):
            return AccessToken.issue(**facts)
        # Its text would show what this user may not see.
        return AccessToken.ask(**facts, asked_by=request.user.get_username()), None

    def show_secret(self, request: HttpRequest, row: Any) -> HttpResponse:
        if row.secret is None:
            text = gettext("Asked for: it has no text yet. A colleague opens it, and chooses “Give this token”.")
            messages.warning(request, text)
            return HttpResponseRedirect(page_of(row))
        own_id = gettext("%(id)s (not secret: it identifies the token, to revoke it for example)") % {"id": row.id}
        facts = {gettext("Id"): own_id} | ({gettext("Name"): row.name} if row.name else {})
        facts |= {gettext("Expires"): row.expires_at or gettext("never")}
        inactive = gettext("The shop is inactive: the token does not work until that changes.")
        context = {
            "title": gettext("New access token"),
            "heading": gettext("Copy the token of %(shop)s now") % {"shop": row.shop},
            "text": gettext("It is shown only now: the service stores a digest of it, and nobody can read it later."),
            "kind": gettext("Access token"),
            "issued": row.secret,
            "facts": facts | {gettext("Use"): "Authorization: Bearer <token>"},
            "warning": "" if row.shop.is_active else inactive,
        }
        return self.page(request, "shops/issued.html", context)

    @admin.action(description=gettext_lazy("Give a token that was asked for"), permissions=["change"])
    def give(self, request: HttpRequest, queryset: QuerySet[Any]) -> HttpResponse | None:
        """Show the text of a token that a colleague asked for: two make it, or one who sees customers anyway."""
        chosen = list(queryset.filter(state="asked for").select_related("shop")[:2])
        if len(chosen) != 1:
            messages.warning(request, gettext("Choose one token that is asked for."))
            return None
        (token,) = chosen
        if token.asked_by == request.user.get_username() and not may_see(request):
            messages.error(request, gettext("You asked for it: a colleague gives it."))
            return None
        if not may_still(token.asked_by, "shops.add_accesstoken"):
            text = gettext("{user} asked for it, and may no longer: revoke it.")
            messages.error(request, text.format(user=token.asked_by))
            return None
        with transaction.atomic():
            if (secret := token.give()) is None:
                messages.warning(request, gettext("A colleague was faster."))
                return None
            self.log_change(request, token, f"Given, as {token.asked_by} asked for it.")
        token.secret = secret  # for this answer alone
        return self.show_secret(request, token)

    @asked(REVOKE, REVOKE.button)
    def revoke(self, request: HttpRequest, choice: Choice) -> None:
        """Revoke the selected tokens after a confirmation page, because it cannot be undone."""
        chosen = AccessToken.objects.filter(id__in=[token.id for token in choice.concerned])
        with transaction.atomic():
            tokens = list(chosen.filter(revoked_at=None).select_for_update(no_key=True))  # not those of a colleague
            chosen.revoke()
            for token in tokens:
                self.log_change(request, token, "Revoked.")
        text = gettext("Revoked, effective within {token_cache_ttl_s} seconds: {names}")
        names = ", ".join(map(str, tokens)) or gettext("none, as they were revoked before")
        messages.success(request, text.format(token_cache_ttl_s=TOKEN_CACHE_TTL_S, names=names))

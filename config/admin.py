"""Staff accounts and groups, in the look of the other pages."""

from http import HTTPStatus
from typing import Any, ClassVar

from allauth.account.admin import EmailAddress
from allauth.account.decorators import secure_admin_login
from allauth.mfa.admin import Authenticator
from allauth.socialaccount.admin import SocialAccount, SocialApp, SocialToken
from django import forms
from django.conf import settings
from django.contrib import admin, messages
from django.contrib.auth import admin as auth_admin
from django.contrib.auth.forms import UsernameField
from django.contrib.auth.models import Group, User
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.utils.translation import gettext, gettext_lazy

from config import roles
from config.login import factors, passwords
from config.login.limits import count_user_name
from config.login.sessions import end_sessions
from shops.staff.audit.changes import CHANGED
from shops.staff.audit.models import Action
from shops.staff.audit.recording import record
from shops.staff.base import ModelAdmin
from shops.staff.display_texts import column
from shops.staff.unfold_classes import UserChangeForm

STYLES: dict[str, Any] = {"all": ["shops/admin.css", "staff/admin.css"]}

admin.site.unregister([User, Group, Authenticator, EmailAddress, SocialAccount, SocialApp, SocialToken])
own_password_change = admin.site.password_change
admin.site.login = secure_admin_login(admin.site.login)  # type: ignore[method-assign]  # as allauth documents it


def password_change(request: HttpRequest, extra_context: Any = None) -> HttpResponseBase:
    if request.method == "POST":
        count_user_name(request, request.user.get_username())
    answer = own_password_change(request, extra_context)
    if answer.status_code == HTTPStatus.FOUND:
        record(Action.CHANGED, request.user, changes={"password": [None, CHANGED]})  # type: ignore[arg-type]  # it is a user's page
    return answer


admin.site.password_change = password_change  # type: ignore[method-assign, assignment]  # as the log-in above


def offered(field: Any) -> Any:
    """Have a field name the permissions that it offers in the reader's language."""
    field.label_from_instance = roles.in_words
    return field


@admin.register(User)
class UserAdmin(auth_admin.UserAdmin[User], ModelAdmin[User]):
    form = UserChangeForm[User]
    # Without a password: its owner alone sets it.
    add_form = forms.modelform_factory(User, fields=("username",), field_classes={"username": UsernameField})
    add_fieldsets = ((None, {"fields": ("username",)}),)
    fieldsets: ClassVar[Any] = (*add_fieldsets, *(auth_admin.UserAdmin.fieldsets or ())[1:])
    list_display = ("username", "email", "first_name", "last_name", "is_staff", "second_factor")
    actions = ("give_password_link", "reset_second_factor")

    class Media:
        css = STYLES

    def get_queryset(self, request: HttpRequest) -> QuerySet[User]:
        """Hide superusers from all others, who could otherwise take over an account."""
        factors_of = Authenticator.objects.filter(user=OuterRef("pk"), type__in=factors.FACTORS)
        users = super().get_queryset(request).annotate(has_factor=Exists(factors_of))
        return users if is_superuser(request) else users.filter(is_superuser=False)

    def has_change_permission(self, request: HttpRequest, obj: User | None = None) -> bool:
        is_allowed = super().has_change_permission(request, obj)
        return is_allowed and (obj == request.user or may_keep(request, obj))

    def has_delete_permission(self, request: HttpRequest, obj: User | None = None) -> bool:
        return super().has_delete_permission(request, obj) and may_keep(request, obj)

    def get_readonly_fields(self, request: HttpRequest, obj: User | None = None) -> list[str] | tuple[str, ...]:
        """Let only superusers hand out permissions and new names; others give roles, and none to themselves."""
        fields = super().get_readonly_fields(request, obj)
        if is_superuser(request):
            return fields
        own = ("groups", "is_staff", "is_active") if obj == request.user else ()
        named = ("username",) if obj else ()  # two persons, and the audit log, are told apart by it
        # Whoever may have set the password gives the account nothing to see.
        roles_of = ("groups",) if obj and passwords.has_link_of(obj, request.user.get_username()) else ()
        return (*fields, "is_superuser", "user_permissions", *own, *named, *roles_of)

    def get_form(self, request: HttpRequest, obj: User | None = None, *args: Any, **kwargs: Any) -> Any:
        if obj and request.method == "POST":
            passwords.lock(obj)
        return super().get_form(request, obj, *args, **kwargs)

    def formfield_for_manytomany(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        if db_field.name == "user_permissions":
            return offered(super().formfield_for_manytomany(db_field, request, queryset=roles.offered(), **kwargs))
        if not is_superuser(request):
            kwargs["queryset"] = Group.objects.filter(name__in=roles.GIVEN_BY_ACCOUNTS)
        return super().formfield_for_manytomany(db_field, request, **kwargs)

    @admin.display(boolean=True)
    def second_factor(self, user: Any) -> bool:
        return bool(user.has_factor)

    def save_model(self, request: HttpRequest, obj: User, form: Any, change: bool) -> None:  # noqa: FBT001 - Django's signature
        if not change:
            obj.is_staff = True
            obj.set_unusable_password()
        super().save_model(request, obj, form, change)
        if not (obj.is_active and obj.is_staff):  # or they would go on when it is active again
            end_sessions(obj)

    def user_change_password(self, request: HttpRequest, id: str, form_url: str = "") -> HttpResponse:  # noqa: A002 - Django's signature
        raise PermissionDenied

    @admin.action(description=gettext_lazy("Give a link to set the password"), permissions=["change"])
    @transaction.atomic
    def give_password_link(self, request: HttpRequest, users: QuerySet[User]) -> HttpResponse | None:
        """Show a link for one user, in this answer alone; not to whoever made the account or chose what it may do."""
        chosen = self.keepable(request, users)
        if len(chosen) != 1 or chosen[0] == request.user:
            messages.warning(request, gettext("Choose one colleague."))
            return None
        passwords.lock(chosen[0])
        if not is_superuser(request) and passwords.is_made_by(chosen[0], request.user.get_username()):
            text = gettext("You made this account, or chose its roles: a colleague who did not gives the link.")
            messages.error(request, text)
            return None
        text = gettext(
            "It opens once, within %(hours)s hours, and only its owner may open it: hand it over in person. Who opens "
            "it sets the password; a second factor that is set up is asked for all the same. At the next log-in the "
            "owner is told that you gave it."
        )
        context = {
            "title": gettext("Link to set a password"),
            "heading": gettext("A link for %(user_name)s") % {"user_name": chosen[0].get_username()},
            "text": text % {"hours": settings.PASSWORD_RESET_TIMEOUT // 3600},
            "kind": gettext("Link"),
            "issued": passwords.link_for(request, chosen[0]),
        }
        return self.page(request, "shops/issued.html", context)

    @admin.action(description=gettext_lazy("Reset the second factor, and log out: two persons"), permissions=["change"])
    def reset_second_factor(self, request: HttpRequest, users: QuerySet[User]) -> None:
        """Ask for a reset, or do what a colleague asked for: whoever lost his factor sets up a new one."""
        for user in self.keepable(request, users):
            if factors.reset_by_two(user, by=request.user.get_username()):
                text = gettext("{user}: reset. A new second factor is set up at the next log-in.").format(user=user)
            else:
                text = gettext("{user}: asked for. A colleague has to choose the same within a day.").format(user=user)
            messages.success(request, text)

    def keepable(self, request: HttpRequest, users: QuerySet[User]) -> list[User]:
        """Return the users; raise PermissionDenied for accounts that this one does not keep."""
        chosen = list(users)
        if not all(self.has_change_permission(request, user) for user in chosen):
            raise PermissionDenied
        return chosen


@admin.register(Group)
class GroupAdmin(auth_admin.GroupAdmin, ModelAdmin[Group]):
    """Groups of staff, with their permissions, which only superusers change."""

    held = column(
        gettext_lazy("permissions"),
        lambda group: ", ".join(map(roles.in_words, group.permissions.select_related("content_type"))),
    )
    readonly_fields = ("held",)

    class Media:
        css = STYLES

    def get_fields(self, request: HttpRequest, obj: Group | None = None) -> tuple[str, ...]:
        return ("name", "permissions" if is_superuser(request) else "held")

    def formfield_for_manytomany(self, db_field: Any, request: HttpRequest | None = None, **kwargs: Any) -> Any:
        return offered(super().formfield_for_manytomany(db_field, request, queryset=roles.offered(), **kwargs))

    def has_add_permission(self, request: HttpRequest, obj: Group | None = None) -> bool:
        return is_superuser(request)

    has_change_permission = has_delete_permission = has_add_permission


def may_keep(request: HttpRequest, user: User | None) -> bool:
    """Leave accounts with more than the roles that Accounts gives to superusers."""
    return user is None or is_superuser(request) or roles.may_be_kept_by_accounts(user)


def is_superuser(request: HttpRequest) -> bool:
    return bool(request.user.is_superuser)

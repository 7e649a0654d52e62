"""Staff accounts and groups, in the look of the other pages."""

from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from allauth.account.admin import EmailAddress
from allauth.account.decorators import secure_admin_login
from allauth.mfa.admin import Authenticator
from django.contrib import admin, messages
from django.contrib.auth import admin as auth_admin
from django.contrib.auth.models import Group, User
from django.core.exceptions import PermissionDenied
from django.db.models import Exists, OuterRef, QuerySet
from django.http import HttpRequest
from django.http.response import HttpResponseBase

from config import roles
from config.login import factors
from shops.admin.base import ModelAdmin
from shops.audit.changes import CHANGED
from shops.audit.models import Action
from shops.audit.recording import record

if TYPE_CHECKING:  # unfold ships no types; its classes are the admin's with another look
    from django.contrib.auth.forms import AdminPasswordChangeForm, AdminUserCreationForm, UserChangeForm
else:
    from unfold.forms import AdminPasswordChangeForm, UserChangeForm
    from unfold.forms import UserCreationForm as AdminUserCreationForm

STYLES: dict[str, Any] = {"all": ["staff/admin.css"]}

admin.site.unregister([User, Group, Authenticator, EmailAddress])
own_password_change = admin.site.password_change
admin.site.login = secure_admin_login(admin.site.login)  # type: ignore[method-assign]  # as allauth documents it


def password_change(request: HttpRequest, extra_context: Any = None) -> HttpResponseBase:
    """Record a change of the own password."""
    answer = own_password_change(request, extra_context)
    if answer.status_code == HTTPStatus.FOUND:
        record(Action.CHANGED, request.user, changes={"password": [None, CHANGED]})  # type: ignore[arg-type]  # it is a user's page
    return answer


admin.site.password_change = password_change  # type: ignore[method-assign, assignment]  # as the log-in above


@admin.register(User)
class UserAdmin(auth_admin.UserAdmin[User], ModelAdmin[User]):
    """Members of staff."""

    form = UserChangeForm[User]
    add_form = AdminUserCreationForm
    change_password_form = AdminPasswordChangeForm
    list_display = ("username", "email", "first_name", "last_name", "is_staff", "second_factor")
    actions = ("reset_second_factor",)

    class Media:
        css = STYLES

    def get_queryset(self, request: HttpRequest) -> QuerySet[User]:
        """Hide superusers from all others, who could otherwise take over an account."""
        factors_of = Authenticator.objects.filter(user=OuterRef("pk"), type__in=factors.FACTORS)
        users = super().get_queryset(request).annotate(has_factor=Exists(factors_of))
        return users if is_superuser(request) else users.filter(is_superuser=False)

    def has_change_permission(self, request: HttpRequest, obj: User | None = None) -> bool:
        """Leave accounts with more than the roles that Accounts gives to superusers, but for the own one."""
        is_allowed = super().has_change_permission(request, obj)
        if not is_allowed or obj is None or is_superuser(request) or obj == request.user:
            return is_allowed
        return roles.may_be_kept_by_accounts(obj)

    def get_readonly_fields(self, request: HttpRequest, obj: User | None = None) -> list[str] | tuple[str, ...]:
        """Let only superusers hand out permissions; others give roles, and none to themselves."""
        fields = super().get_readonly_fields(request, obj)
        if is_superuser(request):
            return fields
        own = ("groups", "is_staff", "is_active") if obj == request.user else ()
        return (*fields, "is_superuser", "user_permissions", *own)

    def formfield_for_manytomany(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        if db_field.name == "user_permissions":
            kwargs["queryset"] = roles.offered()
        elif not is_superuser(request):
            kwargs["queryset"] = Group.objects.filter(name__in=roles.GIVEN_BY_ACCOUNTS)
        return super().formfield_for_manytomany(db_field, request, **kwargs)

    @admin.display(boolean=True)
    def second_factor(self, user: Any) -> bool:
        return bool(user.has_factor)

    @admin.action(description="Reset the second factor, and log out", permissions=["change"])
    def reset_second_factor(self, request: HttpRequest, users: QuerySet[User]) -> None:
        """Let those who lost theirs set up a new one, after the password."""
        for user in users:
            if not self.has_change_permission(request, user):
                raise PermissionDenied
        for user in users:
            factors.reset(user)
        self.message_user(request, "Reset. At the next log-in they set up a new second factor.", messages.SUCCESS)


@admin.register(Group)
class GroupAdmin(auth_admin.GroupAdmin, ModelAdmin[Group]):
    """Groups of staff, with their permissions, which only superusers change."""

    class Media:
        css = STYLES

    def formfield_for_manytomany(self, db_field: Any, request: HttpRequest | None = None, **kwargs: Any) -> Any:
        return super().formfield_for_manytomany(db_field, request, queryset=roles.offered(), **kwargs)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return is_superuser(request)

    def has_change_permission(self, request: HttpRequest, obj: Group | None = None) -> bool:
        return is_superuser(request)

    def has_delete_permission(self, request: HttpRequest, obj: Group | None = None) -> bool:
        return is_superuser(request)


def is_superuser(request: HttpRequest) -> bool:
    return bool(request.user.is_superuser)

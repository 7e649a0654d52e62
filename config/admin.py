"""Staff accounts and groups, in the look of the other pages."""

from typing import TYPE_CHECKING, Any

from allauth.account.admin import EmailAddress
from allauth.account.decorators import secure_admin_login
from allauth.mfa.admin import Authenticator
from django.contrib import admin, messages
from django.contrib.auth import admin as auth_admin
from django.contrib.auth.models import Group, User
from django.db.models import Exists, OuterRef, QuerySet
from django.http import HttpRequest

from config.login import factors
from shops.admin.base import ModelAdmin

if TYPE_CHECKING:  # unfold ships no types; its classes are the admin's with another look
    from django.contrib.auth.forms import AdminPasswordChangeForm, AdminUserCreationForm, UserChangeForm
else:
    from unfold.forms import AdminPasswordChangeForm, UserChangeForm
    from unfold.forms import UserCreationForm as AdminUserCreationForm

STYLES: dict[str, Any] = {"all": ["staff/admin.css"]}

admin.site.unregister([User, Group, Authenticator, EmailAddress])
admin.site.login = secure_admin_login(admin.site.login)  # type: ignore[method-assign]  # as allauth documents it


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

    def get_readonly_fields(self, request: HttpRequest, obj: User | None = None) -> list[str] | tuple[str, ...]:
        """Let only superusers hand out permissions."""
        fields = super().get_readonly_fields(request, obj)
        return fields if is_superuser(request) else (*fields, "is_superuser", "groups", "user_permissions")

    @admin.display(boolean=True)
    def second_factor(self, user: Any) -> bool:
        return bool(user.has_factor)

    @admin.action(description="Reset the second factor, and log out", permissions=["change"])
    def reset_second_factor(self, request: HttpRequest, users: QuerySet[User]) -> None:
        """Let those who lost theirs set up a new one, after the password."""
        for user in users:
            count = factors.reset(user)
            self.log_change(request, user, f"Second factor reset ({count} removed), sessions ended.")
        self.message_user(request, "Reset. At the next log-in they set up a new second factor.", messages.SUCCESS)


@admin.register(Group)
class GroupAdmin(auth_admin.GroupAdmin, ModelAdmin[Group]):
    """Groups of staff, with their permissions, which only superusers change."""

    class Media:
        css = STYLES

    def has_add_permission(self, request: HttpRequest) -> bool:
        return is_superuser(request)

    def has_change_permission(self, request: HttpRequest, obj: Group | None = None) -> bool:
        return is_superuser(request)

    def has_delete_permission(self, request: HttpRequest, obj: Group | None = None) -> bool:
        return is_superuser(request)


def is_superuser(request: HttpRequest) -> bool:
    return bool(request.user.is_superuser)

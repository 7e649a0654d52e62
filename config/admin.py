"""Staff accounts and groups, in the look of the other pages."""

from typing import TYPE_CHECKING, Any

from django.contrib import admin
from django.contrib.auth import admin as auth_admin
from django.contrib.auth.models import Group, User

from shops.admin.base import ModelAdmin

if TYPE_CHECKING:  # unfold ships no types; its classes are the admin's with another look
    from django.contrib.auth.forms import AdminPasswordChangeForm, AdminUserCreationForm, UserChangeForm
else:
    from unfold.forms import AdminPasswordChangeForm, UserChangeForm
    from unfold.forms import UserCreationForm as AdminUserCreationForm

STYLES: dict[str, Any] = {"all": ["staff/admin.css"]}

admin.site.unregister([User, Group])


@admin.register(User)
class UserAdmin(auth_admin.UserAdmin[User], ModelAdmin[User]):
    """Members of staff."""

    form = UserChangeForm[User]
    add_form = AdminUserCreationForm
    change_password_form = AdminPasswordChangeForm

    class Media:
        css = STYLES


@admin.register(Group)
class GroupAdmin(auth_admin.GroupAdmin, ModelAdmin[Group]):
    """Groups of staff, with their permissions."""

    class Media:
        css = STYLES

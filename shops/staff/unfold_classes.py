"""Unfold's classes, typed as what they are, the admin's with another look: it ships no types."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from django.contrib.admin import ModelAdmin, TabularInline
    from django.contrib.admin import SimpleListFilter as CheckboxFilter
    from django.contrib.admin import SimpleListFilter as DropdownFilter
    from django.contrib.admin.filters import RelatedFieldListFilter as AutocompleteSelectFilter
    from django.contrib.admin.widgets import AdminSplitDateTime as SplitDateTime
    from django.contrib.admin.widgets import AdminTextInputWidget as TextInput
    from django.contrib.auth.forms import UserChangeForm
    from django.forms import PasswordInput
else:
    from unfold.admin import ModelAdmin, TabularInline
    from unfold.contrib.filters.admin import AutocompleteSelectFilter, CheckboxFilter, DropdownFilter
    from unfold.forms import UserChangeForm
    from unfold.widgets import UnfoldAdminPasswordWidget as PasswordInput
    from unfold.widgets import UnfoldAdminSplitDateTimeWidget as SplitDateTime
    from unfold.widgets import UnfoldAdminTextInputWidget as TextInput

__all__ = [
    "AutocompleteSelectFilter",
    "CheckboxFilter",
    "DropdownFilter",
    "ModelAdmin",
    "PasswordInput",
    "SplitDateTime",
    "TabularInline",
    "TextInput",
    "UserChangeForm",
]

"""Formats of all of the staff's pages."""

from django import template
from django.contrib.admin.utils import quote

from shops.admin.personal import masked

register = template.Library()


@register.filter
def personal(text: str, is_shown: bool) -> str:  # noqa: FBT001 - a filter's one argument
    """Format a customer's data for those who may see it."""
    return masked(text, is_shown=is_shown)


@register.filter
def admin_quoted(key: str) -> str:
    """Format a key as the admin's addresses have it."""
    return str(quote(key))

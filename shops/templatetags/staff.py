"""Formats of all of the staff's pages."""

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext

from shops.models import Shop
from shops.staff.audit.entry_texts import changes
from shops.staff.display_texts import badge, number, short_name, words
from shops.staff.pages import address_of, page_of

register = template.Library()


@register.simple_tag
def mode_of(shop: Shop) -> str:
    """Say TEST of what is a test shop's."""
    return badge("TEST", "warning") if shop.is_test else ""


@register.filter
def with_named_scrolling(sidebar: SafeString) -> SafeString:
    """Name the scrolling part of unfold's sidebar, as a list scrolls too."""
    name = format_html('id="nav-sidebar-apps" data-simplebar-aria-label="{}"', gettext("Pages"))
    return SafeString(sidebar.replace('id="nav-sidebar-apps"', name))


register.filter(changes)
register.filter(words)
register.filter(number)
register.filter(short_name)
register.simple_tag(page_of)
register.simple_tag(address_of)

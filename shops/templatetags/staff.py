"""Formats of all of the staff's pages."""

from django import template

from shops.models import Shop
from shops.staff.display_texts import badge, number, short_name, words
from shops.staff.pages import address_of, page_of

register = template.Library()


@register.simple_tag
def mode_of(shop: Shop) -> str:
    """Say TEST of what is a test shop's."""
    return badge("TEST", "warning") if shop.is_test else ""


register.filter(words)
register.filter(number)
register.filter(short_name)
register.simple_tag(page_of)
register.simple_tag(address_of)

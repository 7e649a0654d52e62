"""Addresses of the staff's pages of rows, made here alone, as a key may have any character; and links."""

from typing import Any

from django.contrib.admin.utils import quote
from django.db.models import Model
from django.urls import reverse
from django.utils.html import format_html
from django_stubs_ext import StrOrPromise


def page_of(row: Model, view: str = "change") -> str:
    return address_of(row._meta.label_lower, row.pk, view)


def address_of(model: str, key: Any, view: str = "change") -> str:
    """Return the address of a page by the model's label, such as `parcels.parcel`, and the row's key."""
    return reverse(f"admin:{model.replace('.', '_')}_{view}", args=[quote(key)])


def link_to(address: str, text: StrOrPromise) -> str:
    return format_html('<a class="shop-link" href="{}">{}</a>', address, text)

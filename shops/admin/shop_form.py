"""The form of a shop, with its sender address as fields."""

# ruff: noqa: N815 - the public names are camelCase

from typing import Any

from django import forms
from django.utils.text import capfirst
from django.utils.translation import gettext, gettext_lazy

from shops.contracts import senders
from shops.contracts.addresses import AddressSerializer
from shops.models import Shop
from shops.staff.unfold_classes import TextInput

PREFIX = "sender_"
LABELS = {
    "firstName": gettext_lazy("First name"),
    "lastName": gettext_lazy("Last name"),
    "company": gettext_lazy("Company"),
    "address1": gettext_lazy("Street and number"),
    "address2": gettext_lazy("Building, floor, entrance"),
    "zip": gettext_lazy("Postal code"),
    "city": gettext_lazy("Town"),
    "countryCode": gettext_lazy("Country (two letters)"),
    "phone": gettext_lazy("Phone"),
}
OPTIONAL = ("company", "address2")
FIELDS = tuple(PREFIX + name for name in LABELS)


def address_field(name: str) -> forms.CharField:
    widget = TextInput(attrs={"autocomplete": "off"})
    return forms.CharField(label=LABELS[name], required=False, max_length=1000, strip=False, widget=widget)


class ShopForm(forms.ModelForm[Shop]):
    """A shop; an address with nothing in it is none."""

    refusals: dict[str, str]  # by carrier, why labels can't be sent from the address

    sender_firstName, sender_lastName, sender_company = map(address_field, ("firstName", "lastName", "company"))
    sender_address1, sender_address2, sender_zip = map(address_field, ("address1", "address2", "zip"))
    sender_city, sender_countryCode, sender_phone = map(address_field, ("city", "countryCode", "phone"))

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.refusals = {}
        for name, value in (self.instance.sender_address or {}).items():
            self.initial[PREFIX + name] = value

    def clean(self) -> dict[str, Any]:
        super().clean()
        typed = {name: self.cleaned_data.get(PREFIX + name, "") for name in LABELS}
        typed = {name: text for name, text in typed.items() if text or name not in OPTIONAL}
        if not any(name in self.data for name in FIELDS):  # the page has none for those who only look
            return self.cleaned_data
        if not any(text.strip() for text in typed.values()):
            self.instance.sender_address = None
            return self.cleaned_data
        try:
            self.instance.sender_address, self.refusals = senders.checked(typed)
        except senders.SenderError as error:
            self.tell(error)
        return self.cleaned_data

    def tell(self, error: senders.SenderError) -> None:
        """Tell of each wrong value at its field."""
        known = {name: faults for name, faults in error.faults.items() if name in AddressSerializer().fields}
        for name, faults in known.items():
            self.add_error(PREFIX + name, [capfirst(gettext(str(fault))) for fault in faults])
        if not known:
            self.add_error(None, gettext("The sender address: {error}.").format(error=error))

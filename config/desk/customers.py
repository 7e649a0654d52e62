"""The staff's page about a shop's customer: what is held, exported and erased, as the commands do it."""

from typing import Any

import orjson
from django import forms
from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db import DatabaseError
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.translation import gettext, gettext_lazy
from django.views.decorators.http import require_http_methods

from config.customers import Customer, CustomerError
from shops.api.file_answers import file_answer
from shops.db.failures import is_timeout
from shops.staff.acts import HELD
from shops.staff.masking import may_see
from shops.staff.unfold_classes import TextInput


class CustomerForm(forms.Form):
    shop_id = forms.CharField(label=gettext_lazy("Shop id"), widget=TextInput)
    email = forms.EmailField(label=gettext_lazy("Customer e-mail"), widget=TextInput(attrs={"autocomplete": "off"}))


def may_export(request: HttpRequest) -> bool:
    """Return whether the user may see all that is held of a customer."""
    return may_see(request) and request.user.has_perms(("parcels.view_parcel", "labels.view_shippinglabel"))


def may_erase(request: HttpRequest) -> bool:
    """Return whether the user may also change labels, which an erasure does."""
    return may_export(request) and request.user.has_perm("labels.change_shippinglabel")


@require_http_methods(["GET", "HEAD", "POST"])
def customers(request: HttpRequest) -> HttpResponse:
    """Ask who it is, say what is held, then export or erase it. The e-mail is in no address, as those are logged."""
    if not may_export(request):
        raise PermissionDenied
    form = CustomerForm(request.POST or None)
    context: dict[str, Any] = {"title": gettext("A shop's customer"), "form": form, "may_erase": may_erase(request)}
    if form.is_valid():
        try:
            context["customer"] = customer = Customer.find(**form.cleaned_data)
            if answer := act(request, customer):
                return answer
            context["counts"] = customer.search()
        except CustomerError as error:
            form.add_error(None, str(error))
        except DatabaseError as error:
            if not is_timeout(error):
                raise
            form.add_error(None, HELD)
    return TemplateResponse(request, "staff/customers.html", admin.site.each_context(request) | context)


def act(request: HttpRequest, customer: Customer) -> HttpResponse | None:
    """Do what was confirmed, if anything was; raise CustomerError."""
    if "export" in request.POST:
        held = orjson.dumps(customer.held(), option=orjson.OPT_INDENT_2)
        return file_answer(held, 'attachment; filename="customer.json"', "application/json")
    if "erase" not in request.POST:
        return None
    if not may_erase(request):
        raise PermissionDenied
    messages.success(request, gettext("Erased: {counts}.").format(counts=", ".join(customer.erase())))
    return HttpResponseRedirect(reverse("staff-customers"))

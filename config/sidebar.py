"""The admin's sidebar: links to the lists that a member of staff may see."""

from typing import Any

from django.http import HttpRequest
from django.urls import reverse, reverse_lazy
from django.utils.translation import gettext_lazy
from django_stubs_ext import StrOrPromise

TO_DECIDE = "admin:labels_shippinglabel_to_decide"
FINANCE = "admin:labels_labelfigure_changelist"


def item(title: StrOrPromise, icon: str, app: str, model: str) -> dict[str, Any]:
    def is_allowed(request: HttpRequest) -> bool:
        return any(request.user.has_perm(f"{app}.{action}_{model}") for action in ("view", "change"))

    return page(title, icon, f"admin:{app}_{model}_changelist", is_allowed)


def page(title: StrOrPromise, icon: str, view: str, permission: Any) -> dict[str, Any]:
    """Return the item of a page; the permission is a function, or its path."""
    return {"title": title, "icon": icon, "link": reverse_lazy(view), "permission": permission}


def are_labels_shown(request: HttpRequest) -> bool:
    """Return whether the page is of labels, and not that of those to decide, which has an item of its own."""
    lists, to_decide = reverse("admin:labels_shippinglabel_changelist"), reverse(TO_DECIDE)
    return request.path.startswith(lists) and request.path != to_decide


ACCOUNT = [
    {"title": gettext_lazy("Change password"), "link": reverse_lazy("admin:password_change")},
    {"title": gettext_lazy("Second factor"), "link": reverse_lazy("mfa_index")},
]
NAVIGATION = [
    {
        "items": [
            item(gettext_lazy("Parcels"), "package_2", "parcels", "parcel"),
            item(gettext_lazy("Labels"), "label", "labels", "shippinglabel") | {"active": are_labels_shown},
            page(gettext_lazy("Labels to decide"), "gavel", TO_DECIDE, "labels.admin.to_decide.is_decision_needed")
            | {"badge": "labels.admin.to_decide.undecided_count", "badge_variant": "warning"},
            page(gettext_lazy("Lists of numbers"), "checklist", "staff-list", "config.desk.lists.may_check"),
            item(gettext_lazy("Deposit slips"), "receipt_long", "labels", "depositslip"),
            page(gettext_lazy("Figures for finance"), "bar_chart", FINANCE, "labels.admin.finance.are_figures_allowed"),
            page(
                gettext_lazy("Erase or export a customer"),
                "person_remove",
                "staff-customers",
                "config.desk.customers.may_export",
            ),
            item(gettext_lazy("Unlisted codes"), "help_center", "parcels", "unlistedeventcode"),
            item(gettext_lazy("Shops"), "storefront", "shops", "shop"),
            item(gettext_lazy("Access tokens"), "key", "shops", "accesstoken"),
            item(gettext_lazy("Carrier contracts"), "contract", "shops", "carriercontract"),
            item(gettext_lazy("Webhook endpoints"), "webhook", "shops", "webhookendpoint"),
            item(gettext_lazy("Webhook deliveries"), "outbox", "shops", "webhookdelivery"),
        ]
    },
    {
        "title": gettext_lazy("Staff"),
        "separator": True,
        "items": [
            item(gettext_lazy("Users"), "person", "auth", "user"),
            item(gettext_lazy("Groups"), "group", "auth", "group"),
            item(gettext_lazy("Audit log"), "history", "shops", "auditentry"),
        ],
    },
]

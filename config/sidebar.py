"""The admin's sidebar: links to the lists that a member of staff may see."""

from typing import Any

from django.http import HttpRequest
from django.urls import reverse_lazy


def item(title: str, icon: str, app: str, model: str) -> dict[str, Any]:
    """Make a link to a model's list."""

    def is_allowed(request: HttpRequest) -> bool:
        return any(request.user.has_perm(f"{app}.{action}_{model}") for action in ("view", "change"))

    link = reverse_lazy(f"admin:{app}_{model}_changelist")
    return {"title": title, "icon": icon, "link": link, "permission": is_allowed}


ACCOUNT = [
    {"title": "Change password", "link": reverse_lazy("admin:password_change")},
    {"title": "Second factor", "link": reverse_lazy("mfa_index")},
]
NAVIGATION = [
    {
        "items": [
            item("Parcels", "package_2", "parcels", "parcel"),
            item("Labels", "label", "labels", "shippinglabel"),
            {
                "title": "Labels to decide",
                "icon": "gavel",
                "link": reverse_lazy("admin:labels_shippinglabel_to_decide"),
                "permission": "labels.admin.to_decide.is_decision_needed",
                "badge": "labels.admin.to_decide.undecided_count",
                "badge_variant": "warning",
            },
            item("Deposit slips", "receipt_long", "labels", "depositslip"),
            {
                "title": "Figures for finance",
                "icon": "bar_chart",
                "link": reverse_lazy("admin:labels_labelfigure_changelist"),
                "permission": "labels.admin.finance.are_figures_allowed",
            },
            item("Unlisted codes", "help_center", "parcels", "unlistedeventcode"),
            item("Shops", "storefront", "shops", "shop"),
            item("Access tokens", "key", "shops", "accesstoken"),
            item("Carrier contracts", "contract", "shops", "carriercontract"),
            item("Webhook endpoints", "webhook", "shops", "webhookendpoint"),
            item("Webhook deliveries", "outbox", "shops", "webhookdelivery"),
        ]
    },
    {
        "title": "Staff",
        "separator": True,
        "items": [
            item("Users", "person", "auth", "user"),
            item("Groups", "group", "auth", "group"),
            item("Audit log", "history", "shops", "auditentry"),
        ],
    },
]

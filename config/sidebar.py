"""The admin's sidebar: links to the lists that a member of staff may see."""

from typing import Any

from django.http import HttpRequest
from django.urls import reverse, reverse_lazy


def item(title: str, icon: str, app: str, model: str) -> dict[str, Any]:
    """Make a link to a model's list."""

    def is_allowed(request: HttpRequest) -> bool:
        return any(request.user.has_perm(f"{app}.{action}_{model}") for action in ("view", "change"))

    link = reverse_lazy(f"admin:{app}_{model}_changelist")
    return {"title": title, "icon": icon, "link": link, "permission": is_allowed}


def undecided_labels(request: HttpRequest) -> str:
    return reverse("admin:labels_shippinglabel_changelist", query={"decision": "needed"})


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
                "link": undecided_labels,
                "permission": "labels.admin.labels.is_decision_needed",
                "badge": "labels.admin.labels.undecided_count",
                "badge_variant": "warning",
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

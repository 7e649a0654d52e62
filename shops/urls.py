"""The paths of the shops' events and webhook endpoints."""

from django.urls import path, re_path

from shops.api.paths import TRACKING
from shops.webhooks.views import EventViewSet, WebhookViewSet

ONE = rf"^{TRACKING[1:]}/webhooks/(?P<webhook_id>[^/]+)"
urlpatterns = [
    path(f"{TRACKING[1:]}/events", EventViewSet.as_view({"get": "index"}), name="events"),
    path(f"{TRACKING[1:]}/webhooks", WebhookViewSet.as_view({"get": "index", "post": "create"}), name="webhooks"),
    re_path(
        rf"{ONE}\Z",
        WebhookViewSet.as_view({"get": "retrieve", "patch": "change", "delete": "destroy"}),
        name="webhook",
    ),
    re_path(rf"{ONE}/rotate-secret\Z", WebhookViewSet.as_view({"post": "rotate"}), name="webhook-secret"),
    re_path(rf"{ONE}/test\Z", WebhookViewSet.as_view({"post": "test"}), name="webhook-test"),
    re_path(rf"{ONE}/replay\Z", WebhookViewSet.as_view({"post": "replay"}), name="webhook-replay"),
    re_path(rf"{ONE}/deliveries\Z", WebhookViewSet.as_view({"get": "deliveries"}), name="webhook-deliveries"),
]

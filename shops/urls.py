"""The paths of the shops' events and webhook endpoints."""

from django.urls import path

from shops.api.paths import TRACKING
from shops.webhooks.views import EventViewSet, WebhookViewSet

ONE = f"{TRACKING[1:]}/webhooks/<str:webhook_id>"
urlpatterns = [
    path(f"{TRACKING[1:]}/events", EventViewSet.as_view({"get": "index"}), name="events"),
    path(f"{TRACKING[1:]}/webhooks", WebhookViewSet.as_view({"get": "index", "post": "create"}), name="webhooks"),
    path(ONE, WebhookViewSet.as_view({"get": "retrieve", "patch": "change", "delete": "destroy"}), name="webhook"),
    path(f"{ONE}/rotate-secret", WebhookViewSet.as_view({"post": "rotate"}), name="webhook-secret"),
    path(f"{ONE}/test", WebhookViewSet.as_view({"post": "test"}), name="webhook-test"),
    path(f"{ONE}/replay", WebhookViewSet.as_view({"post": "replay"}), name="webhook-replay"),
    path(f"{ONE}/deliveries", WebhookViewSet.as_view({"get": "deliveries"}), name="webhook-deliveries"),
]

"""The paths of the label endpoints."""

from django.urls import path

from labels.views import LabelViewSet, OrderCheckViewSet, PointViewSet
from shops.api.paths import TRACKING

ONE = f"{TRACKING[1:]}/shipments/<str:label_id>"
urlpatterns = [
    path(f"{TRACKING[1:]}/shipments/check", OrderCheckViewSet.as_view({"post": "create"}), name="order-check"),
    path(f"{TRACKING[1:]}/shipments", LabelViewSet.as_view({"get": "index", "post": "create"}), name="labels"),
    path(ONE, LabelViewSet.as_view({"get": "retrieve"}), name="label"),
    path(f"{ONE}/cancel", LabelViewSet.as_view({"post": "cancel"}), name="label-cancellation"),
    path(f"{TRACKING[1:]}/pickup-points", PointViewSet.as_view({"get": "find"}), name="pickup-points"),
]

"""The paths of the label endpoints."""

from django.urls import path, re_path

from labels.checks.views import OrderCheckViewSet
from labels.points.views import PointViewSet
from labels.views import LabelViewSet
from shops.api.paths import TRACKING

urlpatterns = [
    path(f"{TRACKING[1:]}/shipments/check", OrderCheckViewSet.as_view({"post": "create"}), name="order-check"),
    path(f"{TRACKING[1:]}/shipments", LabelViewSet.as_view({"get": "index", "post": "create"}), name="labels"),
    re_path(
        rf"^{TRACKING[1:]}/shipments/(?P<label_id>[^/]+)\Z", LabelViewSet.as_view({"get": "retrieve"}), name="label"
    ),
    re_path(
        rf"^{TRACKING[1:]}/shipments/(?P<label_id>[^/]+)/cancel\Z",
        LabelViewSet.as_view({"post": "cancel"}),
        name="label-cancellation",
    ),
    path(f"{TRACKING[1:]}/pickup-points", PointViewSet.as_view({"get": "find"}), name="pickup-points"),
]

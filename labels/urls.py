"""The paths of the label endpoints."""

from django.urls import path, re_path

from labels.views import LabelViewSet

urlpatterns = [
    path("shipments", LabelViewSet.as_view({"post": "create"}), name="labels"),
    re_path(r"^shipments/(?P<label_id>[^/]+)\Z", LabelViewSet.as_view({"get": "retrieve"}), name="label"),
]

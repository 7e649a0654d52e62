"""The paths of the parcel endpoints."""

from django.urls import path, re_path

from parcels.views import ParcelViewSet
from shops.paths import TRACKING

urlpatterns = [
    # A number may contain slashes, but not end in one: a trailing slash is an unknown path.
    re_path(
        rf"^{TRACKING[1:]}/parcels/(?P<tracking_number>(?s:.*[^/]))\Z",
        ParcelViewSet.as_view({"get": "retrieve"}),
        name="parcel",
    ),
    path(f"{TRACKING[1:]}/search", ParcelViewSet.as_view({"get": "search"}), name="parcel-search"),
]

"""The paths of the parcel endpoints."""

from django.urls import path, re_path

from parcels.views import ParcelViewSet
from shops.api.paths import PARCEL, SEARCH

urlpatterns = [
    # A number may contain slashes, but not end in one: a trailing slash is an unknown path.
    re_path(
        rf"^{PARCEL[1:]}(?P<tracking_number>(?s:.*[^/]))\Z",
        ParcelViewSet.as_view({"get": "retrieve"}),
        name="parcel",
    ),
    path(SEARCH[1:], ParcelViewSet.as_view({"get": "search"}), name="parcel-search"),
]

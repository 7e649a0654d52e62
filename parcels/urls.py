"""The paths of the parcel endpoints."""

from django.urls import path, re_path

from parcels.views import ParcelViewSet

urlpatterns = [
    # Any text is a number, a slash in it too; a slash at its end would be a trailing slash, an unknown path.
    re_path(r"^parcels/(?P<tracking_number>(?s:.*[^/]))\Z", ParcelViewSet.as_view({"get": "retrieve"}), name="parcel"),
    path("search", ParcelViewSet.as_view({"get": "search"}), name="parcel-search"),
]

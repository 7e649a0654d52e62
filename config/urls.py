"""Every path the service answers."""

from django.contrib import admin
from django.urls import include, path, re_path
from django.views.generic import RedirectView

from config.errors import unknown_path

urlpatterns = [
    path("public/v1/tracking/", include("parcels.urls")),
    re_path(r"^public/", unknown_path, name="unknown-path"),
    path("admin/", admin.site.urls),
    path("admin", RedirectView.as_view(pattern_name="admin:index")),
]

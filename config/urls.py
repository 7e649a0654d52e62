"""Every path the service answers."""

from django.contrib import admin
from django.urls import include, path, re_path
from django.views.generic import RedirectView

from config.errors import unknown_path
from config.health import livez, readyz
from labels.views import LabelFileView

handler500 = "config.errors.server_error"
urlpatterns = [
    path("public/v1/tracking/", include("parcels.urls")),
    path("public/v1/tracking/", include("labels.urls")),
    re_path(r"^public/", unknown_path, name="unknown-path"),
    # All of it is signed, so an altered path leads here too.
    re_path(r"^files/(?P<signed_name>(?s:.*))\Z", LabelFileView.as_view(), name="label-file"),
    path("livez", livez, name="livez"),
    path("readyz", readyz, name="readyz"),
    path("admin/", admin.site.urls),
    path("admin", RedirectView.as_view(pattern_name="admin:index")),
]

"""Every path the service answers."""

from django.contrib import admin
from django.urls import include, path, re_path
from django.views.decorators.http import require_POST, require_safe
from django.views.generic import RedirectView
from django.views.i18n import set_language

import labels.urls
import parcels.urls
import shops.urls
from config.api.errors import unknown_path
from config.desk.customers import customers
from config.desk.lists import check_list
from config.desk.morning import choose
from config.desk.queue import take
from config.desk.search import search
from config.docs import views as docs
from config.docs.guide import CHANGES, PAGES, REFUSALS
from config.docs.openapi.views import show_description
from config.ops.health import livez, readyz
from labels.views import LabelFileView
from shops.api.paths import API_ROOT, FILES

handler400 = "config.error_pages.bad_request"
handler403 = "config.error_pages.forbidden"
handler404 = "config.error_pages.not_found"
handler500 = "config.error_pages.failed"
urlpatterns = [
    *parcels.urls.urlpatterns,  # not included: a look-up resolves in one step
    *labels.urls.urlpatterns,
    *shops.urls.urlpatterns,
    re_path(rf"^{API_ROOT[1:]}", unknown_path, name="unknown-path"),
    # All of it is signed, so an altered path leads here too.
    re_path(rf"^{FILES[1:]}(?P<signed_name>(?s:.*))\Z", LabelFileView.as_view(), name="label-file"),
    path("", require_safe(RedirectView.as_view(pattern_name="guide")), name="root"),
    *(path(page.path, docs.show_guide, {"page": page}, page.route) for page in PAGES),
    path("docs/refusals", docs.show_text, {"path": REFUSALS, "template": "docs/refusals.html"}, "refusals"),
    path("docs/reference", docs.show_reference, name="reference"),
    path("docs/changelog", docs.show_text, {"path": CHANGES, "template": "docs/changes.html"}, "changes"),
    path("docs/search.json", docs.show_search_index, name="search-index"),
    path("llms.txt", docs.show_index, name="llms-txt"),
    path("docs/parcels.http", docs.download_collection, name="collection"),
    path("docs/postman.json", docs.download_postman, name="postman"),
    *(path(f"openapi.{kind}", show_description, {"kind": kind}, f"openapi-{kind}") for kind in ("json", "yaml")),
    path("livez", livez, name="livez"),
    path("readyz", readyz, name="readyz"),
    path("", include("config.login.urls")),
    path("admin/customer/", admin.site.admin_view(customers), name="staff-customers"),
    path("admin/search/", admin.site.admin_view(search), name="staff-search"),  # before unfold's own
    path("admin/list/", admin.site.admin_view(check_list), name="staff-list"),
    path("admin/queue/<slug:name>/", admin.site.admin_view(take), name="staff-take"),
    path("admin/morning/", admin.site.admin_view(choose), name="staff-morning"),
    path("admin/language/", require_POST(set_language), name="set_language"),
    path("admin/", admin.site.urls),
    path("admin", RedirectView.as_view(pattern_name="admin:index")),
]

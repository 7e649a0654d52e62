"""The documentation's pages: public, without cookies, and loading nothing from other hosts."""

from collections.abc import Callable
from functools import wraps

import orjson
from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.utils.cache import patch_cache_control, patch_vary_headers
from django.utils.html import escape
from django.utils.safestring import mark_safe
from django.views.decorators.gzip import gzip_page
from django.views.decorators.http import conditional_page, require_safe

from config.docs.collection import collection
from config.docs.guide import ORIGIN_MARK, Text, changes, guide, refusals
from config.docs.postman import postman
from config.docs.search_index import index

MAX_AGE_S = 60  # caches may show the previous release this long
# Swagger UI's icons are data: URLs. It sets its styles by script, which needs no permission here.
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)

View = Callable[[HttpRequest], HttpResponse]


def page(view: View) -> View:
    """Make a view answer GET and HEAD, compressed, cacheable and with an ETag."""

    @wraps(view)
    def wrapped(request: HttpRequest) -> HttpResponse:
        response = view(request)
        response["Content-Security-Policy"] = POLICY
        patch_cache_control(response, public=True, max_age=MAX_AGE_S)
        patch_vary_headers(response, ["Accept-Encoding"])  # here, so that a 304 has it too
        return response

    return require_safe(gzip_page(conditional_page(wrapped)))


@page
def show_guide(request: HttpRequest) -> HttpResponse:
    """Show the guide; its examples have the service's own address."""
    return shown(request, "docs/guide.html", guide())


@page
def show_refusals(request: HttpRequest) -> HttpResponse:
    """Show every error code of the carriers, and what becomes of it."""
    return shown(request, "docs/refusals.html", refusals())


@page
def show_changes(request: HttpRequest) -> HttpResponse:
    """Show what changed for the API's users, and how parts are deprecated."""
    return shown(request, "docs/changes.html", changes())


@page
def show_reference(request: HttpRequest) -> HttpResponse:
    """Show every endpoint and field of the schema, to try out."""
    return HttpResponse(render_to_string("docs/reference.html"))


@page
def show_search_index(request: HttpRequest) -> HttpResponse:
    """Return the sections that the pages' script searches."""
    return HttpResponse(index(), content_type="application/json")


@page
def download_collection(request: HttpRequest) -> HttpResponse:
    """Download the collection of requests; the reader pastes a token into it."""
    response = HttpResponse(collection(url=origin(request)), content_type="text/plain; charset=utf-8")
    response["Content-Disposition"] = 'attachment; filename="parcels.http"'
    return response


@page
def download_postman(request: HttpRequest) -> HttpResponse:
    """Download the description as a Postman collection."""
    response = HttpResponse(orjson.dumps(postman(origin(request))), content_type="application/json")
    response["Content-Disposition"] = 'attachment; filename="parcels.postman_collection.json"'
    return response


@page
def show_index(request: HttpRequest) -> HttpResponse:
    """List the documentation for programs that read it (llmstxt.org)."""
    text = render_to_string("docs/llms.txt", {"url": origin(request)})
    return HttpResponse(text, content_type="text/plain; charset=utf-8")


def shown(request: HttpRequest, template: str, text: Text) -> HttpResponse:
    body = mark_safe(text.body.replace(ORIGIN_MARK, escape(origin(request))))  # noqa: S308 - our own file
    # Without the request, whose session no template needs.
    return HttpResponse(render_to_string(template, {"body": body, "headings": text.headings}))


def origin(request: HttpRequest) -> str:
    """Return the service's address, without a trailing slash."""
    return (settings.PUBLIC_BASE_URL or request.build_absolute_uri("/")).rstrip("/")

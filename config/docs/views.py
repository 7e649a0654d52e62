"""The documentation's pages: public, without cookies, and loading nothing from other hosts."""

from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any

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
from config.docs.guide import ORIGIN_MARK, PAGES, Page, Text, text_of
from config.docs.postman import postman
from config.docs.search_index import index

MAX_AGE_S = 60  # caches may show the previous release this long
# Swagger UI's icons are data: URLs. It sets its styles by script, which needs no permission here.
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)

View = Callable[..., HttpResponse]


def page(view: View) -> View:
    """Make a view answer GET and HEAD, compressed, cacheable and with an ETag."""

    @wraps(view)
    def wrapped(request: HttpRequest, **facts: Any) -> HttpResponse:
        response = view(request, **facts)
        response["Content-Security-Policy"] = POLICY
        patch_cache_control(response, public=True, max_age=MAX_AGE_S)
        patch_vary_headers(response, ["Accept-Encoding"])  # here, so that a 304 has it too
        return response

    return require_safe(gzip_page(conditional_page(wrapped)))


@page
def show_guide(request: HttpRequest, page: Page) -> HttpResponse:
    """Show a page of the guide; its examples have the service's own address."""
    place = PAGES.index(page)
    neighbours = {"before": PAGES[place - 1] if place else None, "after": next(iter(PAGES[place + 1 :]), None)}
    return shown(request, "docs/guide.html", page.text, pages=PAGES, page=page, **neighbours)


@page
def show_text(request: HttpRequest, path: Path, template: str) -> HttpResponse:
    return shown(request, template, text_of(path))


@page
def show_reference(request: HttpRequest) -> HttpResponse:
    return HttpResponse(render_to_string("docs/reference.html"))


@page
def show_search_index(request: HttpRequest) -> HttpResponse:
    return HttpResponse(index(), content_type="application/json")


@page
def download_collection(request: HttpRequest) -> HttpResponse:
    """Download the collection of requests; the reader pastes a token into it."""
    response = HttpResponse(collection(url=origin(request)), content_type="text/plain; charset=utf-8")
    response["Content-Disposition"] = 'attachment; filename="parcels.http"'
    return response


@page
def download_postman(request: HttpRequest) -> HttpResponse:
    response = HttpResponse(orjson.dumps(postman(origin(request))), content_type="application/json")
    response["Content-Disposition"] = 'attachment; filename="parcels.postman_collection.json"'
    return response


@page
def show_index(request: HttpRequest) -> HttpResponse:
    """List the documentation for programs that read it (llmstxt.org)."""
    text = render_to_string("docs/llms.txt", {"url": origin(request), "pages": PAGES})
    return HttpResponse(text, content_type="text/plain; charset=utf-8")


def shown(request: HttpRequest, template: str, text: Text, **facts: object) -> HttpResponse:
    address = escape(origin(request))
    intro, body = (
        mark_safe(part.replace(ORIGIN_MARK, address))  # noqa: S308 - our own file
        for part in (text.intro, text.body)
    )
    # Without the request, whose session no template needs.
    return HttpResponse(render_to_string(template, {"intro": intro, "body": body, "text": text, **facts}))


def origin(request: HttpRequest) -> str:
    """Return the service's address, without a trailing slash."""
    return (settings.PUBLIC_BASE_URL or request.build_absolute_uri("/")).rstrip("/")

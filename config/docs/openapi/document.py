"""Generates the description from the code; `manage.py openapi` writes it to the file, and a test compares the two."""

from typing import Any, Final

import yaml
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.renderers import OpenApiYamlRenderer
from drf_spectacular.settings import patched_settings

from config import __version__
from config.docs.openapi import extensions
from config.docs.openapi.responses import complete
from config.docs.openapi.webhooks import webhooks

__all__ = ["as_yaml", "extensions", "generate"]  # importing `extensions` registers them

DESCRIPTION: Final = f"""\
Look a parcel up by any of its tracking numbers, search parcels by order and customer, buy shipping labels from two
carriers (`alpha`, `beta`) and fetch their PDFs.

Every request under `/public/` carries the shop's access token. Requests and answers are JSON, and `Accept` is ignored.
Times are ISO 8601 in UTC, but a parcel's are Unix time in milliseconds; weights are kilograms. `HEAD` is answered
wherever `GET` is. Paths have no slash at the end.

**The limit** is 100 requests in 60 seconds, counted for the shop over all its tokens and endpoints; without a valid
token it is counted for the client's address. Beyond it the answer is 429, and `Retry-After` is the seconds to wait.

**Errors** have one shape, `Error`. Only errors from in front of the service differ, and have no `X-Request-Id`: the
server answers a request that it can't read with an empty body (400 for broken HTTP, 414 for an address of more than
64 KB, 431 for more than 100 headers or too large ones), and a proxy may answer with a page.

**With https**, requests over plain http are redirected (301) to the same address with `https://`.

**Versions.** This describes the interface `/public/v1`, served by version {__version__} of the service.
"""
SETTINGS: Final[dict[str, Any]] = {
    "OAS_VERSION": "3.1.1",
    "TITLE": "Parcel tracking and shipping labels",
    "VERSION": "1.0.0",
    "DESCRIPTION": DESCRIPTION,
    "SERVERS": [{"url": "/", "description": "The service that serves this description."}],
    "TAGS": [
        {"name": "parcels", "description": "A shop's parcels, read-only."},
        {"name": "labels", "description": "A shop's shipping labels."},
        {"name": "webhooks", "description": "A shop's events, and its endpoints that are told of them."},
        {"name": "webhook-requests", "description": "Signed requests (Standard Webhooks) to a shop's endpoint."},
    ],
    "CAMELIZE_NAMES": True,
    "COMPONENT_SPLIT_REQUEST": False,
    "SORT_OPERATIONS": False,
    "SORT_OPERATION_PARAMETERS": False,
    "POSTPROCESSING_HOOKS": [],
}


def generate() -> dict[str, Any]:
    """Generate the OpenAPI document of all views of the API."""
    with patched_settings(SETTINGS):
        document: dict[str, Any] = SchemaGenerator().get_schema(public=True)
    complete(document)
    document["webhooks"] = webhooks()
    return document


def as_yaml(document: dict[str, Any]) -> bytes:
    text: bytes = OpenApiYamlRenderer().render(document)
    assert yaml.safe_load(text) == document
    return text

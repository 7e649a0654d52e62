"""Serves the API's description from the file, as JSON and as YAML."""

from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Final

import orjson
import yaml
from django.http import HttpRequest, HttpResponse
from django.views.decorators.cache import cache_control
from django.views.decorators.http import etag, require_safe

SafeLoader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # the fast one, where it is built
FILE: Final = Path(__file__).with_name("openapi.yaml")
MAX_AGE_S: Final = 300  # caches may serve the previous release this long


@cache
def as_yaml() -> bytes:
    """Read the file, once per process."""
    return FILE.read_bytes()


@cache
def as_json() -> bytes:
    return orjson.dumps(yaml.load(as_yaml(), Loader=SafeLoader))  # noqa: S506 - safe


@cache
def version() -> str:
    return f'"{sha256(as_yaml()).hexdigest()[:16]}"'


# Public and not rate-limited: the description holds no customer's data.


@require_safe
@cache_control(public=True, max_age=MAX_AGE_S)
@etag(lambda *_, **__: version())
def show_description(request: HttpRequest, kind: str) -> HttpResponse:
    return HttpResponse(as_json() if kind == "json" else as_yaml(), content_type=f"application/{kind}")

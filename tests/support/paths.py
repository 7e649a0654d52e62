"""The API's paths: a new version is one edit; and all routes."""

from collections.abc import Iterator, Sequence

from django.urls import URLPattern, URLResolver

VERSION = "/public/v1"
TRACKING = f"{VERSION}/tracking"
PARCELS = f"{TRACKING}/parcels/"
SEARCH = f"{TRACKING}/search"
SHIPMENTS = f"{TRACKING}/shipments"
POINTS = f"{TRACKING}/pickup-points"


def patterns(entries: Sequence[URLPattern | URLResolver], start: str = "") -> Iterator[tuple[str, URLPattern]]:
    """Yield each route, whole, with its pattern."""
    for entry in entries:
        route = start + str(entry.pattern)
        yield from [(route, entry)] if isinstance(entry, URLPattern) else patterns(entry.url_patterns, route)

"""Validates http URLs."""

import re
from urllib.parse import urlsplit

USUAL = re.compile(r"https?://[a-z0-9.-]+/[A-Za-z0-9._/-]*")  # told without taking it apart: an import has millions


def is_http_url(text: str) -> bool:
    """Accept an http or https URL with a host and without blanks and control characters."""
    if USUAL.fullmatch(text):
        return True
    if re.search(r"[\s\x00-\x1f\x7f-\x9f]", text):
        return False
    try:
        parts = urlsplit(text)
        return parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:  # an incomplete IPv6 address, or a port that is no number or above 65535
        return False

"""The syntax of http URLs."""

import re
from urllib.parse import urlsplit


def is_http_url(text: str) -> bool:
    """Tell whether it is an http or https URL with a host, and free of blanks and control characters."""
    if re.search(r"[\s\x00-\x1f\x7f-\x9f]", text):
        return False
    try:
        parts = urlsplit(text)
        return parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:  # half an IPv6 address; a port above 65535, or one that is no number
        return False

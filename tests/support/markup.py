"""Parts of a page, found by XPath."""

from typing import Any

import lxml.html


def parsed(page: str) -> Any:
    """Parse a page, which an answer that leads elsewhere has none of; its element's searches have no useful types."""
    return lxml.html.document_fromstring(page or "<p>")

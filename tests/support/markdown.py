"""The repository's Markdown pages: their headings, under the anchors that their readers give them."""

import re
from pathlib import Path

CODE = re.compile(r"^```.*?^```", re.DOTALL | re.MULTILINE)
HEADING = re.compile(r"^#{1,4} (.+)$", re.MULTILINE)


def headings(page: Path) -> dict[str, str]:
    """Return the titles of a page's sections by their anchors."""
    text = CODE.sub("", page.read_text(encoding="utf-8"))
    return {re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-"): title for title in HEADING.findall(text)}

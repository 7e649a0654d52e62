"""The repository's Markdown pages: their headings, under the anchors that their readers give them."""

import re
from pathlib import Path

HEADING = re.compile(r"^#{1,4} (.+)$", re.MULTILINE)


def headings(page: Path) -> dict[str, str]:
    """Return the titles of a page's sections by their anchors."""
    titles = HEADING.findall(re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE))
    return {re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-"): title for title in titles}

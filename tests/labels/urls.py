"""The signed URLs of labels, followed with nothing but the URL."""

from dataclasses import dataclass
from urllib.parse import urlsplit

import requests

from tests.labels.orders import order, post
from tests.support.api import Caller, client


@dataclass(frozen=True)
class Fetched:
    """The answer to a request for a URL."""

    status: int
    headers: dict[str, str]
    content: bytes

    @property
    def is_pdf(self) -> bool:
        return b"%PDF-" in self.content


def fetch(url: str, method: str = "GET") -> Fetched:
    """Follow a URL with nothing but the URL, as a browser does."""
    if urlsplit(url).netloc == "testserver":
        own = client().generic(method, url.removeprefix("http://testserver"))
        return Fetched(own.status_code, {k.lower(): v for k, v in own.headers.items()}, own.content)
    response = requests.request(method, url, timeout=60, allow_redirects=False)
    return Fetched(response.status_code, {k.lower(): v for k, v in response.headers.items()}, response.content)


def bought(buyer: Caller) -> str:
    """Buy a label; return its URL."""
    url: str = post(buyer, order()).json()["labelUrl"]
    return url


def pages(pdf: bytes) -> int:
    import pypdfium2  # noqa: PLC0415 - it takes its time to load

    document = pypdfium2.PdfDocument(pdf)
    try:
        return len(document)
    finally:
        document.close()

"""PDFs are stored and fetched alike in a local folder and in a bucket."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from urllib.parse import parse_qsl, quote, unquote, urlsplit

import pytest
from django.core import signing

from labels.pdfs import storage
from tests.labels import buckets
from tests.labels.conftest import Sandbox, row
from tests.labels.urls import bought, fetch
from tests.support.api import Caller
from tests.support.paths import SHIPMENTS


def test_the_url_brings_the_pdf_under_a_sensible_name_and_tells_nobody_to_keep_it(
    kept: str, buyer: Caller, sandbox: Sandbox
) -> None:
    url = bought(buyer)
    for _ in range(2):
        got = fetch(url)
        assert got.status == 200
        assert got.headers["content-type"] == "application/pdf"
        assert got.headers["content-disposition"] == f'inline; filename="label-{row().id}.pdf"'
        assert got.headers["cache-control"] == "private, no-store"
        assert got.content.startswith(b"%PDF-")
        assert got.content.rstrip().endswith(b"%%EOF")
    number = sandbox.made()[0].tracking_number
    assert number not in url
    assert "/own/" not in url


def test_a_url_altered_in_any_place_brings_no_pdf(kept: str, buyer: Caller) -> None:
    url = bought(buyer)
    for position in what_is_signed(url):
        other = "1" if url[position] == "0" else "0"
        got = fetch(url[:position] + other + url[position + 1 :])
        assert (got.status in {400, 403, 404}, got.is_pdf) == (True, False), (position, url[position])
    assert fetch(url).is_pdf


def what_is_signed(url: str) -> Iterator[int]:
    """Each position in the path and in the values of the query, but for the algorithm: the test's server knows one."""
    path = urlsplit(url).path
    yield from range(
        url.index(path) + len("/files/" if path.startswith("/files/") else "/"), url.index(path) + len(path)
    )
    for name, value in parse_qsl(urlsplit(url).query):
        if name != "X-Amz-Algorithm":
            start = url.index(f"{name}={quote(value, safe='')}") + len(name) + 1
            yield from range(start, start + len(quote(value, safe="")))


@pytest.mark.parametrize("change", ["cut", "longer", "doubled", "swapped case"])
def test_a_url_of_another_length_or_case_brings_no_pdf(change: str, kept: str, buyer: Caller) -> None:
    url = bought(buyer)
    changed = {"cut": url[:-1], "longer": url + "0", "doubled": url + url[-20:], "swapped case": swapped(url)}[change]
    got = fetch(changed)
    assert (got.status, got.is_pdf) == (403, False)


def swapped(url: str) -> str:
    head, _, tail = url.rpartition("%3A" if "/files/" in url else "=")
    return head + ("%3A" if "/files/" in url else "=") + (tail.swapcase() if tail.swapcase() != tail else tail[::-1])


def test_a_signature_opens_no_other_label(kept: str, buyer: Caller) -> None:
    first, second = bought(buyer), bought(buyer)
    if kept == "folder":
        signed = [unquote(urlsplit(url).path).removeprefix("/files/").rsplit(":", 2) for url in (first, second)]
        mixed = "http://testserver/files/" + quote(":".join([signed[1][0], *signed[0][1:]]))
    else:
        mixed = first.replace(urlsplit(first).path, urlsplit(second).path)
    assert mixed not in {first, second}
    got = fetch(mixed)
    assert (got.status, got.is_pdf) == (403, False)


def test_a_url_signed_with_another_key_brings_no_pdf(kept: str, buyer: Caller) -> None:
    url = bought(buyer)
    if kept == "folder":
        stranger = signing.TimestampSigner(key="another key", salt="labels.storage")
        forged = "http://testserver/files/" + quote(stranger.sign(row().pdf_key))
    else:
        parts = urlsplit(url)
        signer = buckets.client(f"{parts.scheme}://{parts.netloc}", secret="another secret")
        params = {"Bucket": "labels", "Key": row().pdf_key}
        forged = signer.generate_presigned_url("get_object", Params=params, ExpiresIn=900)
        signer.close()
    got = fetch(forged)
    assert (got.status, got.is_pdf) == (403, False)


def test_without_a_signature_there_is_no_pdf_and_no_list(kept: str, buyer: Caller) -> None:
    url = bought(buyer)
    parts = urlsplit(url)
    base = f"{parts.scheme}://{parts.netloc}"
    root = "/files/" if kept == "folder" else "/labels/"
    key = row().pdf_key
    folders = [key.rsplit("/", depth)[0] + "/" for depth in (1, 2, 3, 4)]
    for path in ("", key, *folders, *(folder[:-1] for folder in folders), "?list-type=2", "?prefix=labels"):
        got = fetch(base + root + path)
        assert (got.status, got.is_pdf) == (403, False), path


@pytest.mark.parametrize("method", ["PUT", "POST", "DELETE", "PATCH"])
def test_a_url_is_for_reading_only(method: str, kept: str, buyer: Caller) -> None:
    url = bought(buyer)
    assert fetch(url, method).status in {403, 405}
    assert fetch(url).is_pdf


def signed_ago(seconds: float, kept: str, clock_of: pytest.MonkeyPatch) -> str:
    """The URL of the one label, signed this many seconds ago."""
    then = datetime.now(UTC) - timedelta(seconds=seconds)
    with clock_of.context() as patch:
        if kept == "folder":
            patch.setattr("django.core.signing.time.time", then.timestamp)
        else:
            patch.setattr("botocore.auth.get_current_datetime", lambda **_: then.replace(tzinfo=None))
        return storage.signed_url(row(), base_url="http://testserver/")


def test_a_url_is_valid_for_15_minutes(kept: str, buyer: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    bought(buyer)
    assert fetch(signed_ago(840, kept, monkeypatch)).is_pdf
    got = fetch(signed_ago(905, kept, monkeypatch))
    assert (got.status, got.is_pdf) == (403, False)
    assert fetch(buyer.get(f"{SHIPMENTS}/{row().id}").json()["labelUrl"]).is_pdf


def test_storing_a_pdf_again_changes_nothing(kept: str, buyer: Caller) -> None:
    url = bought(buyer)
    before = fetch(url).content
    storage.store(row(), before)
    assert fetch(url).content == before

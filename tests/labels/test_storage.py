"""PDFs are stored and fetched alike in a local folder and in a bucket."""

import socket
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from itertools import repeat
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, quote, unquote, urlsplit

import pytest
from botocore.config import Config
from django.core import signing
from django.core.files.storage import storages
from pytest_django.fixtures import Settings

from labels.lifecycle.reconciling import reconcile
from labels.models import LabelState
from labels.pdfs import storage
from labels.pdfs.bucket import LabelBucket
from tests.carriers.support.servers import LoopbackServer, Play, always, dripping, http
from tests.labels import buckets
from tests.labels.buckets import Bucket, keep_in
from tests.labels.conftest import Sandbox, assert_coded, row
from tests.labels.orders import order, post
from tests.labels.urls import bought, fetch
from tests.support.api import Caller
from tests.support.certificates import self_signed, server_context
from tests.support.paths import SHIPMENTS
from tests.support.waiting import WAIT_TIMEOUT_S, until


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
    assert storage.read(f"{row().pdf_key}0") is None


# A bucket that is down

DRIPS_S = 60.0  # a byte every 0.02 s
SILENCE_S = 0.5  # in which the request has been read, on a busy machine too


def silent(stream: socket.socket, request: bytes) -> bool:
    """Never answer; the connection ends with the server's."""
    stream.recv(1)
    return False


def bucket_that_is(play: Play, settings: Settings, server: LoopbackServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep PDFs in a bucket that is asked once, with a long timeout if it will answer."""
    server.play = play
    keep_in(settings, Bucket(server.url, "labels").environment, monkeypatch)
    labels = settings.STORAGES["labels"]
    read_timeout_s = SILENCE_S if play is silent else WAIT_TIMEOUT_S
    waits = Config(
        connect_timeout=WAIT_TIMEOUT_S,
        read_timeout=read_timeout_s,
        retries={"mode": "standard", "total_max_attempts": 1},
    )
    usual: Any = storages["labels"]
    options = labels["OPTIONS"] | {"client_config": usual.client_config.merge(waits)}
    settings.STORAGES = settings.STORAGES | {"labels": labels | {"OPTIONS": options}}
    made = storages["labels"]
    assert isinstance(made, LabelBucket)
    assert made.connection  # it takes long to make, on a busy machine longer than a purchase waits for the storage


def hang_up(stream: socket.socket, request: bytes) -> bool:
    return False


# What the log says of a bucket, and what the bucket does.
REFUSALS: list[tuple[str, Play]] = [
    ("ReadTimeoutError", silent),
    ("AccessDenied", always(http(b"<Error><Code>AccessDenied</Code></Error>", 403))),
    ("NoSuchBucket", always(http(b"<Error><Code>NoSuchBucket</Code></Error>", 404))),
    ("SlowDown", always(http(b"<Error><Code>SlowDown</Code></Error>", 503))),
    ("ClientError", always(http(b"<Error><Code>the key 'hunter2'</Code></Error>", 403))),
    ("502", always(http(b"<html>502", 502, "text/html"))),
    ("ConnectionClosedError", always(b"220 smtp.example.com\r\n")),
    ("ConnectionClosedError", hang_up),
]


def test_a_bucket_that_is_down_keeps_the_label_for_later(
    buyer: Caller,
    sandbox: Sandbox,
    settings: Settings,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    before = settings.STORAGES
    with LoopbackServer(silent) as server:
        for how, play in REFUSALS:
            bucket_that_is(play, settings, server, monkeypatch)
            server.requests.clear()
            caplog.clear()
            said = assert_coded(post(buyer, order(), key="k"), 500, "LABEL_STORAGE_UNAVAILABLE")
            assert row().id in said
            assert until(lambda: [each for each in server.requests if each.startswith(b"PUT /labels/labels/")]), how
            assert (row().state, len(sandbox.made())) == (LabelState.RECEIVED, 1)
            assert [vars(record)["reason"] for record in caplog.records if record.name == "labels.storage"] == [how]
        assert reconcile() == {LabelState.RECEIVED: 1}
    settings.STORAGES = before
    response = post(buyer, order(), key="k")
    assert (response.status_code, response["Idempotent-Replayed"]) == (201, "true")
    assert fetch(response.json()["labelUrl"]).is_pdf
    assert len(sandbox.made()) == 1


@pytest.mark.parametrize("url", ["http://127.0.0.1:9", "nowhere"], ids=["not there", "no URL"])
def test_a_bucket_that_can_not_be_asked_keeps_the_label_for_later(
    url: str, buyer: Caller, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    keep_in(settings, Bucket("http://127.0.0.1:9", "labels").environment, monkeypatch)
    labels = settings.STORAGES["labels"]
    options = labels["OPTIONS"] | {"endpoint_url": url}
    settings.STORAGES = settings.STORAGES | {"labels": labels | {"OPTIONS": options}}
    assert_coded(post(buyer, order(), key="k"), 500, "LABEL_STORAGE_UNAVAILABLE")
    assert row().state == LabelState.RECEIVED


def test_all_threads_ask_a_bucket_by_one_client(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    keep_in(settings, Bucket("http://127.0.0.1:9", "labels").environment, monkeypatch)
    bucket: Any = storages["labels"]
    client = bucket.connection.meta.client
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(lambda: bucket.connection.meta.client).result() is client
    assert client.meta.config.max_pool_connections == settings.SERVE_THREADS


@pytest.mark.parametrize("is_tls", [False, True])
def test_a_bucket_that_drips_ends_at_the_bound(
    is_tls: bool, buyer: Caller, settings: Settings, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    settings.STORAGE_TIMEOUT_S = storage.BACK_OFF_S + 0.7
    certificate = self_signed(tmp_path / "server.pem")
    tls = server_context(certificate) if is_tls else None
    with LoopbackServer(dripping(b"HTTP/1.1 200 OK\r\nX-Pad: ", repeat(b"x", 3000)), tls) as server:
        monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(certificate))
        bucket_that_is(server.play, settings, server, monkeypatch)
        started_at = time.monotonic()
        assert_coded(post(buyer, order(), key="k"), 500, "LABEL_STORAGE_UNAVAILABLE")
        assert time.monotonic() - started_at < DRIPS_S / 2
        assert until(lambda: [each for each in server.requests if each.startswith(b"PUT /labels/labels/")])
    assert row().state == LabelState.RECEIVED

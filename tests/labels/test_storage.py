"""Where PDFs are kept and how they are fetched: the same promises in a local folder and in a bucket."""

import re
import socket
import stat
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from urllib.parse import parse_qsl, quote, unquote, urlsplit

import pytest
import requests
from botocore.config import Config
from django.core import signing
from pytest_django.fixtures import Settings

from labels import storage
from labels.models import LabelState
from labels.reconciling import reconcile
from shops.paths import FILES
from tests.carriers.support.servers import LoopbackServer, Play, always, http, serving
from tests.labels import buckets
from tests.labels.buckets import Bucket, keep_in
from tests.labels.conftest import Sandbox, assert_coded, row
from tests.labels.orders import order, post
from tests.support.api import Caller, Clock, assert_error, client
from tests.support.paths import SHIPMENTS
from tests.support.waiting import WAIT_TIMEOUT_S, until

SILENCE_S = 2.0  # in which the request has been read, on a busy machine too
DISPOSITION = re.compile(r'inline; filename="label-[0-9A-Z]{15}\.pdf"')


@dataclass(frozen=True)
class Fetched:
    """What somebody got who followed a URL."""

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


# --- Both places ---


def test_the_url_brings_the_pdf_under_a_sensible_name_and_tells_nobody_to_keep_it(
    kept: str, buyer: Caller, sandbox: Sandbox
) -> None:
    url = bought(buyer)
    for _ in range(2):
        got = fetch(url)
        assert got.status == 200
        assert got.headers["content-type"] == "application/pdf"
        assert DISPOSITION.fullmatch(got.headers["content-disposition"])
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
    """The URL of the one label, signed so long ago."""
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


# --- The folder ---


def test_a_local_url_is_valid_for_900_seconds_and_not_for_901(buyer: Caller, clock: Clock) -> None:
    clock.now_s = float(int(clock.now_s))
    url = bought(buyer)
    clock.tick(900)
    assert fetch(url).status == 200
    clock.tick(1)
    response = client().get(url)
    assert_error(response, 403, "This link is altered or has expired. Retrieve the label for a new one.")


def test_a_local_url_begins_with_the_public_address(buyer: Caller, settings: Settings) -> None:
    assert bought(buyer).startswith("http://testserver/files/labels/")
    for base in ("https://labels.example.com", "https://labels.example.com/"):
        settings.PUBLIC_BASE_URL = base
        assert bought(buyer).startswith("https://labels.example.com/files/labels/")


def test_the_answer_of_the_folder_has_all_its_headers_and_is_not_counted(buyer: Caller) -> None:
    url = bought(buyer)
    response = client().get(url)
    assert response["X-Content-Type-Options"] == "nosniff"
    assert response["Content-Length"] == str(len(response.content))
    assert "RateLimit" not in response.headers
    head = client().head(url)
    assert (head.status_code, head.content, head["Content-Type"]) == (200, b"", "application/pdf")


TRAVERSAL = "../../etc/passwd"


@pytest.mark.parametrize(
    "path",
    [
        *(TRAVERSAL, "../" * 20 + "etc/passwd", "%2e%2e%2f%2e%2e%2fetc%2fpasswd", "..%2f..%2fetc/passwd"),
        *("%252e%252e%252fetc%252fpasswd", "..%5c..%5cetc%5cpasswd", "..%c0%af..%c0%afetc/passwd", "/etc/passwd"),
        *("%00", "labels%00.pdf", "x:y:z", "::", ":", "%ff%fe", "x" * 10_000, "%E2%80%AE", ".", "..", "%0a", ""),
    ],
)
def test_no_path_leads_out_of_the_folder_or_to_a_failure(path: str, db: None) -> None:
    message = "This link is altered or has expired. Retrieve the label for a new one."
    assert_error(client().get(f"/files/{path}"), 403, message)


def test_a_signed_name_out_of_the_folder_is_no_pdf_either(folder: Path) -> None:
    for name in (TRAVERSAL, "/etc/passwd", "labels/../../x"):
        response = client().get(FILES + quote(storage.signer.sign(name)))
        assert response.status_code in {400, 404}
        assert b"root:" not in response.content


def test_a_pdf_that_is_no_longer_kept_is_404(buyer: Caller, folder: Path) -> None:
    url = bought(buyer)
    (folder / row().pdf_key).unlink()
    assert_error(client().get(url), 404, "This label's PDF is no longer kept.")


def test_a_pdf_that_can_not_be_read_now_is_an_error_to_try_again_after(buyer: Caller, folder: Path) -> None:
    url = bought(buyer)
    pdf = folder / row().pdf_key
    content = pdf.read_bytes()
    pdf.unlink()
    pdf.mkdir()
    response = client().get(url)
    said = "This label's PDF is stored, but can't be read now. Try again, or retrieve the label later."
    assert assert_coded(response, 500, "LABEL_STORAGE_UNAVAILABLE") == said
    assert int(response["Retry-After"]) > 0
    pdf.rmdir()
    pdf.write_bytes(content)
    assert client().get(url).content == content


def test_an_attempt_that_fails_half_way_leaves_nothing_behind(
    buyer: Caller, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(descriptor: int) -> None:
        raise OSError("no space left")

    with monkeypatch.context() as patch:
        patch.setattr("labels.storage.os.fsync", fail)
        assert_coded(post(buyer, order(), key="k"), 500, "LABEL_STORAGE_UNAVAILABLE")
    assert [path for path in folder.rglob("*") if path.is_file()] == []
    assert fetch(post(buyer, order(), key="k").json()["labelUrl"]).is_pdf


def test_only_the_services_own_account_reads_the_folder(buyer: Caller, folder: Path) -> None:
    bought(buyer)
    paths = list(folder.rglob("*"))
    assert [path for path in paths if path.is_file()] == [folder / row().pdf_key]
    assert {stat.S_IMODE(path.stat().st_mode) & 0o077 for path in paths} == {0}


def test_a_pdfs_place_cannot_be_guessed(buyer: Caller) -> None:
    bought(buyer)
    first = row()
    assert re.fullmatch(rf"labels/\d{{4}}/\d\d/[A-Za-z0-9_-]{{43}}/label-{first.id}\.pdf", first.pdf_key)
    bought(buyer)
    assert len({label.pdf_secret for label in type(first).objects.all()}) == 2


def test_whoever_reads_while_a_pdf_is_stored_again_gets_all_of_it(buyer: Caller) -> None:
    url = bought(buyer)
    label, pdf = row(), fetch(url).content
    is_over = threading.Event()

    def store() -> None:
        while not is_over.is_set():
            storage.store(label, pdf)

    thread = threading.Thread(target=store, daemon=True)
    thread.start()
    try:
        assert {fetch(url).content for _ in range(100)} == {pdf}
    finally:
        is_over.set()
        thread.join(WAIT_TIMEOUT_S)


# --- A bucket that is down ---


def silent(stream: socket.socket, request: bytes) -> bool:
    """Never answer; the connection ends with the server's."""
    stream.recv(1)
    return False


def bucket_that_is(play: Play, settings: Settings, server: LoopbackServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep PDFs in a bucket that is asked once, and is waited for as long as it needs if it will answer."""
    server.play = play
    keep_in(settings, Bucket(server.url, "labels").environment, monkeypatch)
    labels = settings.STORAGES["labels"]
    read_timeout_s = SILENCE_S if play is silent else WAIT_TIMEOUT_S
    waits = Config(
        connect_timeout=WAIT_TIMEOUT_S,
        read_timeout=read_timeout_s,
        retries={"mode": "standard", "total_max_attempts": 1},
    )
    options = labels["OPTIONS"] | {"client_config": labels["OPTIONS"]["client_config"].merge(waits)}
    settings.STORAGES = settings.STORAGES | {"labels": labels | {"OPTIONS": options}}


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
    with serving(silent) as server:
        for how, play in REFUSALS:
            bucket_that_is(play, settings, server, monkeypatch)
            server.requests.clear()
            caplog.clear()
            said = assert_coded(post(buyer, order(), key="k"), 500, "LABEL_STORAGE_UNAVAILABLE")
            assert row().id in said
            assert until(lambda: server.requests)[0].startswith(b"PUT /labels/labels/"), how
            assert (row().state, len(sandbox.made())) == (LabelState.RECEIVED, 1)
            assert [vars(record)["reason"] for record in caplog.records if record.name == "labels.storage"] == [how]
        assert reconcile() == {LabelState.RECEIVED: 1}
    settings.STORAGES = before
    response = post(buyer, order(), key="k")
    assert (response.status_code, response["Idempotent-Replayed"]) == (201, "true")
    assert fetch(response.json()["labelUrl"]).is_pdf
    assert len(sandbox.made()) == 1


def test_a_bucket_that_is_not_there_keeps_the_label_for_later(
    buyer: Caller, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    keep_in(settings, Bucket("http://127.0.0.1:9", "labels").environment, monkeypatch)
    assert_coded(post(buyer, order(), key="k"), 500, "LABEL_STORAGE_UNAVAILABLE")
    assert row().state == LabelState.RECEIVED


def test_a_bucket_that_can_not_be_asked_keeps_the_label_for_later(
    buyer: Caller, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    keep_in(settings, Bucket("http://127.0.0.1:9", "labels").environment, monkeypatch)
    labels = settings.STORAGES["labels"]
    options = labels["OPTIONS"] | {"endpoint_url": "nowhere"}
    settings.STORAGES = settings.STORAGES | {"labels": labels | {"OPTIONS": options}}
    assert_coded(post(buyer, order(), key="k"), 500, "LABEL_STORAGE_UNAVAILABLE")
    assert row().state == LabelState.RECEIVED


@pytest.mark.real_services
def test_another_bucket_than_there_is_keeps_the_label_for_later(
    bucket: Bucket, buyer: Caller, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    keep_in(settings, bucket.environment | {"LABELS_BUCKET": "another"}, monkeypatch)
    assert_coded(post(buyer, order(), key="k"), 500, "LABEL_STORAGE_UNAVAILABLE")
    keep_in(settings, bucket.environment, monkeypatch)
    assert fetch(post(buyer, order(), key="k").json()["labelUrl"]).is_pdf

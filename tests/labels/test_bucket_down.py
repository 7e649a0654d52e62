"""A bucket that is down keeps a bought label for later."""

import socket
import time
from itertools import repeat
from pathlib import Path
from typing import Any

import pytest
from botocore.config import Config
from django.core.files.storage import storages
from pytest_django.fixtures import Settings

from labels.lifecycle.reconciling import reconcile
from labels.models import LabelState
from labels.pdfs import storage
from labels.pdfs.bucket import LabelBucket
from tests.carriers.support.servers import LoopbackServer, Play, always, dripping, http, serving
from tests.labels.buckets import Bucket, keep_in
from tests.labels.conftest import Sandbox, assert_coded, row
from tests.labels.orders import order, post
from tests.labels.urls import fetch
from tests.support.api import Caller
from tests.support.certificates import self_signed, server_context
from tests.support.waiting import WAIT_TIMEOUT_S, until

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
    with serving(silent) as server:
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


@pytest.mark.real_services
def test_another_bucket_than_there_is_keeps_the_label_for_later(
    bucket: Bucket, buyer: Caller, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    keep_in(settings, bucket.environment | {"LABELS_BUCKET": "another"}, monkeypatch)
    assert_coded(post(buyer, order(), key="k"), 500, "LABEL_STORAGE_UNAVAILABLE")
    keep_in(settings, bucket.environment, monkeypatch)
    assert fetch(post(buyer, order(), key="k").json()["labelUrl"]).is_pdf


@pytest.mark.parametrize("is_tls", [False, True])
def test_a_bucket_that_drips_ends_at_the_bound(
    is_tls: bool, buyer: Caller, sandbox: Sandbox, settings: Settings, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    settings.STORAGE_TIMEOUT_S = storage.BACK_OFF_S + 0.7
    certificate = self_signed(tmp_path / "server.pem")
    tls = server_context(certificate) if is_tls else None
    with serving(dripping(b"HTTP/1.1 200 OK\r\nX-Pad: ", repeat(b"x", 3000)), tls) as server:
        monkeypatch.setenv("AWS_CA_BUNDLE", str(certificate))
        bucket_that_is(server.play, settings, server, monkeypatch)
        started_at = time.monotonic()
        assert_coded(post(buyer, order(), key="k"), 500, "LABEL_STORAGE_UNAVAILABLE")
        assert time.monotonic() - started_at < DRIPS_S / 2
        assert until(lambda: [each for each in server.requests if each.startswith(b"PUT /labels/labels/")])
    assert row().state == LabelState.RECEIVED

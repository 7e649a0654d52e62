"""`manage.py serve` refuses to start with settings that can't work, and says why in one line."""

import os
import re
import socket

import pytest
from pytest_django.fixtures import Settings

from tests.shops.commands import refused, run_here
from tests.support.processes import free_port

pytestmark = pytest.mark.real_services


@pytest.mark.parametrize(
    ("carrier_s", "stop_s", "words"),
    [
        (40.0, 120, "STOP_TIMEOUT (120 s) has to be above 130 s: a purchase may take 115 s (CARRIER_TIMEOUT and 75 s)"),
        (20.0, 110, "STOP_TIMEOUT (110 s) has to be above 110 s: a purchase may take 95 s (CARRIER_TIMEOUT and 75 s)"),
    ],
)
def test_a_stop_that_would_cut_a_purchase_off_is_refused(
    carrier_s: float, stop_s: int, words: str, settings: Settings
) -> None:
    settings.CARRIER_TIMEOUT, settings.STOP_TIMEOUT, settings.GRACEFUL_TIMEOUT = carrier_s, stop_s, stop_s - 15
    assert words in refused("serve", f"--port={free_port()}")


def test_a_taken_port_is_refused_for_requests_and_for_metrics(settings: Settings) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert f"port {port} of 127.0.0.1 can't be used" in refused("serve", f"--port={port}")
        settings.METRICS_PORT = port
        assert f"port {port} of 127.0.0.1 can't be used" in refused("serve", f"--port={free_port()}")


@pytest.mark.parametrize(
    ("option", "said"),
    [
        ("--workers=0", "0 workers can't be served with: needs 1 to 1000"),
        ("--workers=1001", "1001 workers can't be served with: needs 1 to 1000"),
        ("--port=0", "port 0 can't be used: needs 1 to 65535"),
    ],
)
def test_a_number_out_of_range_is_refused(option: str, said: str) -> None:
    assert said in refused("serve", option)


@pytest.mark.parametrize("host", ["", "two words", "x" * 64 + ".example.com", "a..b"])
def test_a_host_that_is_none_is_refused_in_one_line(host: str) -> None:
    assert re.match(f"port [0-9]+ of {host} can't be used: .+", refused("serve", f"--host={host}"))


@pytest.mark.parametrize(
    ("place", "why"), [("/etc/passwd", "EACCES"), ("/proc/labels", "EACCES" if os.geteuid() else "ENOENT")]
)
def test_a_folder_that_can_not_be_written_to_is_refused(place: str, why: str, settings: Settings) -> None:
    folder = {"BACKEND": "labels.pdfs.folder.LabelFolder", "OPTIONS": {"location": place}}
    settings.STORAGES = settings.STORAGES | {"labels": folder}
    said = refused("serve", f"--port={free_port()}")
    assert f"LABELS_DIR needs a folder that the service may write to ({why})" in said


@pytest.mark.parametrize("folder", ["/etc/passwd/x", "/proc/self"])
def test_metrics_need_a_port_and_a_folder_of_their_own(
    folder: str, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.METRICS_PORT = port = free_port()
    assert f"METRICS_PORT is the public port {port}: it needs one of its own" in refused("serve", f"--port={port}")
    monkeypatch.setenv("PROMETHEUS_MULTIPROC_DIR", folder)
    monkeypatch.setattr("config.ops.serving.preload", lambda: pytest.fail("was not refused"))
    assert "PROMETHEUS_MULTIPROC_DIR can't be used" in refused("serve", f"--port={free_port()}")


def test_metrics_without_a_temporary_folder_are_one_line(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.METRICS_PORT = free_port()
    monkeypatch.delenv("PROMETHEUS_MULTIPROC_DIR", raising=False)
    monkeypatch.setattr("tempfile.tempdir", "/proc/self")  # as on a host whose file systems are read-only
    assert "PROMETHEUS_MULTIPROC_DIR can't be used: " in refused("serve", f"--port={free_port()}")


def test_a_refused_start_is_one_line(transactional_db: None) -> None:
    code, out, err = run_here("serve", "--workers", "0")
    assert (code, out) == (1, "")
    assert "0 workers can't be served with: needs 1 to 1000" in err.splitlines()[-1]

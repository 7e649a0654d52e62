"""`manage.py serve` refuses to start with settings that can't work, and says why in one line."""

import re
import socket

import pytest
from django.core.management import CommandError, call_command
from pytest_django.fixtures import Settings

from tests.support.processes import free_port, run_command

pytestmark = pytest.mark.real_services


@pytest.mark.parametrize(
    ("name", "value_s", "words"),
    [
        ("CARRIER_TIMEOUT", 40.0, "GRACEFUL_TIMEOUT (105 s) has to be above 115 s"),
        ("GRACEFUL_TIMEOUT", 95, "GRACEFUL_TIMEOUT (95 s) has to be above 95 s"),
        ("STOP_TIMEOUT", 105, "below STOP_TIMEOUT (105 s)"),
    ],
)
def test_timeouts_in_the_wrong_order_are_refused(name: str, value_s: float, words: str, settings: Settings) -> None:
    setattr(settings, name, value_s)
    with pytest.raises(CommandError, match=re.escape(words)):
        call_command("serve", port=free_port())


def test_a_taken_port_is_refused_for_requests_and_for_metrics(settings: Settings) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(CommandError, match=f"port {port} of 127.0.0.1 can't be used"):
            call_command("serve", port=port)
        settings.METRICS_PORT = port
        with pytest.raises(CommandError, match=f"port {port} of 127.0.0.1 can't be used"):
            call_command("serve", port=free_port())


@pytest.mark.parametrize(
    ("option", "said"),
    [
        ("--threads=-3", "-3 threads can't be served with: needs 1 to 1000"),
        ("--workers=0", "0 workers can't be served with: needs 1 to 1000"),
        ("--workers=1001", "1001 workers can't be served with: needs 1 to 1000"),
        ("--port=0", "port 0 can't be used: needs 1 to 65535"),
    ],
)
def test_a_number_out_of_range_is_refused(option: str, said: str) -> None:
    with pytest.raises(CommandError, match=said):
        call_command("serve", option)


FREE, ANOTHER = "a free port", "another free port"


@pytest.mark.parametrize(
    ("arguments", "settings", "said"),
    [
        (["--threads", "0"], {}, "0 threads can't be served with: needs 1 to 1000"),
        ([], {"LABELS_DIR": "/etc/passwd"}, "LABELS_DIR needs a folder that the service may write to (EACCES)"),
        ([], {"LABELS_DIR": "/proc/labels"}, "LABELS_DIR needs a folder that the service may write to (ENOENT)"),
        (["--port", FREE], {"METRICS_PORT": FREE}, f"METRICS_PORT is the public port {FREE}: it needs one of its own"),
        (
            ["--port", FREE],
            {"METRICS_PORT": ANOTHER, "PROMETHEUS_MULTIPROC_DIR": "/etc/passwd/x"},
            "PROMETHEUS_MULTIPROC_DIR can't be used",
        ),
    ],
)
def test_a_refused_start_is_one_line(
    arguments: list[str], settings: dict[str, str], said: str, transactional_db: None
) -> None:
    ports = {name: str(free_port()) for name in (FREE, ANOTHER)}
    words = [ports.get(word, word) for word in arguments]
    variables = {name: ports.get(value, value) for name, value in settings.items()}
    code, out, err = run_command("serve", *words, stdin=b"", **variables)
    assert (code, out) == (1, "")
    assert said.replace(FREE, ports[FREE]) in err.splitlines()[-1]

"""The command that runs the carriers' sandbox."""

import os
import re
import signal
import socket
import subprocess
import sys
from urllib.parse import urlsplit

import pytest
import requests

from tests.carriers.sandbox.control import URL_PATHS
from tests.config.test_settings import ROOT
from tests.shops.commands import refused
from tests.support.programs import ended

TIMEOUT_S = 60


@pytest.mark.parametrize(
    ("program", "signum"),
    [
        (["manage.py", "carrier_sandbox"], signal.SIGINT),
        (["manage.py", "carrier_sandbox"], signal.SIGTERM),
        (["-m", "carriers.sandbox"], signal.SIGTERM),
    ],
)
def test_it_serves_both_carriers_until_a_signal(program: list[str], signum: signal.Signals) -> None:
    arguments = [sys.executable, "-W", "error", *program, "--port", "0"]
    process = subprocess.Popen(
        arguments, cwd=ROOT, env=os.environ | {"DEBUG": "1"}, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    with ended(process):
        assert process.stderr is not None
        urls = [re.findall(r"http://127\.0\.0\.1:\d+\S*", process.stderr.readline())[0] for _ in URL_PATHS]
        assert [urlsplit(url).path for url in urls] == URL_PATHS
        assert requests.get(urls[URL_PATHS.index("/ledger")], timeout=TIMEOUT_S).json() == []
        process.send_signal(signum)
        out, err = process.communicate(timeout=TIMEOUT_S)
    assert (process.returncode, out, "Traceback" in err) == (0, "", False)


def test_a_port_in_use_is_one_clear_line() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        said = refused("carrier_sandbox", "--port", port)
    assert said.startswith(f"--host '127.0.0.1' --port {port} can't be used: ")
    assert said.endswith("in use")


@pytest.mark.parametrize("pace", ["0", "-1", "fast", "nan", "inf"])
def test_an_unusable_pace_is_one_clear_line(pace: str) -> None:
    assert refused("carrier_sandbox", "--pace", pace) == f"--pace {pace!r} is not a number above 0"


@pytest.mark.parametrize(
    "options", [("--port", "99999"), ("--port", "-1"), ("--host", "a..b"), ("--port", "x"), ("--host", "")]
)
def test_an_unusable_address_is_one_clear_line(options: tuple[str, str]) -> None:
    assert options[0] in refused("carrier_sandbox", *options)


def test_a_missing_requirement_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ["reportlab", *sys.modules]:
        if name.startswith("reportlab"):
            monkeypatch.setitem(sys.modules, name, None)
        if name.startswith("carriers.sandbox"):
            monkeypatch.delitem(sys.modules, name)
    said = "the sandbox needs reportlab, which requirements-demo.txt installs"
    assert refused("carrier_sandbox", "--port", "0") == said

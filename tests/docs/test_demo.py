"""The demo: its printed lines can be pasted, and it ends on SIGINT."""

import ctypes
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from textwrap import dedent

import pytest
import requests
from django.core.management import CommandError, call_command

from config.management.commands.demo import buy_label, seed_contracts, write_collection
from shops.contracts.models import CarrierContract
from tests.docs.conftest import Demo, read_until_ready, run
from tests.support.factories import ShopFactory
from tests.support.processes import ROOT, free_port, run_command
from tests.support.programs import ended
from tests.support.services import ENVIRONMENT

TIMEOUT_S = 60
STARTED_DEAF = ["sh", "-c", """trap '' INT; exec "$0" "$@" """, sys.executable, "manage.py", "demo"]


def test_the_printed_lines_can_be_pasted_and_their_output_kept(demo: Demo, tmp_path: Path, stand_in: str) -> None:
    lines = demo.printed.partition("terminal:\n")[2].partition("What else")[0]
    # Into a file that it might write over.
    run(["sh", "-euc", f"exec >log 2>&1\n{dedent(lines)}"], {"PATH": stand_in, "PYTHONUTF8": "1"}, tmp_path)
    output = (tmp_path / "log").read_text()
    assert output.startswith('{"id":"')  # nothing wrote over it
    assert output.count('"labelUrl":"') == 2
    assert '"message":' not in output
    assert '"productCode":"beta_point_retrait_france"' in output
    assert (tmp_path / "label.pdf").read_bytes().startswith(b"%PDF-")


def interrupt_another_thread(pid: int) -> None:
    """Send SIGINT to a thread other than the main one, so that it does not interrupt the main thread's wait."""
    # The main thread's id is the process's; those of others may be lower, once ids have begun anew.
    other = next(found for thread in Path(f"/proc/{pid}/task").iterdir() if (found := int(thread.name)) != pid)
    assert ctypes.CDLL(None).tgkill(pid, other, signal.SIGINT) == 0


def test_it_runs_where_debug_is_off_and_ends_at_ctrl_c_from_any_shell(tmp_path: Path) -> None:
    """A non-interactive shell starts its background processes with SIGINT ignored."""
    environment = {name: value for name, value in ENVIRONMENT.items() if name != "HTTPS"} | {
        "ALLOWED_HOSTS": "api.example.com",
        "DATABASE_URL": f"sqlite:///{tmp_path / 'demo.sqlite3'}",
        "LABELS_DIR": str(tmp_path / "labels"),
        "PYTHONUNBUFFERED": "1",
    }
    arguments = ["--port", str(free_port()), "--collection", str(tmp_path / "parcels.http")]
    with (
        (tmp_path / "log").open("wb") as log,
        ended(
            subprocess.Popen([*STARTED_DEAF, *arguments], cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=log)
        ) as process,
    ):
        url = re.findall(r"running at (\S+)\.", read_until_ready(process, tmp_path / "log"))[0]
        assert requests.get(f"{url}/livez", timeout=TIMEOUT_S).status_code == 200
        interrupt_another_thread(process.pid)
        while process.poll() is None:  # further signals, as make and `timeout` both pass one on, leave nothing running
            process.send_signal(signal.SIGTERM)
            time.sleep(0.001)
        out, _ = process.communicate(timeout=TIMEOUT_S)
    *received, blank, last = out.decode().splitlines()
    assert (process.returncode, blank, last) == (0, "", "The demonstration has ended.")
    assert all(line.startswith("webhook received: ") for line in received)
    assert (tmp_path / "log").read_text().startswith("DEBUG is off: ")
    with pytest.raises(requests.ConnectionError):
        requests.get(f"{url}/livez", timeout=TIMEOUT_S)


def test_what_it_can_not_begin_with_is_one_line_and_nothing_is_made(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    mode = tmp_path.stat().st_mode
    database = tmp_path / "demo.sqlite3"
    code, out, err = run_command(
        *("demo", "--port", str(free_port()), "--collection", tmp_path / "file/parcels.http"),
        DATABASE_URL=f"sqlite:///{database}",
        DEBUG="1",
    )
    assert (code, out) == (1, "")
    assert re.fullmatch("CommandError: --collection .*/file/parcels.http can't be written: .*\n", err)
    assert not database.exists()
    assert tmp_path.stat().st_mode == mode
    with pytest.raises(CommandError, match=r"--collection .* can't be written: "):
        write_collection(tmp_path)


@pytest.mark.parametrize("pace", ["fast", "0"])
def test_it_does_not_begin_with_another_pace_than_a_number(pace: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SANDBOX_PACE", pace)
    with pytest.raises(CommandError, match=f"^SANDBOX_PACE '{pace}' is not a number above 0$"):
        call_command("demo", "--port", str(free_port()))


def test_a_service_that_does_not_answer_is_one_line() -> None:
    with pytest.raises(CommandError, match=r"^the service at \S+ does not answer as it should: ConnectionError$"):
        buy_label(f"http://127.0.0.1:{free_port()}", "token")


def test_no_password_is_a_word_of_the_carriers(db: None) -> None:
    """Redaction would remove it from their messages."""
    ShopFactory(id="demo")
    seed_contracts("demo")
    passwords = [contract.credentials.password for contract in CarrierContract.objects.all()]
    assert len(passwords) == 2
    assert all(re.search(r"\d{6}", password) for password in passwords)

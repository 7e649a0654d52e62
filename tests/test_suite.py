"""The program that runs the suite ends what a test leaves behind; a run's last lines name what was not tested.

What migrations have made is there again after each test that removed it.
"""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from django.contrib.auth.models import Group
from django.core.management import call_command
from django.db import connection

from config.roles import ROLES
from tests.support import emptying
from tests.support.processes import ROOT
from tests.support.programs import NOT_INSTALLED, ended
from tests.support.summary import not_tested
from tests.support.waiting import WAIT_TIMEOUT_S, until

pytestmark = pytest.mark.any_database
PASSES = ("sqlite", "postgresql")
# Stands in for pytest: leaves a process of a session of its own and a file, then ends or waits.
LEAVES = """
import pathlib, subprocess, sys, tempfile, time
services = sys.argv[2]
print(f"output of {{services}}", flush=True)
tempfile.mkstemp()
left = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)", "left"], start_new_session=True)
pathlib.Path({folder!r}, services).write_text(f"{{left.pid}} {{tempfile.gettempdir()}}")
time.sleep({seconds})
"""
SUITE = """
import sys
from tests import __main__ as suite
suite.COMMAND, suite.ORPHANS_TIMEOUT_S = [sys.executable, "-c", sys.argv.pop()], 0.2
sys.exit(suite.main())
"""


def started(folder: Path, seconds: int) -> "subprocess.Popen[str]":
    program = LEAVES.format(folder=str(folder), seconds=seconds)
    return subprocess.Popen([sys.executable, "-c", SUITE, program], cwd=ROOT, stdout=subprocess.PIPE, text=True)


def assert_nothing_is_left(folder: Path) -> None:
    for services in PASSES:
        pid, temporary = (folder / services).read_text().split()
        assert temporary != os.environ.get("TMPDIR", "/tmp")
        assert not Path(temporary).exists()
        with pytest.raises(ProcessLookupError):
            os.kill(int(pid), 0)


def test_a_process_that_a_test_leaves_is_ended_and_is_a_failure(tmp_path: Path) -> None:
    with ended(started(tmp_path, seconds=0)) as process:
        out, _ = process.communicate(timeout=WAIT_TIMEOUT_S)
    assert process.returncode == 1
    assert out.count("left running: ") == 2  # one of each database
    assert out.startswith("output of sqlite\noutput of postgresql\n")
    assert_nothing_is_left(tmp_path)


@pytest.mark.parametrize("signum", [signal.SIGINT, signal.SIGTERM])
def test_nothing_is_left_of_an_interrupted_run(tmp_path: Path, signum: signal.Signals) -> None:
    files = [tmp_path / services for services in PASSES]
    with ended(started(tmp_path, seconds=600)) as process:
        until(lambda: all(file.exists() and file.read_text() for file in files))
        process.send_signal(signum)
        out, _ = process.communicate(timeout=WAIT_TIMEOUT_S)
    assert process.returncode == 128 + signum
    assert all(f"{services}: exit code " in out for services in PASSES)
    assert_nothing_is_left(tmp_path)


def skipped(nodeid: str, reason: str) -> pytest.TestReport:
    return pytest.TestReport(nodeid, ("", 1, ""), {}, "skipped", ("", 1, f"Skipped: {reason}"), "setup")


def test_an_environment_that_fails_to_be_made_is_made_anew(tmp_path: Path) -> None:
    python = tmp_path / "python"
    python.write_text('#!/bin/sh\ntest "$2" = venv || exit 0\nmkdir -p "$3/bin"\nln -sf "$0" "$3/bin/python"\nexit 1\n')
    python.chmod(0o755)
    make = ["make", "--file", f"{ROOT}/Makefile", f"PYTHON={python}", ".venv/bin/python"]
    assert [subprocess.run(make, cwd=tmp_path, check=False, capture_output=True).returncode for _ in range(2)] == [2, 2]


def test_what_was_not_tested_for_want_of_a_program_is_a_line_each() -> None:
    missing = f"php-cli{NOT_INSTALLED}"
    reports = [skipped("a.py::one", missing), skipped("b.py::one", "SQLite scans"), skipped("a.py::two[1]", missing)]
    assert list(not_tested(reports)) == ["php-cli is not installed: 2 tests skipped, of a.py"]


def test_a_run_without_a_timeout_waits_for_its_second_test_too(tmp_path: Path) -> None:
    """`python -m tests.models` plays for as long as it is told, in one test after the other."""
    file = tmp_path / "test_long.py"
    file.write_text("import time\ndef test_one(): time.sleep(1)\ndef test_two(): time.sleep(1)\n")
    options = ["-q", "-c", "pyproject.toml", "-o", "timeout=0.5", "--timeout", "0"]
    command = [sys.executable, "-m", "pytest", *options, str(file)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert "2 passed" in done.stdout, done.stdout


@pytest.mark.django_db(transaction=True)
def test_two_tests_in_turn_that_flush_leave_the_roles() -> None:
    for _ in range(2):
        call_command("flush", interactive=False, verbosity=0)
        emptying.empty(connection)
        assert set(Group.objects.values_list("name", flat=True)) == set(ROLES)

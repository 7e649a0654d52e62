"""The drills' short forms, on the database of the run."""

import subprocess
import sys

import pytest

from tests.processes import ROOT


def run(config: pytest.Config, *arguments: str) -> str:
    """Run a drill in a process of its own, which sets up its own services; return what it printed."""
    command = [sys.executable, "-m", *arguments, "--database", config.getoption("services")]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        try:
            output, _ = process.communicate(timeout=180)
        finally:
            process.terminate()
    assert process.returncode == 0, output
    return output


def test_a_service_killed_at_any_point_of_a_purchase_loses_no_label_and_buys_none_twice(
    pytestconfig: pytest.Config,
) -> None:
    output = run(pytestconfig, "tests.drills.kill", "--rounds", "1")
    assert "39 keys, 36 bought, 0 bought twice, 0 bought and unknown to us" in output

"""The contract's short form, on the database of the run; the long form is ``make contract``."""

import subprocess
import sys

import pytest

from tests.processes import ROOT

# What is met even in the short form: each success, and what only a running service can refuse.
MET = [
    "GET /public/v1/tracking/parcels/{trackingNumber} 200",
    "GET /public/v1/tracking/parcels/{trackingNumber} 404",
    "GET /public/v1/tracking/search 200",
    "GET /public/v1/tracking/search 400",
    "POST /public/v1/tracking/shipments 201",
    "POST /public/v1/tracking/shipments 400",
    "GET /public/v1/tracking/shipments/{labelId} 200",
    "GET /files/{signedName} 200",
]


def test_no_answer_is_outside_the_description(pytestconfig: pytest.Config) -> None:
    command = [sys.executable, "-m", "tests.contract", "--database", pytestconfig.getoption("services")]
    command += ["--examples", "10", "--phases", "examples,fuzzing,stateful"]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        try:
            output, _ = process.communicate(timeout=900)
        finally:
            process.terminate()
    assert process.returncode == 0, output
    for answer in MET:
        assert answer in output

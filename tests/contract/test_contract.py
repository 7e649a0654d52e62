"""The contract's short form, on the database of the run; the long form is ``make contract``."""

import pytest

from tests.support.processes import run_module

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
    options = ["--examples", "10", "--phases", "examples,fuzzing,stateful"]
    output = run_module("tests.contract", "--database", pytestconfig.getoption("services"), *options)
    for answer in MET:
        assert answer in output

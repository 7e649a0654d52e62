"""The short form, on the database of the run; the long form is ``make contract``."""

import pytest

from tests.support.paths import PARCELS, SEARCH, SHIPMENTS, TRACKING
from tests.support.processes import run_module

# Answers that even the short form meets: each success, and refusals that only a running service gives.
EXPECTED = [
    f"GET {PARCELS}{{trackingNumber}} 200",
    f"GET {PARCELS}{{trackingNumber}} 404",
    f"GET {SEARCH} 200",
    f"GET {SEARCH} 400",
    f"POST {SHIPMENTS} 201",
    f"POST {SHIPMENTS} 400",
    f"GET {SHIPMENTS}/{{labelId}} 200",
    f"GET {SHIPMENTS} 200",
    f"POST {SHIPMENTS}/{{labelId}}/cancel 200",
    f"GET {TRACKING}/events 200",
    f"POST {TRACKING}/webhooks 201",
    f"GET {TRACKING}/webhooks/{{webhookId}}/deliveries 200",
    "GET /files/{signedName} 200",
]


def test_no_answer_is_outside_the_description(pytestconfig: pytest.Config) -> None:
    options = ["--examples", "10", "--phases", "examples,fuzzing,stateful"]
    output = run_module("tests.contract", "--database", pytestconfig.getoption("services"), *options)
    for answer in EXPECTED:
        assert answer in output

"""Orders that are changed at a JSON path, and refused."""

import copy
from typing import Any

from labels.models import ShippingLabel
from tests.labels.conftest import Sandbox
from tests.labels.orders import PRODUCT, Json, post
from tests.support.api import Caller, assert_error

BETA = PRODUCT["beta"]
REQUIRED = "is required."
NUL = "must not contain a NUL character."
STRINGS = [
    *("orderId", "carrierCode", "productCode", "reference", "pickupPointCode", "destinationAddress.email"),
    *(
        f"{address}.{name}"
        for address in ("originAddress", "destinationAddress")
        for name in ("firstName", "lastName", "address1", "city", "zip", "countryCode", "phone")
    ),
]
Step = str | int


def changed(body: Json, path: str, value: Any) -> Json:
    """The order with another value at a JSON path; ``...`` takes it away."""
    body = copy.deepcopy(body)
    *outer, last = steps(path)
    inner: Any = body
    for step in outer:
        inner = inner[step]
    if value is ...:
        del inner[last]
    else:
        inner[last] = value
    return body


def steps(path: str) -> list[Step]:
    return [int(step) if step.isdigit() else step for step in path.replace("[", ".").replace("]", "").split(".")]


def assert_refused(caller: Caller, sandbox: Sandbox, body: Any, message: str) -> None:
    response = post(caller, body)
    assert_error(response, 400, message)
    assert sandbox.calls() == 0
    assert not ShippingLabel.objects.exists()

"""Bad types in a label order: a value of another JSON type is refused by its path."""

from typing import Any

import pytest

from tests.labels.bad_orders import STRINGS, assert_refused, changed
from tests.labels.conftest import Sandbox
from tests.labels.orders import order
from tests.support.api import Caller
from tests.support.cases import in_one_test

pytestmark = pytest.mark.any_database

EACH_TYPE: list[tuple[Any, str]] = [
    (None, "null"),
    (True, "a boolean"),
    (1, "an integer"),
    (1.5, "a number"),
    ("text", "a string"),
    ([], "an array"),
    ({}, "an object"),
]


def wrong(json_type: str, *right: str) -> list[tuple[Any, str]]:
    """A value of each other type, and what is said of it."""
    return [
        (value, "must not be null." if value is None else f"must be {json_type}, not {name}.")
        for value, name in EACH_TYPE
        if name not in right
    ]


WRONG_TYPES = [
    *((path, value, said) for path in STRINGS for value, said in wrong("a string", "a string")),
    *(
        (path, value, said)
        for path in ("originAddress", "destinationAddress", "parcels[0]")
        for value, said in wrong("an object", "an object")
    ),
    *(("parcels[0].weight", value, said) for value, said in wrong("a number", "an integer", "a number")),
    *(
        ("parcels", value, "must not be null." if value is None else f"must be an array, not {name}.")
        for value, name in EACH_TYPE
        if name != "an array"
    ),
]


@in_one_test("path, value, said", WRONG_TYPES)
def test_a_value_of_another_type_is_refused_by_its_path(
    path: str, value: Any, said: str, asker: Caller, sandbox: Sandbox
) -> None:
    assert_refused(asker, sandbox, changed(order("relais"), path, value), f"{path}: {said}")


@pytest.mark.parametrize(
    ("value", "name"), [([], "an array"), ("text", "a string"), (1, "an integer"), (True, "a boolean")]
)
def test_a_body_that_is_no_object_is_refused(value: Any, name: str, asker: Caller, sandbox: Sandbox) -> None:
    assert_refused(asker, sandbox, value, f"The JSON as a whole must be an object, not {name}.")


def test_a_body_that_is_null_is_refused(asker: Caller, sandbox: Sandbox) -> None:
    assert_refused(asker, sandbox, b"null", "The JSON as a whole must be an object, not null.")


def test_an_empty_object_lacks_all_that_is_required(asker: Caller, sandbox: Sandbox) -> None:
    names = ("orderId", "carrierCode", "productCode", "destinationAddress", "parcels")
    faults = " ".join(f"{name}: is required." for name in names)
    faults += " originAddress: is required, as the shop has no sender address of its own."
    assert_refused(asker, sandbox, {}, faults)


ADDRESS_FIELDS = ("firstName", "lastName", "address1", "city", "zip", "countryCode")


@pytest.mark.parametrize("address", ["originAddress", "destinationAddress"])
def test_an_address_needs_all_but_the_phone_and_the_email(address: str, asker: Caller, sandbox: Sandbox) -> None:
    said = " ".join(f"{address}.{name}: is required." for name in ADDRESS_FIELDS)
    assert_refused(asker, sandbox, changed(order(), address, {}), said)

"""Every failure of an order has its code and status, leaves the right things behind, and tells no secret."""

import logging
from pathlib import Path

import pytest
from pytest_django.fixtures import Settings

from config.docs.openapi.document import failures, source
from config.ops.logs import JsonFormatter
from labels.models import LabelState, ShippingLabel
from shops.api.errors.coded import CODES
from tests.labels.conftest import Sandbox, assert_coded
from tests.labels.error_cases import BETA, CASES, FAILED, HANGING_CASES, KEY, UNKNOWN, A, Case, World, magic
from tests.labels.orders import LINKED, order, personal_in, post, weighing
from tests.support.api import Caller
from tests.support.paths import SHIPMENTS

pytestmark = pytest.mark.any_database


@pytest.fixture
def world(buyer: Caller, sandbox: Sandbox, settings: Settings, folder: Path) -> World:
    return World(buyer, sandbox, settings, folder)


def test_every_code_has_a_case() -> None:
    buying = source()["paths"][SHIPMENTS]["post"]
    of_orders = {entry.code for entries in failures(buying).values() for entry in entries} - {None}
    assert {case.code for case in CASES.values()} == of_orders


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_every_failure_has_its_code_and_leaves_the_right_state(
    case: Case, world: World, caplog: pytest.LogCaptureFixture
) -> None:
    check(case, world, caplog)


@pytest.mark.usefixtures("short_timeout")
@pytest.mark.parametrize("case", HANGING_CASES.values(), ids=HANGING_CASES)
def test_a_carrier_that_hangs_is_an_unknown_outcome(case: Case, world: World, caplog: pytest.LogCaptureFixture) -> None:
    check(case, world, caplog)


def check(case: Case, world: World, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    case.change(world)
    response = post(world.buyer, case.body, key=case.key)
    message = assert_coded(response, case.status, case.code)
    assert CODES[case.code].statuses == (case.status,)

    labels = list(ShippingLabel.objects.all())
    assert [label.state for label in labels] == ([] if case.state is None else [case.state])
    assert len(world.sandbox.made()) == case.made
    if case.state in {FAILED, UNKNOWN, LabelState.INCOMPLETE}:
        (label,) = labels
        assert (label.error_code, label.error_message, label.error_status) == (case.code, message, case.status)
        assert label.idempotency_key == (KEY if case.keeps_key else None)
        assert label.finished_at is not None
        # The numbers that are known may be fewer than those that were made.
        assert set(label.tracking_numbers) <= {parcel.tracking_number for parcel in world.sandbox.made()}
    if case.state == LabelState.INCOMPLETE:
        assert labels[0].tracking_numbers == [parcel.tracking_number for parcel in world.sandbox.made()]

    if case.status == 502 and case.code.endswith("UNKNOWN"):
        assert "Retry only with the same Idempotency-Key" in message
    if case.code.endswith("_UNAVAILABLE") and case.state in {FAILED, None}:
        assert "a retry is safe" in message
    assert personal_in(message) == []
    assert personal_in("".join(f"{name}: {value}" for name, value in response.headers.items())) == []
    lines = [JsonFormatter().format(record) for record in caplog.records]
    assert [line for line in lines if personal_in(line)] == []
    assert [line for line in lines if world.buyer.token in line] == []


def test_a_refusal_tells_the_carriers_own_words(buyer: Caller) -> None:
    assert "Routing not found" in assert_coded(post(buyer, magic(A, "38")), 400, "ALPHA_ADDRESS_REJECTED")


@pytest.mark.parametrize("number", ["30009", "30204", "30401", "30500", "30000", "40015"])
def test_no_remedy_advises_to_order_parcels_again_that_were_made(number: str, buyer: Caller, sandbox: Sandbox) -> None:
    body = magic(LINKED, f"2 {number}", parcels=weighing(1, 1))
    first = post(buyer, body, key=KEY)
    assert "Some of its parcels were made before: do not order them again" in first.json()["message"]
    told = CODES[first.json()["code"]]
    assert "Where the message says that some parcels were made, do not order again" in told.remedy
    assert "Nothing was made" not in told.cause
    # The same request buys nothing; a corrected one would need a new key and buy the first parcel again.
    again = post(buyer, body, key=KEY)
    assert (again.status_code, again.json()["message"]) == (first.status_code, first.json()["message"])
    assert_coded(post(buyer, body | {"reference": "OK"}, key=KEY), 422, "IDEMPOTENCY_KEY_REUSED")
    assert len(sandbox.made()) == 1


def test_a_refusal_from_here_names_the_field(buyer: Caller, sandbox: Sandbox) -> None:
    body = order(BETA, destination={"address1": "x" * 36})
    message = assert_coded(post(buyer, body), 400, "BETA_ADDRESS_REJECTED")
    assert message.startswith("destinationAddress.address1: ")
    assert sandbox.calls() == 0


def test_an_order_without_a_key_is_not_told_to_retry_with_it(buyer: Caller) -> None:
    message = assert_coded(post(buyer, magic(A, "CLOSE")), 502, "ALPHA_OUTCOME_UNKNOWN")
    assert message.endswith(
        "It had no Idempotency-Key: do not order it again before we have told you what became of it."
    )


@pytest.mark.parametrize(
    ("product_code", "country_code", "zip_code"),
    [("relais", "DE", "10115"), ("shop2shop", "MC", "98000"), ("alpha_2shopdirect", "BE", "1000")],
)
def test_a_product_that_does_not_go_there_is_named_with_the_country(
    product_code: str, country_code: str, zip_code: str, buyer: Caller
) -> None:
    body = order(product_code, destination={"countryCode": country_code, "zip": zip_code})
    message = assert_coded(post(buyer, body), 400, "ALPHA_REQUEST_REJECTED")
    said = f"{product_code} does not go to {country_code}; order a product that does."
    assert message == f"destinationAddress.countryCode: {said}"

"""The header Ignored-Fields names what an order's label does without, on every answer whose body was read."""

from typing import Any

import pytest

from labels.models import LabelState, ShippingLabel
from shops.contracts.bulkhead import bulkhead
from shops.models import Shop
from tests.labels.bad_orders import BETA, changed
from tests.labels.factories import PDF
from tests.labels.orders import SENDER, Json, order, post
from tests.labels.test_customs import CUSTOMS, ITEM, NEW_YORK, WORLD
from tests.support.api import Caller, Response, assert_error
from tests.support.cases import in_one_test
from tests.support.paths import SHIPMENTS

pytestmark = pytest.mark.any_database

HEADER = "Ignored-Fields"
GOODS = {"customs": CUSTOMS | {"items": [ITEM], "dutiesPaidBySender": False}}
SIDES = [{"weight": 2, "length": 30, "width": 20, "height": 10}]
ALPHA_IGNORES = "customs.items[0].hsCode, customs.items[0].originCountry"
TO = "destinationAddress"
NUMBERED = [{"weight": 1, "reference": "A-1"}, {"weight": 1, "reference": "?"}]
OF_CUSTOMS = "customs.shippingCost, customs.invoiceNumber, customs.eori, customs.comments"


def ignored(answer: Response) -> str:
    name: str = answer.headers.get(HEADER, "")
    return name


@in_one_test("product_code, changes, named", [
        ("alpha-13", {}, ""),
        ("alpha-13", {"shipdate": "2026-11-23", "zebra": 1, "alien": None}, "shipdate, zebra, alien"),
        ("alpha-13", {"parcels": [{"weight": 1}, {"weight": 1, "a": 3, "b": {"c": 1}}]}, "parcels[1].a, parcels[1].b"),
        ("alpha-13", {"destination": {"state": "IDF"}}, "destinationAddress.state"),
        ("alpha-13", {"origin": {"email": "a@b.example"}}, "originAddress.email"),
        # Declared, and not needed there.
        ("alpha-13", {"pickupPointCode": "1234A"}, "pickupPointCode"),
        ("alpha-13", {"pickupPointCode": ""}, ""),
        ("alpha-13", {"destination": {"provinceCode": "NY"}}, "destinationAddress.provinceCode"),
        ("alpha-13", {"parcels": SIDES}, ""),
        ("alpha-13", GOODS, "customs"),
        ("alpha_express_world", GOODS | {"parcels": SIDES}, f"{ALPHA_IGNORES}, {OF_CUSTOMS}"),
        (BETA, {"pickupPointCode": "001234"}, "pickupPointCode"),
        (BETA, {"parcels": SIDES}, "parcels[0].length, parcels[0].width, parcels[0].height"),
        (BETA, GOODS, "customs"),
        (WORLD, GOODS, ""),
        (WORLD, GOODS | {"destination": {"provinceCode": "ZH"}}, "destinationAddress.provinceCode"),
        (WORLD, GOODS | {"destination": NEW_YORK}, ""),
        # Of symbols alone, where letters and digits are printed.
        ("alpha-13", {"destination": {"company": "***", "address2": "\u2013"}}, f"{TO}.company, {TO}.address2"),
        ("alpha-13", {"origin": {"company": "♥", "firstName": "."}}, "originAddress.firstName, originAddress.company"),
        ("alpha-13", {"destination": {"company": "n°5", "address2": "", "lastName": "Ж"}}, ""),
        ("alpha-13", {"reference": "#"}, "reference"),
        ("relais", {"reference": "#", "parcels": NUMBERED}, "reference, parcels[1].reference"),
        ("relais", {"destination": {"company": "***", "address2": "***"}}, ""),
        (BETA, {"destination": {"company": "&", "instructions": "♥ !"}}, f"{TO}.instructions"),
        (BETA, {"destination": {"instructions": "2!"}, "reference": "#"}, ""),
        # Of a customer at a pickup point nothing is told: it stays with the parcel's record.
        ("relais", {"destination": {"company": "Bougies", "address2": "Bâtiment C"}}, ""),
    ])  # fmt: skip
def test_what_is_unknown_or_not_needed_is_named(product_code: str, changes: Json, named: str, buyer: Caller) -> None:
    answer = post(buyer, order(product_code, **changes))
    assert answer.status_code == 201, answer.json()
    assert ignored(answer) == named
    assert (HEADER in answer.headers) == bool(named)


@pytest.mark.parametrize(
    ("home", "point", "named"),
    [("28012", "840101", "customs"), ("35002", "840101", "customs"), ("28012", "840102", ""), ("35002", "840102", "")],
)
def test_a_pickup_points_place_tells_whether_customs_are_needed(
    home: str, point: str, named: str, buyer: Caller
) -> None:
    place = {"countryCode": "ES", "zip": home, "city": "Madrid"}
    body = order("beta_point_retrait_europe", destination=place, pickupPointCode=point, **GOODS)
    checked, *bought = post(buyer, body, path=f"{SHIPMENTS}/check"), post(buyer, body, "k"), post(buyer, body, "k")
    assert [answer.status_code for answer in bought] == [201, 201], bought
    assert [ignored(answer) for answer in (checked, *bought)] == [named] * 3


@pytest.mark.parametrize(
    ("point", "changes", "named"),
    [
        ("840102", {"customs": CUSTOMS | {"dutiesPaidBySender": False}}, ""),  # without an item's hsCode
        ("840102", GOODS | {"reference": "FAULT 30600"}, ""),
        ("840102", GOODS | {"reference": "FAULT HTML503"}, ""),
        ("840101", GOODS | {"reference": "FAULT 30600"}, "customs"),
    ],
)
def test_a_pickup_points_place_tells_it_of_an_order_that_fails(
    point: str, changes: Json, named: str, buyer: Caller
) -> None:
    place = {"countryCode": "ES", "zip": "28012", "city": "Madrid"}
    body = order("beta_point_retrait_europe", destination=place, pickupPointCode=point, **changes)
    answers = [post(buyer, body, "k"), post(buyer, body, "k")]
    assert [answer.status_code >= 400 for answer in answers] == [True, True]
    assert [ignored(answer) for answer in answers] == [named] * 2


@pytest.mark.usefixtures("one_at_a_time")
@pytest.mark.parametrize(
    "state", [LabelState.CANCELLING, LabelState.CANCEL_UNKNOWN, LabelState.CANCELLED, LabelState.RECEIVED]
)
def test_a_pickup_points_place_tells_it_of_a_label_that_is_not_given(state: LabelState, buyer: Caller) -> None:
    """It was cancelled, or its PDF waits for the storage, and others are before this request."""
    place = {"countryCode": "ES", "zip": "28012", "city": "Madrid"}
    body = order("beta_point_retrait_europe", destination=place, pickupPointCode="840102", **GOODS)
    assert ignored(post(buyer, body, "k")) == ""
    ShippingLabel.objects.update(state=state, pdf=PDF)
    with bulkhead.enter("beta"):
        answer = post(buyer, body, "k")
    assert (answer.status_code, ignored(answer)) == (409, "")


@in_one_test(
    "name, shown",
    [
        ("a b", "a%20b"),
        ("a,b", "a%2Cb"),
        ("a~b", "a%7Eb"),
        ("50%", "50%25"),
        ("Œuf", "%C5%92uf"),
        ("a\r\nSet-Cookie: b", "a%0D%0ASet-Cookie%3A%20b"),
        ("a[0].b_c-d", "a[0].b_c-d"),
        ("", ""),
        ("x" * 5_000, "x" * 100),
        ("é" * 5_000, "%C3%A9" * 16),
    ],
)
def test_a_name_is_percent_encoded_and_cut(name: str, shown: str, asker: Caller) -> None:
    assert post(asker, {name: 1}).headers.get(HEADER, "") == shown


def test_at_most_twenty_are_named_in_the_body_s_order(asker: Caller) -> None:
    answer = post(asker, {f"field{number}": number for number in range(2_000)})
    assert ignored(answer) == ", ".join(f"field{number}" for number in range(20))


@pytest.mark.parametrize(("country_code", "named"), [("FR", "customs"), ("CH", f"{ALPHA_IGNORES}, {OF_CUSTOMS}")])
def test_a_sender_of_the_shop_s_own_tells_what_is_needed(country_code: str, named: str, buyer: Caller) -> None:
    Shop.objects.update(sender_address=SENDER | {"countryCode": country_code})
    body = changed(order("alpha_rapide_eco", **GOODS), "originAddress", ...)
    assert ignored(post(buyer, body)) == named


@pytest.mark.parametrize(
    ("body", "key", "status"),
    [
        (order(extra=1, parcels=[]), None, 400),
        (order(extra=1), "", 400),
        (order("alpha_express_world", extra=1, destination={"city": "☃"}), None, 400),
        (order(extra=1, reference="FAULT 33"), None, 400),
        (order(extra=1, reference="FAULT HTML503"), None, 502),
    ],
)
def test_an_error_names_them_too(body: Json, key: str | None, status: int, buyer: Caller) -> None:
    answer = post(buyer, body, key=key)
    assert (answer.status_code, ignored(answer)) == (status, "extra"), answer.json()


def test_a_replay_and_its_refusals_name_them_too(buyer: Caller) -> None:
    for body, status in ((order(extra=1), 201), (order(extra=1), 201), (order(extra=2), 422)):
        answer = post(buyer, body, key="k")
        assert (answer.status_code, ignored(answer)) == (status, "extra")


@in_one_test(
    "body, options",
    [
        (b'{"extra": 1', {}),
        (b"", {}),
        (b'["extra"]', {}),
        (b'{"extra": 1}', {"content_type": "text/plain"}),
        (b'{"extra": "' + b"x" * 70_000 + b'"}', {}),
    ],
)
def test_a_body_that_was_not_read_names_nothing(body: bytes, options: Any, asker: Caller) -> None:
    assert HEADER not in post(asker, body, **options).headers


def test_what_is_ignored_is_kept_nowhere(buyer: Caller) -> None:
    post(buyer, order(extra="canary-7", destination={"state": "canary-8"}))
    (row,) = ShippingLabel.objects.values()
    assert "canary" not in str(row)


# --- A name near that of a field ---


@in_one_test(
    "path, near",
    [
        ("destinationAddress", "destinationAdress"),
        ("destinationAddress", "DestinationAddress"),
        ("destinationAddress", "destination_address"),
        ("orderId", "orderID"),
        ("productCode", "product_code"),
        ("parcels", "parcel"),
        ("destinationAddress.countryCode", "countrycode"),
        ("destinationAddress.firstName", "first_name"),
        ("destinationAddress.address1", "adress1"),
        ("parcels[0].weight", "weigth"),
    ],
)
def test_a_missing_field_is_told_with_the_near_name_that_was_sent(path: str, near: str, asker: Caller) -> None:
    body = order()
    outer = body["parcels"][0] if "[" in path else body["destinationAddress"] if "." in path else body
    outer[near] = outer.pop(path.rpartition(".")[2])
    answer = post(asker, body)
    assert_error(answer, 400, f"{path}: is required; {near} was sent.")
    assert ignored(answer) == path.rpartition(".")[0] + "." * ("." in path) + near


@pytest.mark.parametrize("name", ["recipient", "x", "destinationAddress" * 9])
def test_a_name_that_is_not_near_is_not_told(name: str, asker: Caller) -> None:
    body = order()
    body[name] = body.pop("destinationAddress")
    assert_error(post(asker, body), 400, "destinationAddress: is required.")

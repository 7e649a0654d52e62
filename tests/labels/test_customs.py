"""An order's own customs declaration, province and sides: validated, kept, and given to the carrier's client."""

from decimal import Decimal
from typing import Any
from urllib.parse import unquote

import pytest
from django.utils import translation

from carriers.shipment import Customs, CustomsItem, Shipment
from labels import orders
from labels.lifecycle import notices
from labels.models import ShippingLabel
from shops.contracts.models import CarrierContract
from tests.carriers.sandbox.control import sold
from tests.labels.bad_orders import NUL, REQUIRED, assert_refused, changed
from tests.labels.conftest import Sandbox, assert_coded, row
from tests.labels.orders import LINKED, RECIPIENT, SENDER, Json, order, post, weighing
from tests.support.api import Caller, assert_error
from tests.support.cases import in_one_test
from tests.support.paths import SHIPMENTS

pytestmark = pytest.mark.any_database

WORLD = "beta_domicile_signature_monde"
ITEM: Json = {
    "description": "Bougies parfumées",
    "quantity": 2,
    "unitValue": 24.9,
    "hsCode": "340600",
    "originCountry": "BE",
    "weight": 0.45,
}
CUSTOMS: Json = {
    "items": [ITEM, {"description": "Savon", "quantity": 1, "unitValue": 4, "weight": 0.1}],
    "shippingCost": 18.5,
    "invoiceNumber": "F-1001",
    "eori": "FR12345678900012",
    "dutiesPaidBySender": True,
    "comments": "CANARYCOMMENTS",
}
NEW_YORK: Json = {
    "countryCode": "US",
    "zip": "10118",
    "city": "New York",
    "provinceCode": "NY",
    "phone": "+12125550100",
}


def abroad(**changes: Any) -> Json:
    """An order to the US, with all that is optional."""
    parcels = [{"weight": 1.25, "length": 30, "width": 20.1, "height": 1e-9}]
    return order(WORLD, destination=NEW_YORK, parcels=parcels) | {"customs": CUSTOMS} | changes


def test_the_declaration_reaches_the_client_and_is_kept(buyer: Caller, shipments: list[Shipment]) -> None:
    assert post(buyer, abroad()).status_code == 201
    (shipment,) = shipments
    assert shipment.customs == Customs(
        (
            CustomsItem("Bougies parfumées", 2, Decimal("24.9"), Decimal("0.45"), "340600", "BE"),
            CustomsItem("Savon", 1, Decimal(4), Decimal("0.1"), "", ""),
        ),
        shipping_cost_eur=Decimal("18.5"),
        invoice_number="F-1001",
        eori="FR12345678900012",
        comments="CANARYCOMMENTS",
        is_duties_paid_by_sender=True,
    )
    assert shipment.recipient.province_code == "NY"
    (package,) = shipment.packages
    assert (package.length_cm, package.width_cm, package.height_cm) == (30, 21, 1)
    label = row()
    assert label.sides_cm == [[30, 21, 1]]
    assert label.customs == CUSTOMS | {
        "items": [
            ITEM | {"unitValue": "24.9", "weight": "0.45"},
            CUSTOMS["items"][1] | {"unitValue": "4", "weight": "0.1", "hsCode": "", "originCountry": ""},
        ],
        "shippingCost": "18.5",
    }


def test_what_is_left_out_is_empty_and_the_postage_is_the_contracts(buyer: Caller, shipments: list[Shipment]) -> None:
    CarrierContract.objects.update(customs_shipping_cost_eur=Decimal("7.90"))
    body = abroad(customs={"items": [ITEM]}, parcels=weighing(0.5, 2))
    assert post(buyer, body).status_code == 201
    customs = shipments[0].customs
    assert customs is not None
    assert (customs.shipping_cost_eur, customs.eori, customs.is_duties_paid_by_sender) == (Decimal("7.90"), "", False)
    assert not customs.is_for_each_parcel
    CarrierContract.objects.update(customs_shipping_cost_eur=None)
    post(buyer, body)
    assert shipments[1].customs is not None
    assert shipments[1].customs.shipping_cost_eur == Decimal("0.01")


def test_one_parcel_may_have_sides_and_another_none(buyer: Caller, shipments: list[Shipment]) -> None:
    post(buyer, order(parcels=[{"weight": 1}, {"weight": 2, "length": 5}]))
    assert row().sides_cm == [[None, None, None], [5, None, None]]
    assert [package.length_cm for package in shipments[0].packages] == [None, 5]


def test_an_order_without_any_of_it_is_kept_as_before(buyer: Caller, shipments: list[Shipment]) -> None:
    assert post(buyer, order()).status_code == 201
    label = row()
    assert (label.customs, label.sides_cm, label.recipient, label.sender) == (None, [], RECIPIENT, SENDER)
    assert shipments[0].packages[0].length_cm is None
    contract = CarrierContract.objects.get(carrier_code="alpha")
    assert shipments[0].customs == contract.customs == orders.shipment(label, contract).customs


def test_the_order_s_own_declaration_stands_in_for_a_contract_s(buyer: Caller, shipments: list[Shipment]) -> None:
    CarrierContract.objects.update(customs_description="", customs_value_eur=None, customs_hs_code="")
    said = assert_coded(post(buyer, changed(abroad(), "customs", ...)), 400, "BETA_REQUEST_REJECTED")
    assert said.startswith("customs: is required for US")
    assert not ShippingLabel.objects.exists()
    assert post(buyer, abroad()).status_code == 201


def test_pieces_that_fit_in_no_parcel_are_refused_without_a_row(buyer: Caller, sandbox: Sandbox) -> None:
    customs = CUSTOMS | {"items": [ITEM | {"quantity": 1, "weight": 1.5}], "dutiesPaidBySender": False}
    body = abroad(parcels=weighing(1, 1), customs=customs)
    said = assert_coded(post(buyer, body), 400, "BETA_REQUEST_REJECTED")
    assert said == "customs.items: are heavier than the parcels they are in."
    assert (sandbox.calls(), ShippingLabel.objects.exists()) == (0, False)


@pytest.mark.parametrize(
    ("home", "point", "needs_customs"),
    [("35002", "840101", False), ("28012", "840102", True), ("35002", "840102", True)],
)
def test_of_a_pickup_product_the_points_place_decides(
    home: str, point: str, needs_customs: bool, buyer: Caller, sandbox: Sandbox
) -> None:
    CarrierContract.objects.update(customs_description="", customs_value_eur=None, customs_hs_code="")
    place = {"countryCode": "ES", "zip": home, "city": "Madrid"}
    body = order("beta_point_retrait_europe", destination=place, pickupPointCode=point)
    checked, bought = post(buyer, body, path=f"{SHIPMENTS}/check").json(), post(buyer, body)
    assert (checked["ok"], bought.status_code) == ((False, 400) if needs_customs else (True, 201))
    assert (checked["customsRequired"], sandbox.calls()) == (needs_customs, not needs_customs)
    if needs_customs:
        assert [problem["field"] for problem in checked["problems"]] == ["customs"]
        assert assert_coded(bought, 400, "BETA_REQUEST_REJECTED").startswith("customs: is required for ES")


def test_a_changed_declaration_is_another_body(buyer: Caller, shipments: list[Shipment]) -> None:
    assert post(buyer, abroad(), key="k").status_code == 201
    assert post(buyer, abroad(), key="k").status_code == 201
    other = changed(abroad(), "customs.items[0].unitValue", 25)
    assert_coded(post(buyer, other, key="k"), 422, "IDEMPOTENCY_KEY_REUSED")


def test_a_whole_number_with_a_decimal_point_is_the_same_body(buyer: Caller, shipments: list[Shipment]) -> None:
    whole, pointed = (changed(abroad(), "customs.items", [ITEM | each]) for each in COUNTS)
    first, again = post(buyer, whole, key="k"), post(buyer, pointed, key="k")
    assert (first.status_code, again.status_code) == (201, 201), again.json()
    assert (again.json()["id"], again.headers["Idempotent-Replayed"]) == (first.json()["id"], "true")
    assert post(buyer, pointed).status_code == 201
    assert shipments[0].customs == shipments[1].customs
    for name, value, said in (
        ("parcel", 1.0, f"{ITEM_PATH}.parcel: must be the index of a parcel, from 0 to 0."),
        ("quantity", 3.0, "customs.items: must not weigh more than the parcels."),
    ):
        assert_error(post(buyer, changed(pointed, f"{ITEM_PATH}.{name}", value)), 400, said)


COUNTS: list[Json] = [{"quantity": 2, "parcel": 0}, {"quantity": 2.0, "parcel": 0.0}]
EUROS = "must be above 0 and at most 1000000 euros."
KILOGRAMS = "must be above 0 and at most 30 kilograms."
CENTIMETRES = "must be above 0 and at most 300 centimetres."
COUNTRY = "must be an ISO 3166-1 alpha-2 country code in upper case."
HS_CODE = "must be 6, 8 or 10 digits."
EORI = "must be an EORI number, which begins with the two letters of its country."
PROVINCE = "must be the two letters of a state or province."
ITEM_PATH = "customs.items[0]"

BAD: list[tuple[str, Any, str]] = [
    ("customs", None, "must not be null."),
    ("customs", [], "must be an object, not an array."),
    ("customs", "x", "must be an object, not a string."),
    ("customs.items", ..., REQUIRED),
    ("customs.items", [], "must have 1 to 100 elements."),
    ("customs.items", [ITEM] * 101, "must have 1 to 100 elements."),
    ("customs.items", {}, "must be an array, not an object."),
    (ITEM_PATH, 5, "must be an object, not an integer."),
    *((f"{ITEM_PATH}.{name}", ..., REQUIRED) for name in ("description", "quantity", "unitValue", "weight")),
    *((f"{ITEM_PATH}.{name}", None, "must not be null.") for name in ITEM),
    *((f"{ITEM_PATH}.description", text, "must not be empty.") for text in ("", " \t")),
    (f"{ITEM_PATH}.description", "x" * 65, "must have at most 64 characters."),
    (f"{ITEM_PATH}.description", "a\0", NUL),
    *((f"{ITEM_PATH}.quantity", count, "must be from 1 to 999.") for count in (0, -1, 1000, 10**15)),
    *((f"{ITEM_PATH}.quantity", count, "must be an integer, not a number.") for count in (1.5, 1e300)),
    *((f"{ITEM_PATH}.quantity", count, "must be from 1 to 999.") for count in (0.0, -1.0, 1000.0)),
    (f"{ITEM_PATH}.quantity", "1", "must be an integer, not a string."),
    (f"{ITEM_PATH}.quantity", True, "must be an integer, not a boolean."),
    *((f"{ITEM_PATH}.unitValue", value, EUROS) for value in (0, -1, -0.0, 1e300, 1_000_001)),
    (f"{ITEM_PATH}.unitValue", "9.90", "must be a number, not a string."),
    *((f"{ITEM_PATH}.hsCode", code, HS_CODE) for code in ("3406", "3406000", "340600000", "34060000000"[:9], "34O600")),
    (f"{ITEM_PATH}.hsCode", "3406.00", HS_CODE),
    (f"{ITEM_PATH}.hsCode", "\u0663\u0664\u0660\u0666\u0660\u0660", HS_CODE),
    (f"{ITEM_PATH}.hsCode", 340600, "must be a string, not an integer."),
    (f"{ITEM_PATH}.originCountry", "be", f"{COUNTRY} Use BE."),
    *((f"{ITEM_PATH}.originCountry", code, COUNTRY) for code in ("XX", "", "BEL")),
    *((f"{ITEM_PATH}.weight", weight, KILOGRAMS) for weight in (0, -0.1, 30.1, 1e300)),
    ("customs.items[1].hsCode", "1", HS_CODE),
    *(("customs.shippingCost", value, EUROS) for value in (0, -5, 1e9)),
    ("customs.shippingCost", None, "must not be null."),
    ("customs.invoiceNumber", "x" * 36, "must have at most 35 characters."),
    ("customs.invoiceNumber", 5, "must be a string, not an integer."),
    *(("customs.eori", text, EORI) for text in ("12345678", "F", "fr123")),
    ("customs.dutiesPaidBySender", "true", "must be a boolean, not a string."),
    ("customs.dutiesPaidBySender", 1, "must be a boolean, not an integer."),
    ("customs.comments", "x" * 201, "must have at most 200 characters."),
    *(("destinationAddress.provinceCode", code, PROVINCE) for code in ("N", "N1", " N", "\u00c9E")),
    ("destinationAddress.provinceCode", "NYC", "must have at most 2 characters."),
    ("destinationAddress.provinceCode", 5, "must be a string, not an integer."),
    *(
        (f"parcels[0].{side}", value, CENTIMETRES)
        for side in ("length", "width", "height")
        for value in (0, -1, 300.1, 1e300)
    ),
    ("parcels[0].length", "30", "must be a number, not a string."),
    ("parcels[0].height", None, "must not be null."),
]


@in_one_test("path, value, said", BAD)
def test_a_bad_value_is_refused_by_its_path(path: str, value: Any, said: str, asker: Caller, sandbox: Sandbox) -> None:
    assert_refused(asker, sandbox, changed(abroad(), path, value), f"{path}: {said}")


@in_one_test(
    "items, parcels, is_refused",
    [
        ([(3, 0.5)], [1.5], False),
        ([(3, 0.5)], [1.499], True),
        ([(1, 0.1), (2, 0.1)], [0.1, 0.2], False),  # exact, not in binary fractions
        ([(1, 1), (1, 1)], [1, 0.9], True),
    ],
)
def test_goods_do_not_weigh_more_than_the_parcels(
    items: list[tuple[int, float]], parcels: list[float], is_refused: bool, buyer: Caller, shipments: list[Shipment]
) -> None:
    goods = [ITEM | {"quantity": quantity, "weight": weight} for quantity, weight in items]
    body = abroad(customs={"items": goods}, parcels=[{"weight": weight, "quantity": 99} for weight in parcels])
    response = post(buyer, body)
    if is_refused:
        assert_error(response, 400, "customs.items: must not weigh more than the parcels.")
    else:
        assert response.status_code == 201


@in_one_test(
    "path, value",
    [
        *((f"{ITEM_PATH}.hsCode", code) for code in ("", "340600", "34060000", "3406000000")),
        (f"{ITEM_PATH}.quantity", 1),
        ("customs.eori", ""),
        ("customs.eori", "FR12345678900012 GB123456789000"),
        ("customs.invoiceNumber", ""),
        ("customs.comments", ""),
        ("customs.items[0].extra", {"ignored": True}),
        ("destinationAddress.provinceCode", ""),
        ("parcels[0].length", 300),
    ],
)
def test_a_value_at_the_limit_is_taken(path: str, value: Any, buyer: Caller, shipments: list[Shipment]) -> None:
    assert post(buyer, changed(abroad(), path, value)).status_code == 201


def test_a_hundred_articles_are_declared_as_many_as_beta_takes(buyer: Caller, sandbox: Sandbox) -> None:
    names = [f"Bougie {number}" for number in range(100)]
    items = [ITEM | {"description": name, "quantity": 1, "weight": 0.01} for name in names]
    answer = post(buyer, order(WORLD, customs={"items": items}))
    assert answer.status_code == 201, answer.json()
    sent = sold(sandbox.server, answer.json()["trackingNumber"]).request["letter"]["customsDeclarations"]
    assert [article["description"] for article in sent["contents"]["article"]] == names


def test_a_province_is_sent_in_capital_letters(buyer: Caller, shipments: list[Shipment]) -> None:
    post(buyer, changed(abroad(), "destinationAddress.provinceCode", "ny"))
    assert shipments[0].recipient.province_code == row().recipient["provinceCode"] == "NY"


@pytest.mark.parametrize(
    ("faults", "named"),
    [(["", "NOCN23", ""], "parcel 2 (2 kg)"), (["NOCN23", "", "BADCN23"], "parcel 1 (1 kg), parcel 3 (3 kg)")],
)
def test_the_warning_names_the_parcels_without_a_customs_form(
    faults: list[str], named: str, buyer: Caller, sandbox: Sandbox
) -> None:
    parcels = [each | {"reference": f"FAULT {fault}"} for each, fault in zip(weighing(1, 2, 3), faults, strict=True)]
    answer = post(buyer, order(LINKED, parcels=parcels))
    assert answer.status_code == 201
    assert f"The customs form of {named} did not come with the label" in unquote(answer["Label-Warnings"])
    with translation.override("fr"):
        french = f"Sans déclaration douanière\N{NO-BREAK SPACE}: {named.replace('parcel', 'colis')}. "
        assert notices.worded(row().warnings[0]).startswith(french)
    assert list(ShippingLabel.objects.with_notice()) == [row()]

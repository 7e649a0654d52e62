"""The fields of an order beside the specification's are kept on the row and given to the carrier's client."""

from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest

from carriers import itinerary
from carriers.products import PRODUCTS
from carriers.shipment import Shipment
from labels.models import ShippingLabel
from tests.labels.bad_orders import BETA, NUL, assert_refused, changed
from tests.labels.conftest import Sandbox, row
from tests.labels.orders import LINKED, PRODUCT, SENDER, Json, order, post, weighing
from tests.labels.test_customs import ITEM, WORLD, abroad
from tests.support.api import Caller, assert_error, forget
from tests.support.cases import in_one_test

pytestmark = pytest.mark.any_database

FIRM: Json = {"company": "Bougies & Cie", "address2": "Bâtiment C, 3e étage"}


def test_all_that_an_order_says_reaches_the_client_and_the_row(buyer: Caller, shipments: list[Shipment]) -> None:
    today = itinerary.now().date()
    body = order(
        BETA,
        origin=FIRM,
        destination=FIRM | {"instructions": "Sonner deux fois"},
        parcels=[{"weight": 1, "reference": "CMD 1/2"}, {"weight": 2}],
        shipDate=today.isoformat(),
        insuredValue=149.9,
        labelFormat="A4",
    )
    assert post(buyer, body).status_code == 201
    (shipment,) = shipments
    for party in (shipment.sender, shipment.recipient):
        assert (party.company, party.address2) == ("Bougies & Cie", "Bâtiment C, 3e étage")
    assert [package.reference for package in shipment.packages] == ["CMD 1/2", ""]
    assert (shipment.ship_on, shipment.insured_value_eur) == (today, Decimal("149.9"))
    assert (shipment.instructions, shipment.label_format) == ("Sonner deux fois", "A4")
    label = row()
    assert (label.sender, label.recipient) == (body["originAddress"], body["destinationAddress"])
    assert (label.parcel_references, label.ship_on) == (["CMD 1/2", ""], today)
    assert (label.insured_value_eur, label.label_format) == (Decimal("149.90"), "A4")


def test_an_order_that_says_none_of_it_is_as_before(buyer: Caller, shipments: list[Shipment]) -> None:
    post(buyer, order(BETA))
    (shipment,) = shipments
    assert (shipment.ship_on, shipment.insured_value_eur, shipment.instructions) == (None, None, "")
    assert (shipment.label_format, shipment.packages[0].reference) == ("10x15", "")
    label = row()
    assert (label.parcel_references, label.ship_on, label.insured_value_eur, label.label_format) == ([], None, None, "")


def test_goods_may_name_their_parcels(buyer: Caller, shipments: list[Shipment]) -> None:
    items = [ITEM | {"parcel": 1}, ITEM | {"parcel": 0}]
    assert post(buyer, abroad(customs={"items": items}, parcels=[{"weight": 1}, {"weight": 1}])).status_code == 201
    assert shipments[0].customs is not None
    assert [item.parcel for item in shipments[0].customs.items] == [1, 0]
    assert [item["parcel"] for item in (row().customs or {})["items"]] == [1, 0]


DAY = "must be a day, YYYY-MM-DD."
EUROS = "must be above 0 and at most 20000 euros."
BAD: list[tuple[str, Any, str]] = [
    *(("shipDate", text, DAY) for text in ("", "20261123", "2026-11-3", "2026-02-30", "2026-W48-1", "23/11/2026")),
    ("shipDate", "2026-11-23T00:00:00", "must have at most 10 characters."),
    ("shipDate", "\u0662\u0660\u0662\u0666-11-23", DAY),
    ("shipDate", 20261123, "must be a string, not an integer."),
    ("shipDate", None, "must not be null."),
    *(("insuredValue", value, EUROS) for value in (0, -1, 20_000.01, 1e300)),
    *(("insuredValue", value, "must have at most two decimals.") for value in (0.001, 149.999, 1e-9)),
    ("insuredValue", "150", "must be a number, not a string."),
    *(("labelFormat", value, "must be one of 10x15, A4.") for value in ("", "a4", "10X15", "ZPL")),
    ("parcels[0].reference", "x" * 16, "must have at most 15 characters for beta."),
    ("parcels[0].reference", 5, "must be a string, not an integer."),
    *(
        (f"{address}.{name}", value, said)
        for address in ("originAddress", "destinationAddress")
        for name in ("company", "address2")
        for value, said in (
            (5, "must be a string, not an integer."),
            (None, "must not be null."),
            ("x" * 1001, "must have at most 1000 characters."),
            ("a\0", NUL),
        )
    ),
    ("destinationAddress.instructions", ["x"], "must be a string, not an array."),
    ("destinationAddress.instructions", "a\0", NUL),
]


@in_one_test("path, value, said", BAD)
def test_a_bad_value_is_refused_by_its_path(path: str, value: Any, said: str, asker: Caller, sandbox: Sandbox) -> None:
    assert_refused(asker, sandbox, changed(order(BETA), path, value), f"{path}: {said}")


@in_one_test("parcel", [-1, 99, 1.0, "0", None, True])
def test_a_parcel_of_goods_is_an_index(parcel: Any, asker: Caller) -> None:
    said = {-1: "must be from 0 to 98.", 99: "must be from 0 to 98."}
    answer = post(asker, changed(abroad(), "customs.items[0].parcel", parcel))
    assert answer.status_code == 400
    assert "customs.items[0].parcel: must " in answer.json()["message"]
    assert said.get(parcel, "") in answer.json()["message"]


def test_all_goods_name_their_parcel_or_none(asker: Caller, sandbox: Sandbox) -> None:
    items = [ITEM | {"parcel": 0}, ITEM, ITEM | {"parcel": 2}]
    body = abroad(customs={"items": items}, parcels=[{"weight": 2}, {"weight": 2}])
    missing = "customs.items[1].parcel: is required, as other items name their parcel."
    assert_refused(
        asker, sandbox, body, f"{missing} customs.items[2].parcel: must be the index of a parcel, from 0 to 1."
    )


def test_goods_that_fit_are_taken_in_any_order(buyer: Caller) -> None:
    heavy, light = ITEM | {"weight": 3, "quantity": 2}, ITEM | {"weight": 2, "quantity": 1}
    for items in ([light, heavy], [heavy, light]):
        body = order(WORLD, customs={"items": items}, parcels=[{"weight": 3}, {"weight": 5}])
        assert post(buyer, body).status_code == 201


def test_alpha_weighs_no_goods(buyer: Caller) -> None:
    body = order(
        "alpha_express_world", customs={"items": [ITEM | {"quantity": 1, "weight": 3}]}, parcels=[{"weight": 2}] * 2
    )
    assert post(buyer, body).status_code == 201


def test_a_replay_is_not_refused_for_a_day_that_is_over(
    buyer: Caller, sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    today = itinerary.now()
    body = order(shipDate=today.date().isoformat())
    first = post(buyer, body, key="k")
    assert first.status_code == 201
    monkeypatch.setattr(itinerary, "now", lambda: today + timedelta(days=1))
    again = post(buyer, body, key="k")
    assert (again.status_code, again.json()["id"]) == (201, first.json()["id"])
    assert again["Idempotent-Replayed"] == "true"
    assert post(buyer, body, key="other").json()["message"].startswith("shipDate: must be today's date")
    assert len(sandbox.made()) == 1


# --- Phone numbers ---

FICTION = "06 39 98 00 11"  # possible, and nobody's


def test_a_french_number_is_sent_as_such_overseas(buyer: Caller, shipments: list[Shipment]) -> None:
    assert post(buyer, order(LINKED, destination={"phone": "06 99 00 11 22"})).status_code == 201
    assert shipments[0].recipient.phone == row().recipient["phone"] == "+33699001122"


@pytest.mark.parametrize("address", ["originAddress", "destinationAddress"])
def test_a_french_number_in_belgium_is_refused_with_advice(address: str, asker: Caller, sandbox: Sandbox) -> None:
    body = changed(order("beta_domicile_signature_europe"), f"{address}.countryCode", "BE")
    said = f"{address}.phone: must be a phone number. Write +33 6 99 00 11 22 if it is French."
    assert_refused(asker, sandbox, changed(body, f"{address}.phone", "06 99 00 11 22"), said)


@pytest.mark.parametrize("product_code", ["alpha-13", BETA])
def test_a_number_that_is_nobody_s_is_taken_to_a_home(product_code: str, buyer: Caller) -> None:
    assert post(buyer, order(product_code, destination={"phone": FICTION})).status_code == 201


@in_one_test("code", [code for code, product in PRODUCTS.items() if product.needs_pickup_point])
def test_a_number_that_is_nobody_s_is_refused_at_a_pickup_point(code: str, asker: Caller, sandbox: Sandbox) -> None:
    said = f"destinationAddress.phone: must be a number that exists for {code}."
    assert_refused(asker, sandbox, order(code, destination={"phone": "+33639980011"}), said)


# What the carriers print

CARRIERS = sorted(PRODUCT)


@pytest.mark.parametrize(("origin", "printed"), [(..., "1 quai des Brumes"), (SENDER, "3 rue de l Eglise")])
def test_an_order_without_an_origin_is_sent_from_the_shops_own_address(
    origin: Any, printed: str, buyer: Caller, sandbox: Sandbox
) -> None:
    buyer.shop.sender_address = SENDER | {"address1": "1 quai des Brumes"}
    buyer.shop.save()
    assert post(buyer, changed(order(), "originAddress", origin)).status_code == 201
    assert row().sender == (buyer.shop.sender_address if origin is ... else SENDER)
    assert printed in sandbox.printed(sandbox.made()[0]).sender


def test_a_missing_sender_or_a_day_that_is_over_is_reported_along_with_the_other_faults(asker: Caller) -> None:
    body = order(orderId=1, parcels=weighing(31), shipDate="2026-01-31")
    del body["originAddress"]
    too_heavy = "parcels[0].weight: must be above 0 and at most 30 kilograms."
    faults = f"orderId: must be a string, not an integer. {too_heavy}"
    faults += " shipDate: must be today's date in Europe/Paris: alpha takes no later day."
    message = f"{faults} originAddress: is required, as the shop has no sender address of its own."
    assert_error(post(asker, body), 400, message)
    asker.shop.sender_address = SENDER
    asker.shop.save()
    forget()
    assert_error(post(asker, body), 400, faults)


# --- What is written on it ---


def test_accents_are_stripped_for_alpha_and_kept_for_beta(buyer: Caller, sandbox: Sandbox) -> None:
    for product_code in PRODUCT.values():
        assert post(buyer, order(product_code)).status_code == 201
    alpha, beta = (" ".join(sandbox.printed(parcel).recipient) for parcel in sandbox.made())
    assert "Soren Grunwald" in alpha
    assert "128 boulevard Oedipe" in alpha
    assert "Grünwald" in beta
    assert "128 boulevard Œdipe" in beta


@pytest.mark.parametrize("carrier_code", CARRIERS)
def test_the_reference_is_printed(carrier_code: str, buyer: Caller, sandbox: Sandbox) -> None:
    reference = {"alpha": "R" * 35, "beta": "R" * 15}[carrier_code]
    post(buyer, order(PRODUCT[carrier_code], reference=reference))
    assert sandbox.printed(sandbox.made()[0]).reference == reference


def test_without_a_reference_beta_prints_the_labels_id(buyer: Caller, sandbox: Sandbox) -> None:
    body = order(PRODUCT["beta"])
    del body["reference"]
    assert post(buyer, body).status_code == 201
    assert sandbox.printed(sandbox.made()[0]).reference == row().id


SPACES_AND_DASHES = (
    *"\u0020\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000",
    *"\t\n\r\u000b\u000c\u0085\u2028\u2029\u200b\u2060\ufeff\u00ad\u200e\u202a",
    *"-\u2010\u2011\u2012\u2013\u2014\u2015\u2212\u2043\u02d7\u2027\ufe58\ufe63\uff0d\u2e3a\u301c\u30fc.",
)


def test_a_phone_may_have_any_space_or_dash_in_it(asker: Caller) -> None:
    for character in SPACES_AND_DASHES:
        phone = {"phone": character.join(["06", "12", "34", "56", "78"])}
        response = post(asker, order(orderId="", origin=phone, destination=phone))
        # The order's id is the only fault.
        assert response.json()["message"] == "orderId: must not be empty.", f"U+{ord(character):04X}"


@in_one_test(
    "country_code, phone, expected",
    [
        ("FR", "0699001122", "+33699001122"),
        ("FR", " 06.99.00.11.22 ", "+33699001122"),
        ("FR", "06\u202f99\u201100\u00ad11\u202822", "+33699001122"),
        ("FR", "\u206006\u204399\t00\u300011\u221222\n", "+33699001122"),
        ("FR", "+33 (0)6 99 00 11 22", "+33699001122"),
        ("FR", "0033 6 99 00 11 22", "+33699001122"),
        ("FR", "33699001122", "+33699001122"),
        ("FR", "\uff0b33\u3000699001122", "+33699001122"),
        ("FR", "\u0660\u0666\u0669\u0669\u0660\u0660\u0661\u0661\u0662\u0662", "+33699001122"),
        ("FR", "tel:+33-6-99-00-11-22", "+33699001122"),
        ("FR", "(06) 99/00/11/22", "+33699001122"),
        ("FR", "+49 30 901820", "+4930901820"),
        ("DE", "030 901820", "+4930901820"),
        ("BE", "0470 12 34 56", "+32470123456"),
    ],
)
@in_one_test("carrier_code", CARRIERS)
def test_a_phone_reaches_the_carrier_as_e164(
    carrier_code: str, country_code: str, phone: str, expected: str, buyer: Caller, sandbox: Sandbox
) -> None:
    product_code = {"alpha": "alpha-13" if country_code == "FR" else "alpha_rapide_eco", "beta": "beta"}[carrier_code]
    zip_code = {"FR": "75011", "DE": "10115", "BE": "1000"}[country_code]
    place = {"countryCode": country_code, "zip": zip_code, "phone": phone}
    response = post(buyer, order(product_code, destination=place, origin={"phone": "04 72 00 11 22"}))
    assert response.status_code == 201, response.json()
    label = ShippingLabel.objects.get(id=response.json()["id"])
    assert (label.sender["phone"], label.recipient["phone"]) == ("+33472001122", expected)
    assert sandbox.printed(sandbox.made(label.id)[0]).phone == expected


@pytest.mark.parametrize("carrier_code", CARRIERS)
@pytest.mark.parametrize("phone", [None, "", "   "])
def test_a_phone_may_be_left_out(phone: str | None, carrier_code: str, buyer: Caller, sandbox: Sandbox) -> None:
    body = order(PRODUCT[carrier_code])
    for name in ("originAddress", "destinationAddress"):
        if phone is None:
            del body[name]["phone"]
        else:
            body[name]["phone"] = phone
    assert post(buyer, body).status_code == 201
    assert (row().sender["phone"], row().recipient["phone"]) == ("", "")
    assert sandbox.printed(sandbox.made()[0]).phone == ""

"""The sender, the reference and the phone of an order, as the carriers print and get them."""

import pytest

from tests.labels.conftest import Sandbox, row
from tests.labels.orders import PRODUCT, SENDER, order, post, weighing
from tests.support.api import Caller, assert_error, forget

pytestmark = pytest.mark.any_database

CARRIERS = sorted(PRODUCT)


def test_a_label_without_an_origin_is_sent_from_the_shops_own_address(buyer: Caller, sandbox: Sandbox) -> None:
    buyer.shop.sender_address = SENDER | {"address1": "1 quai des Brumes"}
    buyer.shop.save()
    body = order()
    del body["originAddress"]
    assert post(buyer, body).status_code == 201
    assert row().sender == buyer.shop.sender_address
    assert "1 quai des Brumes" in sandbox.printed(sandbox.made()[0]).sender


def test_an_origin_in_the_order_comes_before_the_shops_own_address(buyer: Caller, sandbox: Sandbox) -> None:
    buyer.shop.sender_address = SENDER | {"address1": "1 quai des Brumes"}
    buyer.shop.save()
    assert post(buyer, order()).status_code == 201
    assert row().sender == SENDER
    assert "3 rue de l Eglise" in sandbox.printed(sandbox.made()[0]).sender


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


@pytest.mark.parametrize(
    ("country_code", "phone", "expected"),
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
@pytest.mark.parametrize("carrier_code", CARRIERS)
def test_a_phone_reaches_the_carrier_as_e164(
    carrier_code: str, country_code: str, phone: str, expected: str, buyer: Caller, sandbox: Sandbox
) -> None:
    product_code = {"alpha": "alpha-13" if country_code == "FR" else "alpha_rapide_eco", "beta": "beta"}[carrier_code]
    zip_code = {"FR": "75011", "DE": "10115", "BE": "1000"}[country_code]
    place = {"countryCode": country_code, "zip": zip_code, "phone": phone}
    response = post(buyer, order(product_code, destination=place, origin={"phone": "04 72 00 11 22"}))
    assert response.status_code == 201, response.json()
    label = row()
    assert (label.sender["phone"], label.recipient["phone"]) == ("+33472001122", expected)
    assert sandbox.printed(sandbox.made()[0]).phone == expected


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

"""A shop's contracts decide what it may buy, and with which codes and names."""

from typing import Any

import pytest
from django.db import IntegrityError, transaction
from pytest_django.fixtures import Settings

from carriers.products import PRODUCTS
from labels.models import ShippingLabel
from shops.contracts import clients
from shops.contracts.models import CarrierContract
from tests.carriers.support.servers import MULTIPART, LoopbackServer, always, answer_file, http
from tests.labels.conftest import Sandbox, assert_coded, row
from tests.labels.factories import ContractFactory
from tests.labels.orders import PRODUCT, SENDER, order, post
from tests.support.api import Caller, assert_error

CARRIERS = sorted(PRODUCT)


@pytest.mark.parametrize("has_contract", [False, True])
@pytest.mark.parametrize("carrier_code", CARRIERS)
def test_a_product_of_no_contract_is_not_bought(
    carrier_code: str, has_contract: bool, own: Caller, other: Caller, sandbox: Sandbox
) -> None:
    ContractFactory(shop=other.shop, carrier_code=carrier_code)
    for other_carrier in set(CARRIERS) - {carrier_code}:
        ContractFactory(shop=own.shop, carrier_code=other_carrier)
    if has_contract:
        mine = ContractFactory(shop=own.shop, carrier_code=carrier_code)
        del mine.products[PRODUCT[carrier_code]]
        mine.save()
    response = post(own, order(PRODUCT[carrier_code]), key="k")
    said = (
        f"The product {PRODUCT[carrier_code]} is not activated on the shop's {carrier_code} contract."
        " Have it activated, or order another product."
    )
    assert assert_coded(response, 400, f"{carrier_code.upper()}_PRODUCT_NOT_IN_CONTRACT") == said
    assert (sandbox.calls(), ShippingLabel.objects.count()) == (0, 0)


def test_a_product_of_the_other_carrier_is_in_no_contract(own: Caller) -> None:
    every = dict.fromkeys(PRODUCTS)
    made = {
        carrier_code: ContractFactory(shop=own.shop, carrier_code=carrier_code, products=every)
        for carrier_code in CARRIERS
    }
    for code, product in PRODUCTS.items():
        assert [carrier for carrier in CARRIERS if made[carrier].has_product(code)] == [product.carrier]


def test_a_bad_body_is_told_before_a_missing_contract(own: Caller) -> None:
    assert_error(post(own, order(orderId="")), 400, "orderId: must not be empty.")


@pytest.mark.parametrize(
    ("product_code", "override", "bought"),
    [
        ("alpha-13", None, "01 0"),
        ("alpha-13", {"carrier_code": "16", "service": ""}, "16 0"),
        ("alpha-13", {"carrier_code": "01", "service": "6"}, "01 6"),
        ("beta_domicile_sans_signature_france", None, "DOM"),
        ("beta_domicile_sans_signature_france", {"carrier_code": "DOS", "service": ""}, "DOS"),
    ],
)
def test_the_contracts_codes_reach_the_carrier(
    product_code: str, override: Any, bought: str, buyer: Caller, sandbox: Sandbox
) -> None:
    CarrierContract.objects.filter(carrier_code=PRODUCTS[product_code].carrier).update(
        products={product_code: override}
    )
    assert post(buyer, order(product_code)).status_code == 201
    assert sandbox.made()[0].product_code == bought


@pytest.mark.parametrize("product_code", ["beta", "beta_domicile_signature_monde", "alpha_express_world"])
def test_customs_come_from_the_contract_and_without_them_nothing_is_asked_or_written(
    product_code: str, buyer: Caller, sandbox: Sandbox
) -> None:
    body = order(product_code, destination={"countryCode": "CH", "zip": "8001"})
    assert post(buyer, body).status_code == 201
    CarrierContract.objects.update(customs_description="", customs_value_eur=None, customs_hs_code="")
    carrier_code = body["carrierCode"].upper()
    said = assert_coded(post(buyer, body, key="k"), 400, f"{carrier_code}_REQUEST_REJECTED")
    assert said.startswith("customs: is required for CH")
    assert (len(sandbox.made()), sandbox.calls(), ShippingLabel.objects.count()) == (1, 1, 1)


@pytest.mark.parametrize("blank", ["", " ", "\u200b"])
def test_a_blank_company_is_no_commercial_name(blank: str, buyer: Caller) -> None:
    CarrierContract.objects.update(commercial_name="")
    assert post(buyer, order("beta_point_retrait_france", origin={"company": blank})).status_code == 201


def test_beta_is_told_the_contracts_commercial_name_and_key(buyer: Caller, settings: Settings) -> None:
    with LoopbackServer(always(http(answer_file("beta_parcel_1.multipart"), content_type=MULTIPART))) as server:
        settings.CARRIER_ENDPOINTS = settings.CARRIER_ENDPOINTS | {"beta": {"url": server.url}}
        clients.client.cache_clear()
        CarrierContract.objects.filter(carrier_code="beta").delete()
        ContractFactory(shop=buyer.shop, carrier_code="beta", api_key="k-12345678", commercial_name="Les Bougies")
        assert post(buyer, order(PRODUCT["beta"])).status_code == 201
        (request,) = server.requests
    assert b"apikey: k-12345678" in request.lower()
    assert b'"commercialName": "Les Bougies"' in request
    assert b"contractNumber" not in request


def test_a_contract_that_cannot_be_opened_buys_nothing_and_is_told_as_such(
    buyer: Caller, sandbox: Sandbox, caplog: pytest.LogCaptureFixture
) -> None:
    mine = CarrierContract.objects.get(carrier_code="alpha")
    foreign = CarrierContract.objects.get(carrier_code="beta")
    CarrierContract.objects.filter(id=mine.id).update(encrypted_credentials=foreign.encrypted_credentials)
    said = assert_coded(post(buyer, order(), key="k"), 502, "ALPHA_CREDENTIALS_REJECTED")
    assert "they can't be read. The order is not at fault" in said
    assert mine.id not in said
    assert (sandbox.calls(), ShippingLabel.objects.count()) == (0, 0)
    (record,) = (record for record in caplog.records if record.name == "labels.purchase")
    assert (record.levelname, vars(record)["contract"]) == ("ERROR", mine.id)
    CarrierContract.objects.filter(id=mine.id).update(encrypted_credentials=mine.encrypted_credentials)
    assert post(buyer, order(), key="k").status_code == 201


@pytest.mark.both_databases
def test_a_shop_has_one_contract_with_a_carrier(asker: Caller) -> None:
    with pytest.raises(IntegrityError), transaction.atomic():
        ContractFactory(shop=asker.shop, carrier_code="alpha")


def test_credentials_show_nowhere_on_the_row(asker: Caller) -> None:
    for made in CarrierContract.objects.all():
        assert made.credentials.password not in repr(made.__dict__)
        assert made.credentials.password not in str(made)


def test_a_label_keeps_the_address_it_was_ordered_with(buyer: Caller) -> None:
    buyer.shop.sender_address = SENDER
    buyer.shop.save()
    body = order()
    del body["originAddress"]
    post(buyer, body)
    buyer.shop.sender_address = SENDER | {"city": "Nantes"}
    buyer.shop.save()
    assert row().sender == SENDER

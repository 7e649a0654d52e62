"""The carriers' codes of a product by destination, weight, day and contract, and its refusals."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from carriers.alpha import messages as alpha_message
from carriers.beta import messages as beta_message
from carriers.errors import RequestRejected
from carriers.products import OVERSEAS, PRODUCTS
from carriers.shipment import Package, ProductOverride, Shipment
from tests.carriers.conftest import SetTime
from tests.carriers.support.shipments import CREDENTIALS, CUSTOMS, MONDAY, SATURDAY_IN_PARIS, shipment
from tests.carriers.test_text import beta_letter as letter_to
from tests.support.cases import in_one_test

RELAY_ABROAD = "alpha_relais_europe_outre_mer"
FRIDAY_IN_PARIS = datetime(2026, 3, 6, 22, 30, tzinfo=UTC)


def _codes(text: str) -> list[str]:
    return text.split()


# Copied from the page by hand: country, home, home with signature, pickup, customs.
BETA_DESTINATIONS = [
    *((country, "DOM", "DOS", "HD", False) for country in ("FR", "MC")),
    ("AD", "DOM", "DOS", None, True),
    ("BE", "DOM", "DOS", "HD", False),
    *(
        (country, None, "DOS", "HD", False)
        for country in _codes("DE LU NL AT ES IE IT PT CZ DK EE HU LT LV PL SE SI SK FI")
    ),
    *((country, None, "DOS", None, False) for country in _codes("BG CY GR HR MT RO")),
    ("CH", "DOM", "DOS", None, True),
    *((country, None, "DOS", None, True) for country in _codes("GB NO US JP AU")),
    ("SO", None, None, None, True),
    *((country, "COM", "CDS", None, True) for country in _codes("BL GF GP MQ PM RE YT NC PF TF WF")),
]
HOME = ["beta_domicile_sans_signature_" + zone for zone in ("france", "europe", "outre_mer")]
SIGNED = ["beta_domicile_signature_" + zone for zone in ("france", "europe", "outre_mer", "monde")]
PICKUP = ["beta_point_retrait_france", "beta_point_retrait_europe"]


def alpha_parcels(product_code: str, **order: Any) -> list[tuple[str | None, str | None]]:
    message = ET.fromstring(alpha_message.purchase(shipment(product_code, **order), CREDENTIALS["alpha"]))
    return [(s.findtext("productCode"), s.findtext("service")) for s in message.iterfind(".//skybillValue")]


def beta_letter(product_code: str, country: str, **order: Any) -> dict[str, Any]:
    return letter_to(product_code, recipient={"country_code": country}, **order)


def beta_code(product_code: str, country: str) -> str | None:
    try:
        service = beta_letter(product_code, country)["service"]
    except RequestRejected:
        return None
    return str(service["productCode"])


def build(order: Shipment) -> None:
    if PRODUCTS[order.product_code].carrier == "beta":
        beta_message.bodies(order)
    else:
        alpha_message.purchase(order, CREDENTIALS["alpha"])


@in_one_test("country, home, signed, pickup, customs", BETA_DESTINATIONS)
def test_beta_serves_the_destinations_of_its_page(
    country: str, home: str | None, signed: str | None, pickup: str | None, customs: object
) -> None:
    assert {beta_code(code, country) for code in HOME} - {None} == {home} - {None}
    assert {beta_code(code, country) for code in SIGNED} - {None} == {signed} - {None}
    assert {beta_code(code, country) for code in PICKUP} - {None} == {pickup} - {None}
    assert beta_code("beta", country) == (home or signed)
    if signed:
        assert ("customsDeclarations" in beta_letter("beta", country, customs=CUSTOMS)) == customs


@pytest.mark.parametrize(
    ("country", "weight_kg", "moment", "codes"),
    [
        ("BE", "3", FRIDAY_IN_PARIS, ("49", "337")),
        ("BE", "3.001", FRIDAY_IN_PARIS, ("49", "338")),
        ("BE", "3", SATURDAY_IN_PARIS, ("49", "337")),
        ("RE", "3", FRIDAY_IN_PARIS, ("4P", "368")),
        ("RE", "20", SATURDAY_IN_PARIS, ("4P", "368")),
        ("MF", "3", FRIDAY_IN_PARIS, ("4P", "368")),
    ],
)
def test_a_relay_abroad_goes_by_destination_weight_and_day(
    at: SetTime, country: str, weight_kg: str, moment: datetime, codes: tuple[str, str]
) -> None:
    at(moment)
    packages = (Package(Decimal(weight_kg)),)
    assert alpha_parcels(RELAY_ABROAD, recipient={"country_code": country}, packages=packages) == [codes]


def test_each_parcel_has_the_service_of_its_own_weight() -> None:
    packages = (Package(Decimal(2)), Package(Decimal(4)))
    assert alpha_parcels(RELAY_ABROAD, packages=packages) == [("49", "337"), ("49", "338")]


@pytest.mark.parametrize(
    ("override", "weekdays", "saturday"),
    [
        (None, ("4I", "973"), ("4I", "974")),
        (ProductOverride("4J"), ("4J", "973"), ("4J", "974")),
        (ProductOverride("4I", "973"), ("4I", "973"), ("4I", "973")),
        (ProductOverride("4I", "0"), ("4I", "0"), ("4I", "0")),
    ],
)
def test_same_day_delivery_has_a_service_of_saturdays_unless_the_contract_says_one(
    at: SetTime, override: ProductOverride | None, weekdays: tuple[str, str], saturday: tuple[str, str]
) -> None:
    at(SATURDAY_IN_PARIS)
    assert alpha_parcels("alpha_jour_j", override=override) == [saturday]
    for days in range(1, 7):
        at(SATURDAY_IN_PARIS + timedelta(days=days))
        assert alpha_parcels("alpha_jour_j", override=override) == [weekdays]


@pytest.mark.parametrize(
    ("override", "codes"),
    [
        (None, ("5E", "6", "A15")),
        (ProductOverride("5E"), ("5E", "6", "A15")),
        (ProductOverride("5E", "0"), ("5E", "0", None)),
        (ProductOverride("5E", "6", "A16"), ("5E", "6", "A16")),
        (ProductOverride("5F", as_code="A17"), ("5F", "6", "A17")),
    ],
)
def test_shop_to_shop_is_bought_by_its_as_unless_the_contract_says_another(
    override: ProductOverride | None, codes: tuple[str, str, str | None]
) -> None:
    message = alpha_message.purchase(shipment("shop2shop", override=override), CREDENTIALS["alpha"])
    skybill = ET.fromstring(message).find(".//skybillValue")
    assert skybill is not None
    assert tuple(skybill.findtext(name) for name in ("productCode", "service", "as")) == codes


def test_saturday_delivery_of_the_next_day_products_is_not_the_default(at: SetTime) -> None:
    at(FRIDAY_IN_PARIS)
    assert alpha_parcels("alpha-13") == [("01", "0")]
    assert alpha_parcels("alpha-13", override=ProductOverride("01", "6")) == [("01", "6")]


def test_saturday_delivery_at_a_relay_is_asked_for_by_the_contract_and_only_on_the_days_before(at: SetTime) -> None:
    order = {"recipient": {"country_code": "RE"}, "override": ProductOverride("4P", "369")}
    services = []
    for day in range(7):
        at(MONDAY + timedelta(days=day))
        services.append(alpha_parcels(RELAY_ABROAD, **order)[0][1])
    assert services == ["368", "368", "368", "369", "369", "368", "368"]


@pytest.mark.parametrize(
    ("code", "country"),
    [
        (RELAY_ABROAD, "US"),
        ("relais", "BE"),
        ("shop2shop", "MC"),
        ("alpha_2shopdirect", "MC"),
        ("alpha_rapide_eco", "US"),
        ("beta_point_retrait_france", "DE"),
        ("beta_domicile_signature_monde", "RE"),
        ("beta_domicile_signature_europe", "US"),
    ],
)
def test_a_product_that_does_not_go_there_is_refused_before_it_is_sent(code: str, country: str) -> None:
    order = shipment(code, recipient={"country_code": country})
    with pytest.raises(RequestRejected, match=r"^destinationAddress\.countryCode") as caught:
        build(order)
    assert caught.value.code.endswith("_REQUEST_REJECTED")


def test_a_contract_replaces_code_and_service() -> None:
    assert alpha_parcels("alpha-13", override=ProductOverride("1S")) == [("1S", "0")]
    assert alpha_parcels("alpha_2shopdirect", override=ProductOverride("9Z")) == [("9Z", "6")]
    assert alpha_parcels("alpha-18", override=ProductOverride("16", "6")) == [("16", "6")]
    assert alpha_parcels("shop2shop", override=ProductOverride("5E", "0")) == [("5E", "0")]
    letter = beta_letter("beta_point_retrait_france", "FR", override=ProductOverride("BPR"))
    assert letter["service"]["productCode"] == "BPR"


def test_a_pickup_point_is_not_sent_for_home_delivery() -> None:
    assert "pickupLocationId" not in beta_letter("beta", "FR", pickup_point_code="001234")["parcel"]
    order = shipment("alpha-13", pickup_point_code="1234A")
    assert b"1234A" not in alpha_message.purchase(order, CREDENTIALS["alpha"])


def test_weights_are_kilograms_and_never_rounded_down() -> None:
    package = (Package(Decimal("1.23456")),)
    message = alpha_message.purchase(shipment(packages=package), CREDENTIALS["alpha"])
    assert b"<weight>1.235</weight><weightUnit>KGM</weightUnit>" in message
    assert beta_letter("beta", "FR", packages=package)["parcel"] == {"weight": 1.24}


def test_dates_are_those_of_paris(at: SetTime) -> None:
    at(SATURDAY_IN_PARIS)
    message = alpha_message.purchase(shipment(), CREDENTIALS["alpha"])
    assert b"<shipDate>2026-03-07T00:30:00</shipDate><shipHour>0</shipHour>" in message


def test_a_relays_reference_is_printed_whole_and_so_are_the_goods() -> None:
    goods = replace(CUSTOMS, items=(replace(CUSTOMS.items[0], description="Bougies " * 5),))
    relay = shipment(
        "alpha_relais_europe_outre_mer", recipient={"country_code": "RE"}, customs=goods, reference="R" * 35
    )
    message = alpha_message.purchase(relay, CREDENTIALS["alpha"])
    assert f"<content1>{'R' * 35}</content1><content2>{'Bougies ' * 4}Bougies</content2>".encode() in message


def test_overseas_is_the_pages_list() -> None:
    assert OVERSEAS.countries == set(_codes("BL GF GP MQ PM RE YT NC PF TF WF"))

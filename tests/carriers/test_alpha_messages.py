"""Messages to alpha: customs of each parcel, dimensions, postal codes."""

from dataclasses import replace
from datetime import datetime, timedelta
from decimal import Decimal
from itertools import chain, repeat
from xml.etree import ElementTree as ET

import pytest

from carriers import itinerary
from carriers.alpha import messages as alpha_message
from carriers.errors import RequestRejected
from carriers.products import PARIS
from carriers.shipment import Customs, CustomsItem, Package, PickupPoint, Shipment
from tests.carriers.support.shipments import CREDENTIALS, shipment

ALPHA = CREDENTIALS["alpha"]
POINT = PickupPoint("1234A", "Tabac", "1 rue Haute", zip_code="31000", city="Toulouse", country_code="FR")
GOODS = Customs(
    (
        CustomsItem("Bougie à la rose", 2, Decimal("12.50"), Decimal("0.5"), "340600"),
        CustomsItem("Savon", 3, Decimal("4.10"), Decimal("0.2"), "340111"),
    )
)


def skybills(ordered: Shipment, point: PickupPoint | None = None) -> list[dict[str, str]]:
    message = ET.fromstring(alpha_message.purchase(ordered, ALPHA, point))
    return [{each.tag: each.text or "" for each in one} for one in message.iter("skybillValue")]


def test_an_order_at_midnight_has_one_day(monkeypatch: pytest.MonkeyPatch) -> None:
    midnight = datetime(2028, 2, 29, tzinfo=PARIS)
    moments = chain([midnight - timedelta(seconds=1)], repeat(midnight))
    monkeypatch.setattr(itinerary, "now", lambda: next(moments))
    said = {(one["shipDate"], one["shipHour"]) for one in skybills(shipment(count=99))}
    assert said == {("2028-02-28T23:59:59", "23")}


def test_each_parcel_declares_the_value_in_euros_of_what_is_in_it() -> None:
    packages = (Package(Decimal("1.25")), Package(Decimal(1)))
    first, second = skybills(shipment("alpha_express_world", packages=packages, customs=GOODS))
    assert (first["customsValue"], first["customsCurrency"]) == ("29.1", "EUR")
    assert first["content1"] == "Bougie a la rose"
    assert (second["customsValue"], second["content1"]) == ("8.2", "Savon")


def test_a_contracts_goods_are_declared_for_each_parcel() -> None:
    for skybill in skybills(shipment("alpha_express_world", 3)):
        assert (skybill["customsValue"], skybill["content1"]) == ("12.5", "Bougies")


@pytest.mark.parametrize(("value", "sent"), [("100", "100"), ("1200.00", "1200"), ("0.01", "0.01"), ("9.90", "9.9")])
def test_a_value_in_euros_is_a_plain_number(value: str, sent: str) -> None:
    goods = Customs((CustomsItem("Savon", 1, Decimal(value)),), is_for_each_parcel=True)
    assert skybills(shipment("alpha_express_world", customs=goods))[0]["customsValue"] == sent


@pytest.mark.parametrize(
    ("home", "place", "value"), [("28001", "35002", "12.5"), ("35002", "28001", "0"), ("28001", "28002", "0")]
)
def test_customs_are_declared_where_the_relay_is(home: str, place: str, value: str) -> None:
    relay = replace(POINT, country_code="ES", zip_code=place)
    ordered = shipment("alpha_relais_europe_outre_mer", recipient={"country_code": "ES", "zip_code": home})
    (skybill,) = skybills(ordered, relay)
    assert skybill["customsValue"] == value
    assert skybill.get("content2", "") == ("Bougies" if value != "0" else "")
    if value != "0":
        with pytest.raises(RequestRejected, match=r"^customs: "):
            skybills(replace(ordered, customs=None), relay)


@pytest.mark.parametrize("description", ["x" * 46, "石" * 16, "!"])
def test_goods_that_cannot_be_described_name_their_field(description: str) -> None:
    item = CustomsItem(description, 1, Decimal(5), Decimal("0.1"))
    own = Customs((GOODS.items[0], item))
    ordered = shipment("alpha_express_world", packages=(Package(Decimal(1)), Package(Decimal(1))), customs=own)
    with pytest.raises(RequestRejected) as caught:
        skybills(ordered)
    assert caught.value.field == "customs.items[1].description"
    with pytest.raises(RequestRejected) as caught:
        skybills(shipment("alpha_express_world", customs=Customs((item,), is_for_each_parcel=True)))
    assert caught.value.field == "customs"


def test_a_parcels_sides_are_sent_where_they_are_known() -> None:
    packages = (Package(Decimal(1), length_cm=30, width_cm=20, height_cm=10), Package(Decimal(1), length_cm=30))
    first, second = skybills(shipment("alpha-13", packages=packages))
    assert (first["height"], first["length"], first["width"]) == ("10", "30", "20")
    assert (second["height"], second["length"], second["width"]) == ("1", "30", "1")

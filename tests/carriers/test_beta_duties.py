"""Duties that the sender pays, and manufacturers' codes: said to beta where they exist, else refused by name."""

from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest

from carriers.errors import RequestRejected
from carriers.sandbox.data import COUNTRIES
from carriers.shipment import Customs, CustomsItem, Package
from tests.carriers.test_beta_customs import EORI, OWN, SIDES, SIGNED_OVERSEAS, sent

SOAP = CustomsItem("Savon", 1, Decimal("4.10"), Decimal("0.1"), "340111")
# Copied from the page by hand.
DUTIES_PAID_TO = "GB CH AU CA CN HK JP KR SG TH US AE BH EG ID KW MX OM PH SA ZA".split()


def duties(
    country_code: str, origin: str = "FR", product_code: str = "beta", sides: dict[str, Any] = SIDES
) -> dict[str, Any]:
    """Return the parcel of an order whose sender pays the duties."""
    recipient = {"phone": "+33699001122", "province_code": "ON"}
    customs = replace(OWN, eori=EORI, is_duties_paid_by_sender=True)
    packages = (Package(Decimal("1.5"), **sides),)
    sender = {"country_code": origin}
    (body,) = sent(product_code, country_code, recipient=recipient, customs=customs, packages=packages, sender=sender)
    parcel: dict[str, Any] = body["letter"]["parcel"]
    return parcel


def test_duties_are_paid_by_the_sender_where_the_page_lists_it_and_nowhere_else() -> None:
    for country_code in sorted(set(COUNTRIES) - {"FR", "SO", "GF", "GP", "MQ", "RE"}):
        if country_code in DUTIES_PAID_TO:
            assert duties(country_code)["ddp"] is True, country_code
            continue
        with pytest.raises(RequestRejected, match=r"^customs\.dutiesPaidBySender: is "):
            duties(country_code)


@pytest.mark.parametrize(
    ("country_code", "origin", "product_code"),
    [
        ("CH", "MC", "beta"),
        ("FR", "RE", "beta"),
        ("NC", "FR", SIGNED_OVERSEAS),
        ("FR", "FR", "beta"),
        ("DE", "FR", "beta"),
    ],
)
def test_duties_that_do_not_exist_are_refused_by_name(country_code: str, origin: str, product_code: str) -> None:
    with pytest.raises(RequestRejected, match=r"^customs\.dutiesPaidBySender: is ") as caught:
        duties(country_code, origin, product_code)
    assert caught.value.field == "customs.dutiesPaidBySender"


@pytest.mark.parametrize(("height_cm", "is_said"), [(20, {}), (21, {"nonMachinable": True})])
def test_a_parcel_whose_sides_are_above_120_cm_together_is_not_for_machines(
    height_cm: int, is_said: dict[str, bool]
) -> None:
    parcel = duties("CH", sides={"length_cm": 60, "width_cm": 40, "height_cm": height_cm})

    assert {name: value for name, value in parcel.items() if name == "nonMachinable"} == is_said


MANUFACTURER = "FRATENOR12LIL"


def american(*items: CustomsItem, comments: str = MANUFACTURER) -> dict[str, Any]:
    """Return the declaration of an order to the United States."""
    customs = Customs(items, eori=EORI, comments=comments)
    (body,) = sent("beta", "US", customs=customs)
    declaration: dict[str, Any] = body["letter"]["customsDeclarations"]
    return declaration


def test_a_manufacturers_code_ends_the_description_and_is_the_comments_of_an_only_article() -> None:
    declaration = american(SOAP, comments=MANUFACTURER.lower())
    assert [article["description"] for article in declaration["contents"]["article"]] == [
        f"Savon - MID: {MANUFACTURER}"
    ]
    assert declaration["comments"] == MANUFACTURER


@pytest.mark.parametrize("description", [f"Savon - MID: {MANUFACTURER}", f"{'x' * 43} - MID: {MANUFACTURER}"])
def test_a_manufacturers_code_that_ends_the_description_already_is_not_repeated(description: str) -> None:
    (article,) = american(replace(SOAP, description=description))["contents"]["article"]
    assert article["description"] == description


def test_of_several_articles_each_has_the_manufacturers_code_and_there_are_no_comments() -> None:
    declaration = american(SOAP, replace(SOAP, description="x" * 43))
    described = [article["description"] for article in declaration["contents"]["article"]]
    assert described == [f"Savon - MID: {MANUFACTURER}", f"{'x' * 43} - MID: {MANUFACTURER}"]
    assert max(map(len, described)) == 64
    assert "comments" not in declaration


@pytest.mark.parametrize(
    ("item", "comments", "field", "problem"),
    [
        (replace(SOAP, description="x" * 44), MANUFACTURER, "customs.items[0].description", "43 characters"),
        (SOAP, "made by hand", "customs.comments", "manufacturer's code"),
        (SOAP, "x" * 16, "customs.comments", "at most 15"),
    ],
)
def test_a_manufacturers_code_that_does_not_fit_is_refused_by_name(
    item: CustomsItem, comments: str, field: str, problem: str
) -> None:
    with pytest.raises(RequestRejected, match=problem) as caught:
        american(item, comments=comments)
    assert caught.value.field == field

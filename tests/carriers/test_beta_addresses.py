"""beta's addresses by country: one line to Belgium and Switzerland, mobile numbers, postal codes, weights."""

from decimal import Decimal
from typing import Any

import pytest

from carriers.errors import AddressRejected, RequestRejected
from carriers.shipment import Customs, CustomsItem, Package
from tests.carriers.support.beta import lines
from tests.carriers.test_text import beta_address, beta_letter

SOAP = CustomsItem("Soap", 1, Decimal(4), Decimal("0.1"), "340111")


@pytest.mark.parametrize("country_code", ["BE", "CH"])
def test_belgium_and_switzerland_print_one_line(country_code: str) -> None:
    address = beta_address(country_code=country_code, address1="Rue Haute 3", address2="Boîte 4, 2e étage")
    assert lines(address) == {"line2": "Rue Haute 3 Boîte 4, 2e étage"}
    assert lines(beta_address(country_code=country_code, address1="Rue Haute 3", address2="")) == {
        "line2": "Rue Haute 3"
    }


@pytest.mark.parametrize("country_code", ["BE", "CH"])
@pytest.mark.parametrize(
    ("address1", "address2", "field"),
    [
        ("Chaussée de la Grande Espinette 1234", "", "address1"),
        ("Chaussée de la Grande Espinette 123", "b1", "address2"),
        (" ", "Boîte 4", "address1"),
    ],
)
def test_what_does_not_fit_there_is_refused(country_code: str, address1: str, address2: str, field: str) -> None:
    with pytest.raises(AddressRejected) as caught:
        beta_address(country_code=country_code, address1=address1, address2=address2)
    assert caught.value.field == f"destinationAddress.{field}"


@pytest.mark.parametrize(
    ("country_code", "street", "left"),
    [("BE", "Rue Haute 3", 23), ("CH", "Rue Haute 3", 23), ("FR", "128 avenue du Maréchal de Lattre de Tassigny", 26)],
)
def test_a_second_line_joins_the_street_where_both_fit(country_code: str, street: str, left: int) -> None:
    address = {"country_code": country_code, "address1": street}
    assert " ".join(lines(beta_address(**address, address2="z" * left)).values()) == f"{street} {'z' * left}"
    with pytest.raises(AddressRejected, match=f"^destinationAddress.address2: is longer than the {left} characters"):
        beta_address(**address, address2="z" * (left + 1))


def test_a_belgian_senders_address_is_printed_whole() -> None:
    sender = {"country_code": "BE", "address1": "Rue Haute 3", "address2": "Boîte 4"}
    assert lines(beta_letter(sender=sender)["sender"]["address"]) == {"line2": "Rue Haute 3", "line3": "Boîte 4"}


@pytest.mark.parametrize(
    ("country_code", "phone", "field"),
    [
        ("BE", "+3222345678", "mobileNumber"),
        ("BE", "+32470123456", "mobileNumber"),
        ("BE", "+33144112233", "mobileNumber"),
        ("US", "+12125550123", "mobileNumber"),
        ("US", "+33144112233", "mobileNumber"),
        ("CH", "+41446681800", "phoneNumber"),
        ("DE", "+49301234567", "phoneNumber"),
        # At a French address only French mobiles count as mobile.
        *(("FR", phone, "phoneNumber") for phone in ("+4915112233445", "+12125550123", "+262692123456")),
        ("FK", "+50051234", "phoneNumber"),  # a mobile's, and shorter than any that its field takes
    ],
)
def test_a_number_goes_into_the_field_that_the_country_uses(country_code: str, phone: str, field: str) -> None:
    address = beta_address(country_code=country_code, phone=phone)
    assert {name: text for name, text in address.items() if name.endswith("Number")} == {field: phone}


DUTIES_PAID: dict[str, Any] = {
    "customs": Customs((SOAP,), eori="FR12345678900012", is_duties_paid_by_sender=True),
    "packages": (Package(Decimal(1), 30, 20, 10),),
}
PICKUP = {"FR": "beta_point_retrait_france", "BE": "beta_point_retrait_europe", "DE": "beta_point_retrait_europe"}


REQUIRED, IN_USE = "a .* number .*is required", "a number that is in use"


@pytest.mark.parametrize(
    ("code", "country", "phone", "said"),
    [
        ("beta", "BE", "", REQUIRED),
        ("beta", "US", "", REQUIRED),
        ("beta", "DE", "+493012345678901", "is longer than the 15 characters that beta takes"),
        ("beta", "BE", "+29022158", REQUIRED),  # shorter than any that the mobile's field takes
        ("beta", "US", "+29022158", REQUIRED),
        (PICKUP["FR"], "FR", "", REQUIRED),
        (PICKUP["FR"], "FR", "+33144112233", REQUIRED),
        (PICKUP["FR"], "FR", "+491701122334", REQUIRED),
        (PICKUP["DE"], "DE", "+49301122334", REQUIRED),
        (PICKUP["BE"], "BE", "+3222345678", REQUIRED),
        (PICKUP["BE"], "BE", "+33699001122", REQUIRED),
        (PICKUP["BE"], "BE", "+3247011223", REQUIRED),
        (PICKUP["FR"], "FR", "+33639980000", IN_USE),  # the range for fiction
        ("beta", "US", "+11234567890", IN_USE),
    ],
)
def test_an_addressee_without_the_number_that_is_needed_is_refused(
    code: str, country: str, phone: str, said: str
) -> None:
    with pytest.raises(RequestRejected, match=rf"^destinationAddress\.phone: {said}") as caught:
        beta_letter(code, recipient={"country_code": country, "phone": phone})
    assert caught.value.field == "destinationAddress.phone"


@pytest.mark.parametrize(("country", "phone"), [("FR", "+33639980000"), ("BE", "+32699001122")])
def test_a_number_that_nobody_has_is_sent_where_none_is_needed(country: str, phone: str) -> None:
    assert phone in beta_address(country_code=country, phone=phone).values()


@pytest.mark.parametrize(("country", "phone"), [("CH", ""), ("CH", "+41446681800"), ("JP", "+81312345678"), ("US", "")])
def test_duties_paid_by_the_sender_need_the_addressees_mobile_number(country: str, phone: str) -> None:
    with pytest.raises(RequestRejected, match=rf"destinationAddress\.phone: {REQUIRED}"):
        beta_letter(recipient={"country_code": country, "phone": phone}, **DUTIES_PAID)


@pytest.mark.parametrize(
    ("country", "phone"),
    [("CH", "+41791122334"), ("CH", "+33699001122"), ("US", "+12125550100"), ("CA", "+14165550100")],
)
def test_duties_paid_by_the_sender_need_nothing_of_his_phone(country: str, phone: str) -> None:
    recipient = {"country_code": country, "phone": phone, "province_code": "NY"}
    letter = beta_letter(recipient=recipient, sender={"phone": ""}, **DUTIES_PAID)
    assert letter["parcel"]["ddp"] is True
    assert letter["addressee"]["address"]["mobileNumber"] == phone


@pytest.mark.parametrize(
    ("country_code", "zip_code", "sent"),
    [
        ("LU", "L-1009", "1009"),
        ("LU", "l 1009", "1009"),
        ("LU", "1009", "1009"),
        ("LU", "LU-1009", "1009"),
        ("LU", "lu 1009", "1009"),
        ("LU", "LU1009", "1009"),
        ("LU", "L–1009", "1009"),  # noqa: RUF001 - as keyboards write it
        ("US", "10001-1234", "10001"),
        ("US", "10001–1234", "10001"),  # noqa: RUF001
        ("US", "10001", "10001"),
        # Invisible characters, and letters as wide as an ideograph.
        ("US", "\ufeff10001\u200b-1234", "10001"),
        ("LU", "\u200bL-1009", "1009"),
        ("LU", "\uff2c-1009", "1009"),
        ("IE", "D02 AF30", "D02 AF30"),
        ("PT", "1000-001", "1000-001"),
        ("LT", "LT-01100", "LT-01100"),
    ],
)
def test_postal_codes_have_betas_form(country_code: str, zip_code: str, sent: str) -> None:
    assert beta_address(country_code=country_code, zip_code=zip_code)["zipCode"] == sent


def test_a_luxembourg_sender_has_it_too() -> None:
    letter = beta_letter(sender={"country_code": "LU", "zip_code": "L-1009"})
    assert letter["sender"]["address"]["zipCode"] == "1009"


@pytest.mark.parametrize(("weight_kg", "sent"), [("1.231", 1.24), ("0.001", 0.01), ("30", 30.0), ("29.991", 30.0)])
def test_weights_have_two_decimals(weight_kg: str, sent: float) -> None:
    packages: Any = (Package(Decimal(weight_kg)),)
    assert beta_letter(packages=packages)["parcel"] == {"weight": sent}

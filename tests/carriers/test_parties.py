"""Names, phones and references: the fields that each carrier gets them in, and wrong values."""

from typing import Any

import pytest

from carriers.errors import RequestRejected
from tests.carriers.test_text import alpha_fields, beta_address, beta_letter


@pytest.mark.parametrize(
    ("phone", "mobile", "landline"),
    [
        ("+33699001122", "+33699001122", None),
        ("+33799001122", "+33799001122", None),
        ("+33144112233", None, "+33144112233"),
        ("+4915112233445", "+4915112233445", None),
        ("+12125550123", "+12125550123", None),  # mobile or not, such numbers look alike
        ("+262692123456", "+262692123456", None),
    ],
)
def test_a_phone_goes_into_the_field_of_its_kind(phone: str, mobile: str | None, landline: str | None) -> None:
    alpha = alpha_fields(recipient={"phone": phone})
    assert (alpha.get("recipientMobilePhone"), alpha.get("recipientPhone")) == (mobile, landline)
    beta = beta_address(phone=phone, country_code="DE")
    assert (beta.get("mobileNumber"), beta.get("phoneNumber")) == (mobile, landline)


@pytest.mark.parametrize("code", ["alpha-13", "relais"])
def test_a_missing_phone_is_sent_empty_to_alpha_and_not_at_all_to_beta(code: str) -> None:
    alpha = alpha_fields(product_code=code, recipient={"phone": ""})
    assert (alpha.get("recipientMobilePhone"), alpha.get("recipientPhone")) == (None, "")
    for structure in ("shipper", "customer"):
        sender = alpha_fields(f"{structure}Value", product_code=code, sender={"phone": ""})
        assert (sender.get(f"{structure}MobilePhone"), sender.get(f"{structure}Phone")) == (None, "")
    beta = beta_address(phone="", country_code="DE")
    assert (beta.get("mobileNumber"), beta.get("phoneNumber")) == (None, None)


@pytest.mark.parametrize(
    ("phone", "spaced"),
    [
        ("+33699001122", "+33 699001122"),
        ("+32470123456", "+32 470123456"),
        ("+35312345678", "+353 12345678"),
        ("+12125550123", "+1 2125550123"),
    ],
)
@pytest.mark.parametrize("country", ["BE", "FR"])
def test_a_relay_of_europe_has_a_space_after_the_country_in_both_fields(phone: str, spaced: str, country: str) -> None:
    fields = alpha_fields(
        product_code="alpha_relais_europe_outre_mer", recipient={"phone": phone, "country_code": country}
    )
    assert fields["recipientPhone"] == spaced
    assert fields.get("recipientMobilePhone", spaced) == spaced


REFUSED = [
    ("alpha_relais_europe_outre_mer", {"recipient": {"phone": ""}}, "destinationAddress.phone"),
    ("alpha_relais_europe_outre_mer", {"recipient": {"phone": "+99912345678"}}, "destinationAddress.phone"),
    ("beta_point_retrait_france", {"recipient": {"phone": "+33144112233"}}, "destinationAddress.phone"),
    ("beta_point_retrait_france", {"recipient": {"phone": ""}}, "destinationAddress.phone"),
    ("beta", {"recipient": {"phone": "+999123456789012"}}, "destinationAddress.phone"),
    ("alpha-13", {"reference": "x" * 36}, "reference"),
    ("relais", {"reference": "x" * 36}, "reference"),
    ("beta", {"reference": "x" * 16}, "reference"),
    ("beta", {"commercial_name": "x" * 36}, "commercialName"),
]


@pytest.mark.parametrize(("code", "changes", "field"), REFUSED)
def test_wrong_values_outside_the_address_are_rejected_requests(code: str, changes: dict[str, Any], field: str) -> None:
    with pytest.raises(RequestRejected) as caught:
        beta_letter(code, **changes) if code.startswith("beta") else alpha_fields(product_code=code, **changes)
    assert caught.value.field == field


def test_references_are_where_each_carrier_prints_them() -> None:
    home = alpha_fields("refValue")
    assert list(home.items()) == [("recipientRef", "CMD 4711"), ("shipperRef", "01JQ5ZK3M9X7ABC")]
    relay = alpha_fields("refValue", product_code="relais")
    assert relay == {"shipperRef": "01JQ5ZK3M9X7ABC", "recipientRef": "1234A", "idRelais": "1234A"}
    assert alpha_fields("skybillValue", product_code="relais")["content1"] == "CMD 4711"
    assert "content1" not in alpha_fields("skybillValue")
    assert beta_letter()["sender"]["senderParcelRef"] == "CMD 4711"
    assert beta_letter(reference="")["sender"]["senderParcelRef"] == "01JQ5ZK3M9X7ABC"
    assert beta_letter()["service"]["orderNumber"] == "01JQ5ZK3M9X7ABC"

"""beta's addressee: pickup points, mobile numbers, postal codes, the lines that are not printed."""

from typing import Any

import pytest

from carriers.sandbox.server import SandboxServer
from tests.carriers.sandbox.beta.orders import (
    ADDRESSEE,
    AMERICAN,
    BELGIAN_POINT,
    CUSTOMS,
    GERMAN_POINT,
    PICKUP,
    SWISS,
    beta_buy,
    beta_to,
)
from tests.carriers.sandbox.changes import Changes
from tests.carriers.sandbox.control import get

LINES: Changes = {f"{ADDRESSEE}.line{rank}": f"Line {rank}" for rank in range(4)}
BELGIAN = {**beta_to("BE", "1000"), f"{ADDRESSEE}.mobileNumber": "+3222345678"}
BELGIAN_PICKUP: Changes = {
    **PICKUP, **BELGIAN, "letter.parcel.pickupLocationId": BELGIAN_POINT, "letter.service.productCode": "HD",
    f"{ADDRESSEE}.companyName": "Librairie Anspach", f"{ADDRESSEE}.line2": "Boulevard Anspach 59 Boîte 2",
    f"{ADDRESSEE}.city": "Bruxelles", f"{ADDRESSEE}.mobileNumber": "+32470112233",
}  # fmt: skip
POINT: Changes = {
    **PICKUP,
    f"{ADDRESSEE}.companyName": "Épicerie du Bœuf",
    f"{ADDRESSEE}.line2": "9 rue du Bœuf",
    f"{ADDRESSEE}.line3": "Angle de la place",
}


def at(code: str, **changes: Any) -> Changes:
    return {**PICKUP, "letter.parcel.pickupLocationId": code, **changes}


def sold(sandbox: SandboxServer, changes: Changes) -> dict[str, Any]:
    """Buy a parcel and return all that the ledger knows of it."""
    reply = beta_buy(sandbox, changes)
    assert reply.response.status_code == 200, reply.infos
    parcel: dict[str, Any] = get(f"{sandbox.url}/ledger/parcel", tracking_number=reply.number)
    return parcel


def test_a_parcel_under_the_points_own_address_arrives(sandbox: SandboxServer) -> None:
    parcel = sold(sandbox, POINT)

    assert (parcel["misrouted"], parcel["misrouted_by"]) == (False, [])
    assert "Épicerie du Bœuf" in parcel["printed"]


@pytest.mark.parametrize(
    ("changes", "misrouted_by"),
    [
        ({}, ["companyName", "line2"]),
        ({**POINT, f"{ADDRESSEE}.zipCode": "75011", f"{ADDRESSEE}.city": "Paris"}, ["zipCode", "city"]),
        ({**POINT, f"{ADDRESSEE}.line3": ""}, ["line2"]),
    ],
)
def test_a_customers_own_address_misroutes_the_parcel(
    sandbox: SandboxServer, changes: Changes, misrouted_by: list[str]
) -> None:
    parcel = sold(sandbox, {**PICKUP, **changes})

    assert (parcel["misrouted"], parcel["misrouted_by"]) == (True, misrouted_by)


def test_a_belgian_points_second_line_is_joined_to_the_first(sandbox: SandboxServer) -> None:
    assert sold(sandbox, BELGIAN_PICKUP)["misrouted"] is False


@pytest.mark.parametrize(
    ("code", "changes"),
    [
        ("30401", at("999999")),
        ("30403", at(GERMAN_POINT)),
        ("30900", at("005801")),
        ("30900", at("005803")),
        ("30901", at("004713", **{"letter.parcel.weight": 5.01})),
        ("30901", at("123456", **{"letter.parcel.weight": 20.01})),
        ("30902", at("004712")),
    ],
)
def test_a_point_that_takes_no_parcel_is_refused_by_code(sandbox: SandboxServer, code: str, changes: Changes) -> None:
    assert beta_buy(sandbox, changes).codes == [code]


@pytest.mark.parametrize("code", ["005802", "692690", "004711"])
def test_a_point_that_closes_later_a_post_office_and_a_locker_take_parcels(sandbox: SandboxServer, code: str) -> None:
    assert beta_buy(sandbox, at(code)).number


@pytest.mark.parametrize(
    ("changes", "printed"),
    [
        (LINES, ["Line 0", "Line 1", "Line 2", "Line 3"]),
        ({**BELGIAN, **LINES}, ["Line 0", "Line 2"]),
        ({**SWISS, **LINES}, ["Line 2"]),
    ],
)
def test_belgium_and_switzerland_leave_lines_out(sandbox: SandboxServer, changes: Changes, printed: list[str]) -> None:
    assert [text for text in sold(sandbox, changes)["printed"] if text.startswith("Line")] == printed


def test_belgium_takes_a_landline_as_mobile_number(sandbox: SandboxServer) -> None:
    assert "+3222345678" in sold(sandbox, BELGIAN)["printed"]


@pytest.mark.parametrize("order", [BELGIAN, AMERICAN])
def test_the_landlines_field_is_not_used_for_belgium_and_america(sandbox: SandboxServer, order: Changes) -> None:
    landline = {f"{ADDRESSEE}.phoneNumber": "+12125550100"}
    assert "+12125550100" not in sold(sandbox, {**order, **landline})["printed"]
    assert beta_buy(sandbox, {**order, **landline, f"{ADDRESSEE}.mobileNumber": ""}).codes == ["30220"]


@pytest.mark.parametrize(
    ("mobile", "codes"),
    [("+32470112233", []), ("+3222345678", ["30221"]), ("+33699001122", ["30221"]), ("", ["30220"])],
)
def test_a_belgian_point_sends_its_notice_to_a_belgian_mobile_alone(
    sandbox: SandboxServer, mobile: str, codes: list[str]
) -> None:
    assert beta_buy(sandbox, {**BELGIAN_PICKUP, f"{ADDRESSEE}.mobileNumber": mobile}).codes == codes


@pytest.mark.parametrize("mobile", ["0612345678", "+33612345678", "+33701234567"])
def test_a_rising_row_of_digits_is_no_mobile_number(sandbox: SandboxServer, mobile: str) -> None:
    assert beta_buy(sandbox, {f"{ADDRESSEE}.mobileNumber": mobile}).codes == ["30221"]


@pytest.mark.parametrize("mobile", ["0699001122", "+33699001122", "+330699001122", "0712345699"])
def test_a_french_mobile_number_has_three_forms(sandbox: SandboxServer, mobile: str) -> None:
    assert beta_buy(sandbox, {f"{ADDRESSEE}.mobileNumber": mobile}).codes == []


@pytest.mark.parametrize(("zip_code", "codes"), [("00000", []), ("12345", ["30212"]), ("0", ["30212"])])
def test_the_emirates_have_five_zeros(sandbox: SandboxServer, zip_code: str, codes: list[str]) -> None:
    assert beta_buy(sandbox, {**CUSTOMS, **beta_to("AE", zip_code)}).codes == codes


@pytest.mark.parametrize(
    ("place", "codes"),
    [(beta_to("LU", "1118"), []), (beta_to("LU", "L-1118"), ["30212"]), (beta_to("LU", "L1118"), ["30212"])],
)
def test_a_luxembourgish_postal_code_has_no_letter(sandbox: SandboxServer, place: Changes, codes: list[str]) -> None:
    assert beta_buy(sandbox, place).codes == codes

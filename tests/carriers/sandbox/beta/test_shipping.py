"""beta's label service: purchases, linked parcels, checks and faults."""

from typing import Any

import pytest

from carriers.sandbox.beta.customs import needs_customs
from carriers.sandbox.beta.tables import DESTINATIONS
from carriers.sandbox.server import SandboxServer
from tests.carriers.sandbox.beta.orders import (
    ADDRESSEE,
    AMERICAN,
    BELGIAN_POINT,
    CUSTOMS,
    GERMAN_POINT,
    PICKUP,
    SERVICE,
    SWISS,
    BetaReply,
    beta_buy,
    beta_order,
    beta_to,
    linked,
)
from tests.carriers.sandbox.changes import GONE, Changes
from tests.carriers.sandbox.control import NEW_ROW, get, ledger, post
from tests.support.cases import in_one_test


def test_a_purchase_returns_its_parts_and_is_entered_in_the_ledger(sandbox: SandboxServer) -> None:
    reply = beta_buy(sandbox)

    assert reply.response.status_code == 200
    boundary = reply.response.headers["Content-Type"].split('boundary="')[1].split('"')[0]
    assert boundary.startswith("uuid:")
    assert reply.response.headers["Content-Type"] == (
        f'multipart/related; type="application/json"; boundary="{boundary}"; start="<jsonInfos>"'
    )
    assert reply.response.content.startswith(f"\r\n--{boundary}\r\n".encode())
    assert reply.response.content.endswith(f"\r\n--{boundary}--".encode())
    assert list(reply.parts) == ["jsonInfos", "label"]
    assert reply.parts["label"].startswith(b"%PDF-")
    assert reply.infos["messages"][0]["type"] == "INFOS"
    assert len(reply.number) == 13
    assert reply.number.startswith("6A")
    (row,) = ledger(sandbox)
    del row["made_at"]
    assert row == NEW_ROW | {
        "carrier": "beta",
        "tracking_number": reply.number,
        "account": "123456",
        "product_code": "DOM",
        "reservation_number": "",
    }


def test_the_newer_version_names_its_block_otherwise(sandbox: SandboxServer) -> None:
    reply = BetaReply(post(f"{sandbox.url}/beta/3.1/generateLabel", json=beta_order()))

    assert reply.infos["labelV31Response"]["parcelNumber"].startswith("6A")


def test_a_check_makes_nothing(sandbox: SandboxServer) -> None:
    reply = beta_buy(sandbox, operation="checkGenerateLabel")

    assert reply.response.status_code == 200
    assert reply.infos["messages"][0]["type"] == "INFOS"
    assert ledger(sandbox) == []
    assert beta_buy(sandbox, {f"{SERVICE}.productCode": "XXX"}, "checkGenerateLabel").codes == ["30015"]
    for changes, status in (
        ({f"{SERVICE}.productCode": "XXX"}, 400),
        ({"contractNumber": "130000"}, 403),
        ({"contractNumber": "130007"}, 403),
        ({"contractNumber": "130009"}, 400),
        ({"letter.extra": 1}, 422),
    ):
        assert beta_buy(sandbox, changes, "checkGenerateLabel").response.status_code == status


def test_an_api_key_replaces_contract_and_password(sandbox: SandboxServer) -> None:
    reply = beta_buy(sandbox, {"contractNumber": GONE, "password": GONE}, apiKey="key-of-1234")

    assert reply.number
    assert ledger(sandbox)[0]["account"] == "api key ...1234"


@pytest.mark.parametrize(
    ("countries", "codes", "is_customs"),
    [
        # The documented table, written a second time.
        ("FR MC", "DOM DOS HD BPR A2P", False),
        ("AD", "DOM DOS", True),
        ("BE", "DOM DOS HD CMT BDP PCS", False),
        ("DE LU NL AT ES IE IT PT CZ DK EE HU LT LV PL SE SI SK FI", "DOS HD CMT BDP PCS", False),
        ("BG CY GR HR MT RO", "DOS", False),
        ("CH", "DOM DOS", True),
        ("GB NO US JP", "DOS COLI", True),
        ("BL GF GP MQ PM RE YT NC PF TF WF", "COM CDS", True),
    ],
)
def test_each_destination_is_served_as_documented(countries: str, codes: str, is_customs: bool) -> None:
    for country in countries.split():
        assert DESTINATIONS[country] == set(codes.split())
        assert needs_customs("FR", country, "12345") is is_customs


@in_one_test(
    "changes",
    [
        {f"{SERVICE}.productCode": "DOS"},
        {**PICKUP},
        {**PICKUP, f"{SERVICE}.productCode": "A2P"},
        beta_to("BE", "1000", "DOM"),
        {**PICKUP, **beta_to("DE", "10119", "HD"), "letter.parcel.pickupLocationId": GERMAN_POINT},
        beta_to("PL", "00-950"),
        {**CUSTOMS, **beta_to("RE", "97400", "COM"), f"{ADDRESSEE}.mobileNumber": "+262692123456"},
        {**CUSTOMS, **beta_to("RE", "97400", "CDS")},
        {**CUSTOMS, **beta_to("AD", "AD500", "DOM")},
        AMERICAN,
        {**AMERICAN, f"{SERVICE}.productCode": "COLI"},
        {"letter.parcel.weight": 0.01},
        {"letter.parcel.weight": 30},
        {f"{ADDRESSEE}.companyName": "Société", f"{ADDRESSEE}.lastName": GONE, f"{ADDRESSEE}.firstName": GONE},
        {f"{ADDRESSEE}.mobileNumber": "0701020304", f"{ADDRESSEE}.phoneNumber": "+33123456789"},
        {f"{ADDRESSEE}.phoneNumber": "1" * 15},
        {f"{ADDRESSEE}.line0": "3e étage", f"{ADDRESSEE}.line1": "Bât. Œillet “A”"},
        {f"{ADDRESSEE}.email": GONE, f"{ADDRESSEE}.line3": None},
        {"outputFormat.outputPrintingType": "PDF_A4_300dpi"},
    ],
)
def test_every_documented_order_is_sold(sandbox: SandboxServer, changes: Changes) -> None:
    reply = beta_buy(sandbox, changes)

    assert reply.response.status_code == 200, reply.infos
    assert not [message for message in reply.infos["messages"] if message["type"] != "INFOS"]


@pytest.mark.parametrize("changes", [{"contractNumber": "654321"}, {}])
def test_a_master_names_its_own_contracts_followers(sandbox: SandboxServer, changes: dict[str, Any]) -> None:
    follower = beta_buy(sandbox, linked(1, 2)).number
    stranger = follower if changes else beta_buy(sandbox).number

    assert beta_buy(sandbox, {**changes, **linked(2, 2, (stranger,))}).codes == ["30318"]


@pytest.mark.parametrize(
    ("name", "code"),
    [("R0", "ROUTING_0"), ("R18", "ROUTING_18"), ("ROUTING27", "ROUTING_27"), ("R203", "ROUTING_203")]
    + [(f"IV{number}", f"GEO_ROUTING_IV{number}") for number in (106, 107, 108)],
)
def test_a_magic_reference_provokes_a_routing_error(sandbox: SandboxServer, name: str, code: str) -> None:
    reference = f"FAULT {name}"

    assert len(reference) <= 15
    assert beta_buy(sandbox, {"letter.sender.senderParcelRef": reference}).codes == [code]


def test_linked_parcels_go_overseas_only(sandbox: SandboxServer) -> None:
    home = {f"{ADDRESSEE}.countryCode": "FR", f"{ADDRESSEE}.zipCode": "69005", f"{SERVICE}.productCode": "DOM"}

    assert "30318" in beta_buy(sandbox, {**linked(1, 2), **home}).codes


def test_a_fault_of_the_second_linked_parcel_keeps_the_first(sandbox: SandboxServer) -> None:
    magic = {"letter.sender.senderParcelRef": "FAULT 2 40015"}

    assert beta_buy(sandbox, {**magic, **linked(1, 3)}).number
    assert beta_buy(sandbox, {**magic, **linked(2, 3)}).codes == ["40015"]
    assert len(ledger(sandbox)) == 1


@pytest.mark.parametrize(
    ("name", "status", "content"),
    [
        ("CONTRACT", 400, '"id": "30009"'),
        ("ROUTING", 400, '"id": "ROUTING_ERROR"'),
        ("JSON500", 500, '"messageContent"'),
        ("ERROR200", 200, '"type": "ERROR"'),
        ("ERRORPART", 400, "Content-ID: <jsonInfos>"),
        ("ERRORBARE", 400, '{"error": '),
        ("ERRORLIST", 400, '{"errors": [{"code": "30204"'),
        ("ERRORFLAT", 400, '{"errorCode": "30204"'),
        ("SOAPFAULT", 400, "no such fault"),
    ],
)  # fmt: skip
def test_a_refusal_has_other_shapes(sandbox: SandboxServer, name: str, status: int, content: str) -> None:
    reply = beta_buy(sandbox, {"letter.sender.senderParcelRef": f"FAULT {name}"})

    assert reply.response.status_code == status
    assert content in reply.response.text
    assert ledger(sandbox) == []


# The addressee

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


MOBILE = f"{ADDRESSEE}.mobileNumber"
RISING = ("0612345678", "+33612345678", "+33701234567")


@in_one_test(
    "changes, codes",
    [
        # A Belgian point sends its notice to a Belgian mobile alone.
        ({**BELGIAN_PICKUP, MOBILE: "+32470112233"}, []),
        *(({**BELGIAN_PICKUP, MOBILE: mobile}, ["30221"]) for mobile in ("+3222345678", "+33699001122")),
        ({**BELGIAN_PICKUP, MOBILE: ""}, ["30220"]),
        *(({MOBILE: rising}, ["30221"]) for rising in RISING),
        *(({MOBILE: french}, []) for french in ("0699001122", "+33699001122", "+330699001122", "0712345699")),
        # The Emirates have five zeros, and a Luxembourgish postal code no letter.
        ({**CUSTOMS, **beta_to("AE", "00000")}, []),
        *(({**CUSTOMS, **beta_to("AE", zip_code)}, ["30212"]) for zip_code in ("12345", "0")),
        (beta_to("LU", "1118"), []),
        *((beta_to("LU", zip_code), ["30212"]) for zip_code in ("L-1118", "L1118")),
    ],
)
def test_mobile_numbers_and_postal_codes_have_their_countrys_form(
    sandbox: SandboxServer, changes: Changes, codes: list[str]
) -> None:
    assert beta_buy(sandbox, changes).codes == codes

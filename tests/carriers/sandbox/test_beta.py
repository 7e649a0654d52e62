"""beta's label service: what it sells, and everything it refuses."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from carriers.sandbox.beta_tables import DESTINATIONS
from tests.carriers.sandbox.orders import (
    ADDRESSEE,
    CUSTOMS,
    GONE,
    PARIS,
    PICKUP,
    SENDER,
    SERVICE,
    BetaReply,
    Changes,
    beta_buy,
    beta_order,
    beta_to,
    ledger,
    linked,
    post,
)

if TYPE_CHECKING:
    from carriers.sandbox.server import SandboxServer

ARTICLE = "letter.customsDeclarations.contents.article.0"
SWISS = {**CUSTOMS, **beta_to("CH", "3005")}


def test_a_purchase_is_answered_in_parts_and_stands_in_the_ledger(sandbox: SandboxServer) -> None:
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
    assert row == {
        "carrier": "beta",
        "tracking_number": reply.number,
        "reference": "LABEL0000000001",
        "account": "123456",
        "product_code": "DOM",
        "weight_kg": 1.25,
        "parcel_rank": 1,
        "parcel_count": 1,
        "is_cancelled": False,
    }


def test_the_same_request_twice_makes_two_parcels(sandbox: SandboxServer) -> None:
    assert beta_buy(sandbox).number != beta_buy(sandbox).number
    assert len(ledger(sandbox)) == 2


def test_the_newer_version_names_its_block_otherwise(sandbox: SandboxServer) -> None:
    reply = BetaReply(post(f"{sandbox.url}/beta/3.1/generateLabel", json=beta_order()))

    assert reply.infos["labelV31Response"]["parcelNumber"].startswith("6A")


def test_a_check_makes_nothing(sandbox: SandboxServer) -> None:
    reply = beta_buy(sandbox, operation="checkGenerateLabel")

    assert reply.response.status_code == 200
    assert reply.infos["messages"][0]["type"] == "INFOS"
    assert ledger(sandbox) == []
    refused = beta_buy(sandbox, {f"{SERVICE}.productCode": "XXX"}, "checkGenerateLabel")
    assert (refused.response.status_code, refused.codes) == (400, ["30015"])


def test_customs_bring_a_form(sandbox: SandboxServer) -> None:
    reply = beta_buy(sandbox, SWISS)

    assert list(reply.parts) == ["jsonInfos", "label", "cn23"]
    assert reply.parts["cn23"].startswith(b"%PDF-")


def test_an_api_key_replaces_contract_and_password(sandbox: SandboxServer) -> None:
    reply = beta_buy(sandbox, {"contractNumber": GONE, "password": GONE}, apiKey="key-of-1234")

    assert reply.number
    assert ledger(sandbox)[0]["account"] == "api key ...1234"


@pytest.mark.parametrize(
    ("countries", "codes", "is_customs"),
    [
        # The page's table, once more.
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
def test_each_destination_is_served_as_the_page_says(
    countries: str,
    codes: str,
    is_customs: bool,  # noqa: FBT001 a column of the table
) -> None:
    for country in countries.split():
        served = DESTINATIONS[country]
        assert served.home | served.home_signed | served.pickup == set(codes.split())
        assert served.is_customs is is_customs


@pytest.mark.parametrize(
    "changes",
    [
        {f"{SERVICE}.productCode": "DOS"},
        {**PICKUP},
        {**PICKUP, f"{SERVICE}.productCode": "A2P"},
        beta_to("BE", "1000", "DOM"),
        {**PICKUP, **beta_to("DE", "10115", "HD")},
        beta_to("PL", "00-950"),
        {**CUSTOMS, **beta_to("RE", "97400", "COM"), f"{ADDRESSEE}.mobileNumber": "+262692123456"},
        {**CUSTOMS, **beta_to("RE", "97400", "CDS")},
        {**CUSTOMS, **beta_to("AD", "AD500", "DOM")},
        {**CUSTOMS, **beta_to("US", "10001", "DOS")},
        {**CUSTOMS, **beta_to("US", "10001", "COLI")},
        {"letter.parcel.weight": 0.01},
        {"letter.parcel.weight": 30},
        {f"{ADDRESSEE}.companyName": "Société", f"{ADDRESSEE}.lastName": GONE, f"{ADDRESSEE}.firstName": GONE},
        {f"{ADDRESSEE}.mobileNumber": "0701020304", f"{ADDRESSEE}.phoneNumber": "+33123456789"},
        {f"{ADDRESSEE}.line0": "3e étage", f"{ADDRESSEE}.line1": "Bât. Œillet “A”"},
        {f"{ADDRESSEE}.email": GONE, f"{ADDRESSEE}.line3": None},
        {"outputFormat.outputPrintingType": "PDF_A4_300dpi"},
    ],
)
def test_what_the_page_describes_is_sold(sandbox: SandboxServer, changes: Changes) -> None:
    reply = beta_buy(sandbox, changes)

    assert reply.response.status_code == 200, reply.infos
    assert not [message for message in reply.infos["messages"] if message["type"] != "INFOS"]


YESTERDAY = (datetime.now(PARIS) - timedelta(days=1)).date().isoformat()
NO_KEY: Changes = {"contractNumber": GONE, "password": GONE}


@pytest.mark.parametrize(
    ("code", "changes"),
    [
        ("30000", {"contractNumber": GONE}),
        ("30000", {"password": ""}),
        *((code, {"contractNumber": f"1{code}"}) for code in ("30000", "30007", "30008", "30009", "30700")),
        ("30014", {f"{SERVICE}.productCode": GONE}),
        ("30015", {f"{SERVICE}.productCode": "XXX"}),
        ("30213", {f"{SERVICE}.productCode": "COM"}),
        ("30213", beta_to("DE", "10115", "DOM")),
        ("30213", {**PICKUP, **beta_to("GR", "10431", "HD")}),
        ("30213", {**CUSTOMS, **PICKUP, **beta_to("CH", "3005", "HD")}),
        ("30318", {"outputFormat.outputPrintingType": "ZPL_10x15_203dpi"}),
        ("30318", {"outputFormat": GONE}),
        ("30002", {f"{SERVICE}.depositDate": YESTERDAY}),
        ("30010", {f"{SERVICE}.depositDate": GONE}),
        ("30010", {f"{SERVICE}.depositDate": "20260203"}),
        ("30010", {f"{SERVICE}.depositDate": "2026-02-30"}),
        ("30100", {f"{SENDER}.line2": GONE}),
        ("30100", {f"{SENDER}.companyName": GONE}),
        ("30102", {f"{SENDER}.countryCode": GONE}),
        ("30103", {f"{SENDER}.countryCode": "XX"}),
        ("30104", {f"{SENDER}.city": ""}),
        ("30106", {f"{SENDER}.zipCode": GONE}),
        ("30107", {f"{SENDER}.zipCode": "7501"}),
        ("30108", {f"{SENDER}.countryCode": "MC"}),
        ("30109", {f"{SENDER}.countryCode": "DE", f"{SENDER}.zipCode": "10115"}),
        ("30200", {f"{ADDRESSEE}.lastName": GONE}),
        ("30202", {f"{ADDRESSEE}.firstName": GONE}),
        ("30204", {f"{ADDRESSEE}.line2": ""}),
        ("30206", {f"{ADDRESSEE}.countryCode": GONE}),
        ("30207", {f"{ADDRESSEE}.countryCode": "fr"}),
        ("30208", {f"{ADDRESSEE}.city": GONE}),
        ("30210", {f"{ADDRESSEE}.zipCode": GONE}),
        ("30211", {f"{ADDRESSEE}.zipCode": "690"}),
        ("30212", {f"{ADDRESSEE}.zipCode": "97400"}),
        ("30220", {**PICKUP, f"{ADDRESSEE}.mobileNumber": GONE}),
        ("30221", {f"{ADDRESSEE}.mobileNumber": "+33101020304"}),
        ("30221", {f"{ADDRESSEE}.mobileNumber": "+491701234567"}),
        ("30221", {**beta_to("DE", "10115"), f"{ADDRESSEE}.mobileNumber": "01701234567"}),
        ("30221", {**beta_to("DE", "10115"), f"{ADDRESSEE}.mobileNumber": "+4917012345678901"}),
        ("30221", {f"{ADDRESSEE}.phoneNumber": "1" * 16}),
        ("30223", {f"{ADDRESSEE}.email": "a@b"}),
        ("30223", {f"{ADDRESSEE}.email": "x" * 70 + "@example.com"}),
        ("30300", {"letter.parcel.weight": GONE}),
        ("30301", {"letter.parcel.weight": 0}),
        ("30301", {"letter.parcel.weight": 30.01}),
        ("30301", {"letter.parcel.weight": 1.234}),
        ("30400", {f"{SERVICE}.productCode": "HD"}),
        ("30401", {**PICKUP, "letter.parcel.pickupLocationId": "12345"}),
        ("30402", {"letter.parcel.pickupLocationId": "123456"}),
        ("30018", {**PICKUP, f"{SERVICE}.commercialName": GONE}),
        ("30500", beta_to("CH", "3005")),
        ("30501", {f"{SERVICE}.totalAmount": 500}),
        ("30501", {**SWISS, f"{SERVICE}.totalAmount": 0}),
        ("30502", {**SWISS, "letter.customsDeclarations.contents.article": []}),
        ("30503", {**SWISS, "letter.customsDeclarations.contents.category.value": 9}),
        ("30510", {**SWISS, f"{ARTICLE}.description": GONE}),
        ("30511", {**SWISS, f"{ARTICLE}.quantity": 0}),
        ("30513", {**SWISS, f"{ARTICLE}.value": 0}),
        ("30514", {**SWISS, f"{ARTICLE}.hsCode": "shirts"}),
        ("30515", {**SWISS, f"{ARTICLE}.weight": 1.26}),
        ("30516", {**SWISS, f"{ARTICLE}.originCountry": "XX"}),
        ("30517", {**SWISS, f"{ARTICLE}.currency": "€"}),
        ("30550", {**beta_to("DE", "10115"), f"{SERVICE}.returnTypeChoice": GONE}),
        ("30550", {**beta_to("DE", "10115"), f"{SERVICE}.returnTypeChoice": 1}),
        ("30600", {f"{ADDRESSEE}.line2": "улица Ленина"}),
        ("30600", {f"{ADDRESSEE}.city": "Lyon 😀"}),
        ("30600", {f"{SENDER}.companyName": "Atelier\tDurand"}),
        ("30318", linked(1, 5)),
        ("30318", linked(3, 2)),
        ("30318", linked(2, 2)),
        ("30318", linked(2, 2, ("6A00000000000",))),
        ("30318", linked(1, 2, ("6A00000000000",))),
        ("30318", {"fields": {"field": [{"key": "OTHER", "value": "1"}]}}),
    ],
)
def test_what_breaks_a_rule_is_refused_by_code(sandbox: SandboxServer, code: str, changes: Changes) -> None:
    reply = beta_buy(sandbox, changes)

    assert reply.response.status_code == 400
    assert reply.response.headers["Content-Type"] == "application/json"
    assert code in reply.codes
    assert ledger(sandbox) == []


def test_every_error_is_reported_at_once(sandbox: SandboxServer) -> None:
    reply = beta_buy(sandbox, {f"{ADDRESSEE}.line2": GONE, "letter.parcel.weight": 31})

    assert reply.codes == ["30204", "30301"]


@pytest.mark.parametrize(
    ("changes", "key"), [({}, "key"), (NO_KEY, "key-30000"), (NO_KEY, "key-30007"), (NO_KEY, "key-30009")]
)
def test_an_api_key_is_checked(sandbox: SandboxServer, changes: Changes, key: str) -> None:
    reply = beta_buy(sandbox, changes, apiKey=key)

    assert reply.codes == [key[4:] or "30000"]


@pytest.mark.parametrize(
    ("path", "longest"),
    [
        (f"{SERVICE}.orderNumber", 30),
        (f"{SERVICE}.commercialName", 35),
        ("letter.sender.senderParcelRef", 15),
        ("letter.addressee.addresseeParcelRef", 15),
        (f"{SENDER}.companyName", 35),
        (f"{ADDRESSEE}.lastName", 35),
        (f"{ADDRESSEE}.firstName", 29),
        *((f"{ADDRESSEE}.{line}", 35) for line in ("line0", "line1", "line2", "line3", "city")),
    ],
)
def test_over_long_text_is_cut_with_a_warning(sandbox: SandboxServer, path: str, longest: int) -> None:
    fits, cut = (beta_buy(sandbox, {path: "x" * length}) for length in (longest, longest + 1))

    assert [message["type"] for message in fits.infos["messages"]] == ["INFOS"]
    assert [message["type"] for message in cut.infos["messages"]] == ["INFOS", "WARNING"]
    assert path.rsplit(".", maxsplit=1)[-1] in cut.infos["messages"][1]["messageContent"]


@pytest.mark.parametrize(
    ("changes", "place"),
    [
        ({"letter.extra": "1"}, "request.letter.extra"),
        ({"letter.parcel.weight": "1.25"}, "request.letter.parcel.weight"),
        ({"letter.service.orderNumber": 1}, "request.letter.service.orderNumber"),
        ({"outputFormat.x": True}, "request.outputFormat.x"),
        ({"letter": []}, "request.letter"),
        ({**SWISS, f"{ARTICLE}.extra": 1}, "request.letter.customsDeclarations.contents.article[0].extra"),
        ({"fields": {"field": {}}}, "request.fields.field"),
    ],
)
def test_a_body_of_another_shape_is_refused(sandbox: SandboxServer, changes: Changes, place: str) -> None:
    reply = beta_buy(sandbox, changes)

    assert reply.response.status_code == 400
    assert reply.infos["message"].startswith(place)


@pytest.mark.parametrize(
    ("body", "content_type"),
    [
        (b"", "application/json"),
        (b"[]", "application/json"),
        (b"not json", "application/json"),
        (b'{"contractNumber": NaN}', "application/json"),
        (b"[" * 100_000, "application/json"),
        ('{"contractNumber": "é"}'.encode("latin-1"), "application/json"),
        (b"{}", "text/plain"),
        (b"{}", "application/json; charset=iso-8859-1"),
    ],
)
def test_what_is_not_json_is_refused(sandbox: SandboxServer, body: bytes, content_type: str) -> None:
    headers = {"Content-Type": content_type}
    response = post(f"{sandbox.beta_url}/generateLabel", data=body, headers=headers)

    assert response.status_code == 400
    assert response.json()["message"]


def test_an_empty_object_is_refused_for_its_credentials(sandbox: SandboxServer) -> None:
    assert BetaReply(post(f"{sandbox.beta_url}/generateLabel", json={})).codes == ["30000"]


def test_linked_parcels_are_made_one_by_one(sandbox: SandboxServer) -> None:
    followers = tuple(beta_buy(sandbox, linked(rank, 3)).number for rank in (1, 2))

    master = beta_buy(sandbox, linked(3, 3, followers))

    assert master.response.status_code == 200
    assert [(row["parcel_rank"], row["parcel_count"]) for row in ledger(sandbox)] == [(1, 3), (2, 3), (3, 3)]


@pytest.mark.parametrize("changes", [{"contractNumber": "654321"}, {}])
def test_a_master_names_its_own_contracts_followers(sandbox: SandboxServer, changes: dict[str, Any]) -> None:
    follower = beta_buy(sandbox, linked(1, 2)).number
    stranger = follower if changes else beta_buy(sandbox).number

    assert beta_buy(sandbox, {**changes, **linked(2, 2, (stranger,))}).codes == ["30318"]


CODES = (
    "1 30000 30007 30008 30009 30700 30014 30015 30318 30213 30109 30002 30010 30018 30100 30102 30103 30104 "
    "30106 30107 30108 30200 30202 30204 30206 30207 30208 30210 30211 30212 30220 30221 30222 30223 30300 30301 "
    "30400 30401 30402 30403 30900 30901 30902 30903 30904 30500 30554 30562 30600 30701 40011 40015 40018"
)


@pytest.mark.parametrize("code", CODES.split())
def test_every_error_code_is_had_by_the_magic_reference(sandbox: SandboxServer, code: str) -> None:
    reply = beta_buy(sandbox, {"letter.sender.senderParcelRef": f"FAULT {code}"})

    assert (reply.response.status_code, reply.codes) == (400, [code])
    assert ledger(sandbox) == []


def test_a_fault_of_the_second_linked_parcel_leaves_the_first(sandbox: SandboxServer) -> None:
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

"""beta's validation: refusals by code, cuts with a warning, bodies that can't be read."""

from datetime import datetime, timedelta

import pytest

from carriers.sandbox.data import PARIS
from carriers.sandbox.server import SandboxServer
from tests.carriers.sandbox.beta.orders import (
    ADDRESSEE,
    ARTICLE,
    CUSTOMS,
    PICKUP,
    SENDER,
    SERVICE,
    SWISS,
    BetaReply,
    beta_buy,
    beta_to,
    fields,
    linked,
)
from tests.carriers.sandbox.changes import GONE, Changes
from tests.carriers.sandbox.control import ledger, post
from tests.carriers.support.pdfs import texts
from tests.support.cases import in_one_test

YESTERDAY = (datetime.now(PARIS) - timedelta(days=1)).date().isoformat()
DOS: Changes = {f"{SERVICE}.productCode": "DOS"}
NO_KEY: Changes = {"contractNumber": GONE, "password": GONE}


@in_one_test(
    "code, changes",
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
        ("30043", {f"{SENDER}.companyName": GONE}),
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
        ("30221", {f"{ADDRESSEE}.mobileNumber": "+491701122334"}),
        ("30221", {**beta_to("DE", "10115"), f"{ADDRESSEE}.mobileNumber": "01701122334"}),
        ("30221", {**beta_to("DE", "10115"), f"{ADDRESSEE}.mobileNumber": "+4917011223348901"}),
        *(("30221", {f"{ADDRESSEE}.phoneNumber": number}) for number in ("1" * 16, "+" + "1" * 15, "+", "01 42 08")),
        ("30065", {f"{SENDER}.phoneNumber": "01 42 08"}),
        ("30065", {f"{SENDER}.mobileNumber": "+33612345678"}),
        ("30223", {f"{ADDRESSEE}.email": "a@b"}),
        ("30223", {f"{ADDRESSEE}.email": "x" * 70 + "@example.com"}),
        ("30300", {"letter.parcel.weight": GONE}),
        ("30301", {"letter.parcel.weight": 0}),
        ("30301", {"letter.parcel.weight": 30.01}),
        ("30301", {"letter.parcel.weight": 1.234}),
        ("30213", {**CUSTOMS, **beta_to("SO", "0")}),
        *(("30309", {"letter.parcel.insuranceValue": cents, **DOS}) for cents in (0, -1, 500_001)),
        ("30309", {"letter.parcel.insuranceValue": 1}),
        ("30309", {**CUSTOMS, **beta_to("RE", "97400", "COM"), "letter.parcel.insuranceValue": 10_000}),
        ("30309", {**PICKUP, "letter.parcel.insuranceValue": 100_001}),
        ("30309", {**PICKUP, f"{SERVICE}.productCode": "A2P", "letter.parcel.insuranceValue": 10_000}),
        ("30309", {**CUSTOMS, **beta_to("SX", "0"), "letter.parcel.insuranceValue": 10_000}),
        ("30026", {**CUSTOMS, **beta_to("ES", "35002")}),
        ("30026", {**CUSTOMS, **beta_to("ES", "51001"), f"{SERVICE}.reseauPostal": 0}),
        ("30026", {f"{SERVICE}.reseauPostal": 1}),
        ("30026", {**beta_to("DE", "10115"), f"{SERVICE}.reseauPostal": 2}),
        ("30026", {**beta_to("PT", "1100-200"), f"{SERVICE}.reseauPostal": 1}),
        ("30026", {"letter.parcel.disabledDeliveryBlockingCode": "1"}),
        ("30026", {"letter.parcel.disabledDeliveryBlockingCode": "2", **DOS}),
        ("30026", {**PICKUP, "letter.parcel.nonMachinable": True}),
        ("30008", {"contractNumber": "NEW123456"}),
        ("30008", {"contractNumber": "CHILD1"}),
        ("30008", fields(ACCOUNT_NUMBER="12 34")),
        ("30400", {f"{SERVICE}.productCode": "HD"}),
        ("30401", {**PICKUP, "letter.parcel.pickupLocationId": "12345"}),
        ("30402", {"letter.parcel.pickupLocationId": "123456"}),
        ("30018", {**PICKUP, f"{SERVICE}.commercialName": GONE}),
        ("30500", beta_to("CH", "3005")),
        ("30020", {f"{SERVICE}.totalAmount": 500}),
        ("30020", {**SWISS, f"{SERVICE}.totalAmount": 0}),
        ("30020", {**SWISS, f"{SERVICE}.totalAmount": GONE}),
        ("30502", {**SWISS, "letter.customsDeclarations.contents.article": []}),
        ("30503", {**SWISS, "letter.customsDeclarations.contents.category.value": 9}),
        ("30510", {**SWISS, f"{ARTICLE}.description": GONE}),
        ("30511", {**SWISS, f"{ARTICLE}.quantity": 0}),
        ("30513", {**SWISS, f"{ARTICLE}.value": 0}),
        *(("30519", {**SWISS, f"{ARTICLE}.hsCode": code}) for code in ("shirts", "6109", "6109101", "610910.10", "")),
        ("30515", {**SWISS, f"{ARTICLE}.weight": 1.26}),
        ("30516", {**SWISS, f"{ARTICLE}.originCountry": "XX"}),
        ("30517", {**SWISS, f"{ARTICLE}.currency": "€"}),
        ("30550", {**beta_to("DE", "10115"), f"{SERVICE}.returnTypeChoice": GONE}),
        ("30550", {**beta_to("DE", "10115"), f"{SERVICE}.returnTypeChoice": 1}),
        ("30600", {f"{ADDRESSEE}.line2": "улица Ленина"}),
        ("30600", {f"{ADDRESSEE}.city": "Lyon 😀"}),
        ("30600", {f"{ADDRESSEE}.city": "\uff2c\uff59\uff4f\uff4e"}),
        ("30600", {f"{SENDER}.companyName": "Atelier\tDurand"}),
        ("30318", linked(1, 5)),
        ("30318", linked(3, 2)),
        ("30318", linked(2, 2)),
        ("30318", linked(2, 2, ("6A00000000000",))),
        ("30318", linked(1, 2, ("6A00000000000",))),
        ("30318", {"fields": {"field": [{"key": "OTHER", "value": "1"}]}}),
    ],
)
def test_a_broken_rule_is_refused_by_code(sandbox: SandboxServer, code: str, changes: Changes) -> None:
    reply = beta_buy(sandbox, changes)

    assert reply.response.status_code == 400
    assert reply.response.headers["Content-Type"] == "application/json"
    assert code in reply.codes
    assert ledger(sandbox) == []


@pytest.mark.parametrize(
    "changes",
    [
        *({"letter.parcel.insuranceValue": cents, **DOS} for cents in (1, 500_000)),
        {**PICKUP, "letter.parcel.insuranceValue": 100_000},
        {**CUSTOMS, **beta_to("RE", "97400", "CDS"), "letter.parcel.insuranceValue": 500_000},
        {**CUSTOMS, **beta_to("ES", "35002"), f"{SERVICE}.reseauPostal": 1},
        {**beta_to("DE", "10115"), f"{SERVICE}.reseauPostal": 1},
        {**beta_to("ES", "28012"), f"{SERVICE}.reseauPostal": 0},
        {"contractNumber": "NEW123456", **fields(ACCOUNT_NUMBER="123456")},
        {"contractNumber": "CHILD1", **fields(ACCOUNT_NUMBER="1")},
        fields(ACCOUNT_NUMBER="123456"),
        # What the pages name and no label here needs.
        {"letter.parcel.nonMachinable": True, f"{ADDRESSEE}.doorCode1": "12B45", f"{ADDRESSEE}.doorCode2": "C" * 8},
        {"letter.parcel.disabledDeliveryBlockingCode": "1", f"{ADDRESSEE}.intercom": "x" * 30, **DOS},
        {"letter.parcel.disabledDeliveryBlockingCode": "", **DOS},
        {**PICKUP, "letter.parcel.nonMachinable": False},
        fields(PRINT_CUSTOMER_LABEL="1", CUSTOMER_LABEL="ORDER 1001", CUSER_INFO_TEXT="spring"),
        fields(EORI_ADRESSEE="FR12345678901234"),
        fields(EORI_ADDRESSEE="FR12345678901234"),
    ],
)
def test_an_option_within_its_rules_is_sold(sandbox: SandboxServer, changes: Changes) -> None:
    assert beta_buy(sandbox, changes).codes == []


def test_an_api_key_of_the_newer_kind_needs_the_accounts_number_beside_it(sandbox: SandboxServer) -> None:
    assert beta_buy(sandbox, NO_KEY, apiKey="NEW-key").codes == ["30008"]
    assert beta_buy(sandbox, {**NO_KEY, **fields(ACCOUNT_NUMBER="123456")}, apiKey="NEW-key").codes == []


def test_words_to_the_driver_are_printed(sandbox: SandboxServer) -> None:
    reply = beta_buy(sandbox, {"letter.parcel.instructions": "Code 12A ring twice"})
    assert "Code 12A ring twice" in texts(reply.parts["label"])[0]


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
        ("letter.parcel.instructions", 35),
        ("letter.addressee.addresseeParcelRef", 15),
        (f"{SENDER}.companyName", 35),
        (f"{ADDRESSEE}.lastName", 35),
        (f"{ADDRESSEE}.firstName", 29),
        *((f"{ADDRESSEE}.{line}", 35) for line in ("line0", "line1", "line2", "line3", "city")),
        *((f"{SENDER}.{code}", 8) for code in ("doorCode1", "doorCode2")),
        (f"{ADDRESSEE}.intercom", 30),
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
def test_a_body_that_is_not_json_is_refused(sandbox: SandboxServer, body: bytes, content_type: str) -> None:
    headers = {"Content-Type": content_type}
    response = post(f"{sandbox.urls['BETA_URL']}/generateLabel", data=body, headers=headers)

    assert response.status_code == 400
    assert response.json()["message"]


def test_an_empty_object_is_refused_for_its_credentials(sandbox: SandboxServer) -> None:
    assert BetaReply(post(f"{sandbox.urls['BETA_URL']}/generateLabel", json={})).codes == ["30000"]

"""Every error code of beta's page: class, our field, cause and remedy, and what counts towards the circuit breaker."""

from collections.abc import Iterator
from itertools import product
from typing import Any

import pytest

from carriers.beta.refusals import REFUSALS
from carriers.errors import (
    AddressRejected,
    CarrierError,
    CarrierUnavailable,
    CredentialsRejected,
    OutcomeUnknown,
    PickupPointRejected,
    ProductNotInContract,
    Rejected,
    RequestRejected,
)
from tests.carriers.conftest import Serve
from tests.carriers.support.beta import JSON
from tests.carriers.support.refusals import beta_refusal, messages, refusal
from tests.carriers.support.servers import LABEL, MULTIPART, always, answer_file, http
from tests.carriers.support.shipments import CREDENTIALS, client, shipment
from tests.support.cases import in_one_test

RECIPIENT, SENDER = "destinationAddress", "originAddress"
BETA_LABEL = answer_file("beta_parcel_1.multipart")
Row = tuple[str, type[CarrierError], str]


def _rows(error: type[CarrierError], field: str, codes: str) -> Iterator[Row]:
    return ((code, error, field) for code in codes.split())


# Copied from the page by hand, not from the client's table.
CODES: list[Row] = [
    *_rows(CredentialsRejected, "", "30000 30007 30008"),
    *_rows(ProductNotInContract, "productCode", "30009 30700"),
    *_rows(RequestRejected, "productCode", "30014 30015 30318 30213"),
    *_rows(RequestRejected, "productCode", " ".join(f"ROUTING_{number}" for number in range(18, 23))),
    *_rows(RequestRejected, f"{SENDER}.countryCode", "30109"),
    *_rows(RequestRejected, "", "30002 30010 30018 30017 30022 30023 30025 30026 30090 30702 30703"),
    *_rows(RequestRejected, "", "14040 40011 40012 40013 40016 40017 30704 30705 30600"),
    *_rows(RequestRejected, "", " ".join(map(str, range(30800, 30821)))),
    *_rows(RequestRejected, "customs.shippingCost", "30020"),
    *_rows(RequestRejected, "parcels[0]", "30303 30306 30310 30311 30312 30313 30316 30317 30321"),
    *_rows(RequestRejected, "insuredValue", "30309"),
    *_rows(RequestRejected, "parcels[0]", "30323 30324 30325 30326 30327"),
    *_rows(AddressRejected, SENDER, "30043 30045 30046 30047 30065 30085"),
    *_rows(AddressRejected, f"{SENDER}.address1", "30100"),
    *_rows(AddressRejected, f"{SENDER}.countryCode", "30102 30103"),
    *_rows(AddressRejected, f"{SENDER}.city", "30104"),
    *_rows(AddressRejected, f"{SENDER}.zip", "30106 30107 30108"),
    *_rows(AddressRejected, f"{RECIPIENT}.lastName", "30089 30200 30202"),
    *_rows(AddressRejected, f"{RECIPIENT}.address1", "30204"),
    *_rows(AddressRejected, f"{RECIPIENT}.countryCode", "30206 30207"),
    *_rows(AddressRejected, f"{RECIPIENT}.city", "30208"),
    *_rows(AddressRejected, f"{RECIPIENT}.zip", "30210 30211 30212"),
    *_rows(
        AddressRejected,
        f"{RECIPIENT}.zip",
        " ".join(f"ROUTING_{number}" for number in (0, 2, 5, 6, 7, 8, 9, 26, 27, 200, 201, 202, 203)),
    ),
    *_rows(AddressRejected, f"{RECIPIENT}.zip", "GEO_ROUTING_IV106 GEO_ROUTING_IV107 GEO_ROUTING_IV108"),
    *_rows(RequestRejected, f"{RECIPIENT}.phone", "30220 30221"),
    *_rows(RequestRejected, f"{RECIPIENT}.email", "30222 30223"),
    *_rows(RequestRejected, "parcels[0].weight", "30300 30301"),
    *_rows(PickupPointRejected, "pickupPointCode", "30400 30401 30402 30403 30900 30901 30902 30903 30904"),
    *_rows(RequestRejected, "customs", " ".join(str(code) for code in range(30500, 30555) if code != 30519)),
    *_rows(RequestRejected, "customs.items", "30519"),
    *_rows(RequestRejected, "customs.eori", "30562"),
    *_rows(CarrierUnavailable, "", "1 30701 40014 40015 40018 ROUTING_23 ROUTING_24 ROUTING_25"),
]
RECORDED = "50005"  # for a value that is null; the page lacks it
FAMILIES = [(code, CarrierUnavailable, "") for code in ("300", "399", "1000", "1099")]
UNDOCUMENTED = [
    "39999", "2", "99", "400", "30001", "30555", "30821", "1100", "ROUTING_1", "ROUTING_42", "ROUTING_ERROR", "UNHEARD",
    "GEO_ROUTING_IV109", "030204", "3020 4", "",
]  # fmt: skip


def failure(code: str, status: int = 400, **values: Any) -> CarrierError:
    document = {"messages": [{"id": code, "type": "ERROR", "messageContent": "texte"}]} | values
    return refusal("beta", beta_refusal(document, status))


@in_one_test("code, error, field", [*CODES, *FAMILIES])
def test_every_code_of_the_page_has_its_class_and_names_our_field(
    code: str, error: type[CarrierError], field: str
) -> None:
    caught = failure(code)
    assert (type(caught), caught.field, caught.carrier_code) == (error, field, code)
    assert caught.is_nothing_made
    assert caught.http_status == 400
    assert str(caught).endswith(": texte")
    assert caught.is_carrier_failing == (error is CarrierUnavailable)


@pytest.mark.parametrize("zip_code", ["30220", "30900", "30000"])  # Aigues-Mortes and Nimes
def test_a_documented_code_is_shown_where_the_customers_postal_code_is_the_same(zip_code: str) -> None:
    caught = refusal("beta", beta_refusal(messages(zip_code)), recipient={"zip_code": zip_code})
    assert (caught.carrier_code, caught.carrier_text) == (zip_code, "text ***")


def test_the_table_holds_the_codes_of_the_page_and_one_that_was_recorded() -> None:
    assert set(REFUSALS) == {code for code, _, _ in CODES} | {RECORDED}
    assert len(CODES) == len(set(REFUSALS)) - 1 == 190


@in_one_test("code, status", product(UNDOCUMENTED, [200, 400, 500]))
def test_an_undocumented_code_leaves_the_outcome_unknown(code: str, status: int) -> None:
    caught = failure(code, status)
    assert type(caught) is OutcomeUnknown
    assert not caught.is_nothing_made
    assert caught.is_carrier_failing == (status == 500)  # counts towards the circuit breaker
    assert "texte" in str(caught)


@pytest.mark.parametrize("status", [200, 400])
@pytest.mark.parametrize("said", [("INFOS", "0"), ("WARNING", "30204")])
@pytest.mark.parametrize(("code", "error"), [("30301", RequestRejected), ("39999", OutcomeUnknown)])
def test_what_is_said_beside_an_error_refuses_nothing(
    said: tuple[str, str], code: str, error: type[CarrierError], status: int
) -> None:
    kind, beside = said
    said_of = messages(beside, kind=kind)["messages"] + messages(code)["messages"]
    caught = refusal("beta", beta_refusal({"messages": said_of}, status))
    assert (type(caught), caught.carrier_code, caught.carrier_text) == (error, code, f"text {code}")
    assert not (isinstance(caught, Rejected) and caught.others)


@pytest.mark.parametrize("status", [401, 403])
@pytest.mark.parametrize(
    "answer",
    [
        (b"<html>Forbidden</html>", "text/html"),
        (b"", "text/plain"),
        (b"{}", JSON),
        (b'{"messages": []}', JSON),
        (b'{"error": "Unauthorized", "message": "no"}', JSON),
        (b"nonsense", MULTIPART),
    ],
)
def test_http_401_and_403_are_refusals_of_the_credentials(status: int, answer: tuple[bytes, str]) -> None:
    caught = refusal("beta", http(answer[0], status, answer[1]))
    assert (type(caught), caught.http_status, caught.is_carrier_failing) == (CredentialsRejected, status, False)


def test_a_parcel_in_an_answer_of_http_403_is_not_forgotten() -> None:
    caught = refusal("beta", http(BETA_LABEL, 403, MULTIPART))
    assert type(caught) is OutcomeUnknown
    assert caught.made.tracking_numbers == tuple(caught.made.pdfs) == ("6A12345678901",)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b'"6A12345678901"', b"null"),
        (b'{"messages"', b'"messages"'),
        ("succès".encode(), "succès".encode("latin-1")),
        (b'"INFOS"', b'"INFOS"} {'),
    ],
    ids=["no number", "no object", "no UTF-8", "no JSON"],
)
def test_a_pdf_that_comes_without_a_number_is_kept(old: bytes, new: bytes) -> None:
    assert old in BETA_LABEL
    caught = refusal("beta", http(BETA_LABEL.replace(old, new), content_type=MULTIPART))
    assert type(caught) is OutcomeUnknown
    assert (caught.made.tracking_numbers, list(caught.made.pdfs)) == ((), ["parcel-1"])


def test_an_error_beside_a_pdf_without_a_number_is_no_refusal() -> None:
    label = BETA_LABEL.replace(b'"6A12345678901"', b"null").replace(b"INFOS", b"ERROR")
    caught = refusal("beta", http(label.replace(b'"id": "0"', b'"id": "30301"'), content_type=MULTIPART))
    assert type(caught) is OutcomeUnknown
    assert list(caught.made.pdfs) == ["parcel-1"]


def test_the_wrong_parcel_of_several_is_named(serve: Serve) -> None:
    server = serve(always(LABEL["beta"], beta_refusal(messages("30301"))))
    with pytest.raises(RequestRejected) as caught:
        client("beta", server.url).create_label(shipment("beta", 3), CREDENTIALS["beta"])
    assert caught.value.field == "parcels[1].weight"
    assert caught.value.made.tracking_numbers == ("6A12345678901",)

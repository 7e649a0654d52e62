"""A label is bought: what the shop sends, what the carrier gets, and what the shop is answered."""

import re
from datetime import UTC, datetime, timedelta
from typing import Any

import orjson
import pytest
from django.db.models import Model

from carriers.products import PRODUCTS
from labels.models import LabelState, ShippingLabel
from tests.labels.conftest import Sandbox, row
from tests.labels.orders import PRODUCT, RECIPIENT, SENDER, order, post, weighing
from tests.support.api import Caller, assert_error, client, forget

CARRIERS = sorted(PRODUCT)
FIELDS = [
    *("id", "shopId", "orderId", "carrierCode", "productCode", "trackingNumber"),
    *("labelUrl", "weight", "status", "createdAt"),
]


def columns(label: Model) -> dict[str, Any]:
    return {field.attname: getattr(label, field.attname) for field in label._meta.concrete_fields}


@pytest.mark.parametrize("carrier_code", CARRIERS)
def test_a_bought_label_is_answered_whole(carrier_code: str, buyer: Caller, sandbox: Sandbox) -> None:
    response = post(buyer, order(PRODUCT[carrier_code]))
    assert response.status_code == 201
    body = response.json()
    parcel = sandbox.made()[0]
    assert list(body) == FIELDS
    assert body == {
        "id": parcel.reference,
        "shopId": "own",
        "orderId": "5400000001",
        "carrierCode": carrier_code,
        "productCode": PRODUCT[carrier_code],
        "trackingNumber": parcel.tracking_number,
        "labelUrl": body["labelUrl"],
        "weight": 1.25,
        "status": "label_generated",
        "createdAt": body["createdAt"],
    }
    assert re.fullmatch(r"[0-9A-Z]{15}", body["id"])
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", body["createdAt"])
    assert abs(datetime.fromisoformat(body["createdAt"]) - datetime.now(UTC)) < timedelta(minutes=1)
    assert body["labelUrl"].startswith("http://testserver/files/")
    assert response["Cache-Control"] == "no-store"
    assert "Idempotent-Replayed" not in response.headers
    assert re.fullmatch(r'"shop";q=\d+;w=60', response["RateLimit-Policy"])
    assert re.fullmatch(r'"shop";r=\d+;t=\d+', response["RateLimit"])
    assert [parcel.account for parcel in sandbox.made()] == [
        row().shop.contracts.get(carrier_code=carrier_code).account_number
    ]


@pytest.mark.parametrize("carrier_code", CARRIERS)
def test_the_row_of_a_bought_label_tells_all_of_it(carrier_code: str, buyer: Caller, sandbox: Sandbox) -> None:
    body = post(buyer, order(PRODUCT[carrier_code], parcels=weighing(0.1, 2)), key="k").json()
    label = row()
    token = buyer.shop.tokens.get()
    assert columns(label) == columns(label) | {
        "id": body["id"],
        "shop_id": "own",
        "state": LabelState.GENERATED,
        "token_id": token.id,
        "order_id": "5400000001",
        "carrier_code": carrier_code,
        "product_code": PRODUCT[carrier_code],
        "reference": "CMD 4711",
        "pickup_point_code": "",
        "sender": SENDER,
        "recipient": RECIPIENT,
        "weights_kg": ["0.1", "2"],
        "idempotency_key": "k",
        "tracking_numbers": [parcel.tracking_number for parcel in sandbox.made()],
        "pdf": None,
        "error_code": "",
        "error_message": "",
        "error_status": None,
        "decided_by": "",
        "decided_at": None,
    }
    assert label.finished_at is not None
    assert label.finished_at >= label.created_at


def test_the_url_of_a_new_label_downloads_its_pdf(buyer: Caller) -> None:
    body = post(buyer, order()).json()
    response = client().get(body["labelUrl"])
    assert response.status_code == 200
    assert response["Content-Type"] == "application/pdf"
    assert response["Content-Disposition"] == f'inline; filename="label-{body["id"]}.pdf"'
    assert response.content.startswith(b"%PDF-")
    assert b"%%EOF" in response.content[-1024:]


@pytest.mark.parametrize("product_code", PRODUCTS)
def test_every_product_can_be_bought(product_code: str, buyer: Caller, sandbox: Sandbox) -> None:
    body = post(buyer, order(product_code)).json()
    assert (body.get("status"), body.get("productCode")) == ("label_generated", product_code), body
    (parcel,) = sandbox.made(body["id"])
    assert (parcel.carrier, parcel.tracking_number) == (PRODUCTS[product_code].carrier, body["trackingNumber"])
    label = sandbox.printed(parcel)
    point = {"alpha": "1234A", "beta": "001234"}[parcel.carrier]
    assert label.pickup_point == (point if PRODUCTS[product_code].needs_pickup_point else "")


@pytest.mark.parametrize(("carrier_code", "count"), [("alpha", 3), ("beta", 4)])
def test_several_parcels_are_one_label_with_the_first_ones_number(
    carrier_code: str, count: int, buyer: Caller, sandbox: Sandbox
) -> None:
    weights = [0.5 + number for number in range(count)]
    body = post(buyer, order(PRODUCT[carrier_code], parcels=weighing(*weights))).json()
    made = sandbox.made(body["id"])
    assert [(parcel.parcel_rank, parcel.weight_kg) for parcel in made] == list(enumerate(weights, 1))
    assert body["trackingNumber"] == made[0].tracking_number
    assert body["weight"] == sum(weights)
    assert row().tracking_numbers == [parcel.tracking_number for parcel in made]
    pdf = client().get(body["labelUrl"]).content
    assert pages(pdf) == count


def pages(pdf: bytes) -> int:
    import pypdfium2  # noqa: PLC0415 - it takes its time to load

    document = pypdfium2.PdfDocument(pdf)
    try:
        return len(document)
    finally:
        document.close()


def test_alpha_takes_99_parcels(buyer: Caller, sandbox: Sandbox) -> None:
    body = post(buyer, order(parcels=weighing(*[0.1] * 99))).json()
    assert len(sandbox.made(body["id"])) == 99
    assert body["weight"] == 9.9


SUMS = {
    "0.1,0.2": b"0.3",
    "0.1,0.2,0.3,0.4": b"1",
    "1,2": b"3",
    "1.0": b"1",
    "1e0": b"1",
    "1.5,2": b"3.5",
    "30": b"30",
    "1.1,2.2": b"3.3",
    "0.001": b"0.001",
    "29.999,29.999,29.999": b"89.997",
    "1E-2": b"0.01",
}


def test_weights_are_summed_exactly_and_whole_numbers_stay_whole(buyer: Caller) -> None:
    for weights, total in SUMS.items():
        parcels = ",".join(f'{{"weight":{weight}}}' for weight in weights.split(","))
        body = bytes_of(order(parcels="PARCELS")).replace(b'"PARCELS"', f"[{parcels}]".encode())
        response = post(buyer, body)
        assert response.status_code == 201
        assert b'"weight":' + total + b"," in response.content, weights


def bytes_of(body: Any) -> bytes:
    return orjson.dumps(body)


# --- Where it comes from ---


def test_a_label_without_an_origin_is_sent_from_the_shops_own_address(buyer: Caller, sandbox: Sandbox) -> None:
    buyer.shop.sender_address = SENDER | {"address1": "1 quai des Brumes"}
    buyer.shop.save()
    body = order()
    del body["originAddress"]
    assert post(buyer, body).status_code == 201
    assert row().sender == buyer.shop.sender_address
    assert "1 quai des Brumes" in sandbox.printed(sandbox.made()[0]).sender


def test_an_origin_in_the_order_comes_before_the_shops_own_address(buyer: Caller, sandbox: Sandbox) -> None:
    buyer.shop.sender_address = SENDER | {"address1": "1 quai des Brumes"}
    buyer.shop.save()
    assert post(buyer, order()).status_code == 201
    assert row().sender == SENDER
    assert "3 rue de lEglise" in sandbox.printed(sandbox.made()[0]).sender


def test_a_shop_without_a_sender_address_is_told_so(asker: Caller, sandbox: Sandbox) -> None:
    body = order()
    del body["originAddress"]
    response = post(asker, body)
    assert_error(response, 400, "originAddress: is required, as the shop has no sender address of its own.")
    assert sandbox.calls() == 0
    assert not ShippingLabel.objects.exists()


def test_a_missing_sender_is_reported_along_with_the_other_faults(asker: Caller) -> None:
    body = order(orderId=1, parcels=weighing(31))
    del body["originAddress"]
    too_heavy = "parcels[0].weight: must be above 0 and at most 30 kilograms."
    faults = f"orderId: must be a string, not an integer. {too_heavy}"
    message = f"{faults} originAddress: is required, as the shop has no sender address of its own."
    assert_error(post(asker, body), 400, message)
    asker.shop.sender_address = SENDER
    asker.shop.save()
    forget()
    assert_error(post(asker, body), 400, faults)


# --- What is written on it ---


def test_accents_are_stripped_for_alpha_and_kept_for_beta(buyer: Caller, sandbox: Sandbox) -> None:
    for product_code in PRODUCT.values():
        assert post(buyer, order(product_code)).status_code == 201
    alpha, beta = (" ".join(sandbox.printed(parcel).recipient) for parcel in sandbox.made())
    assert "Soren Grunwald" in alpha
    assert "128 boulevard Oedipe" in alpha
    assert "Grünwald" in beta
    assert "128 boulevard Œdipe" in beta


@pytest.mark.parametrize("carrier_code", CARRIERS)
def test_the_reference_is_printed(carrier_code: str, buyer: Caller, sandbox: Sandbox) -> None:
    reference = {"alpha": "R" * 35, "beta": "R" * 15}[carrier_code]
    post(buyer, order(PRODUCT[carrier_code], reference=reference))
    assert sandbox.printed(sandbox.made()[0]).reference == reference


def test_without_a_reference_beta_prints_the_labels_id(buyer: Caller, sandbox: Sandbox) -> None:
    body = order(PRODUCT["beta"])
    del body["reference"]
    assert post(buyer, body).status_code == 201
    assert sandbox.printed(sandbox.made()[0]).reference == row().id


SPACES_AND_DASHES = (
    *"\u0020\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000",
    *"\t\n\r\u000b\u000c\u0085\u2028\u2029\u200b\u2060\ufeff\u00ad\u200e\u202a",
    *"-\u2010\u2011\u2012\u2013\u2014\u2015\u2212\u2043\u02d7\u2027\ufe58\ufe63\uff0d\u2e3a\u301c\u30fc.",
)


def test_a_phone_may_have_any_space_or_dash_in_it(asker: Caller) -> None:
    for character in SPACES_AND_DASHES:
        phone = {"phone": character.join(["06", "12", "34", "56", "78"])}
        response = post(asker, order(orderId="", origin=phone, destination=phone))
        # The order's id is the only fault.
        assert response.json()["message"] == "orderId: must not be empty.", f"U+{ord(character):04X}"


@pytest.mark.parametrize(
    ("country_code", "phone", "expected"),
    [
        ("FR", "0612345678", "+33612345678"),
        ("FR", " 06.12.34.56.78 ", "+33612345678"),
        ("FR", "06\u202f12\u201134\u00ad56\u202878", "+33612345678"),
        ("FR", "\u206006\u204312\t34\u300056\u221278\n", "+33612345678"),
        ("FR", "+33 (0)6 12 34 56 78", "+33612345678"),
        ("FR", "0033 6 12 34 56 78", "+33612345678"),
        ("FR", "33612345678", "+33612345678"),
        ("FR", "\uff0b33\u3000612345678", "+33612345678"),
        ("FR", "\u0660\u0666\u0661\u0662\u0663\u0664\u0665\u0666\u0667\u0668", "+33612345678"),
        ("FR", "tel:+33-6-12-34-56-78", "+33612345678"),
        ("FR", "(06) 12/34/56/78", "+33612345678"),
        ("FR", "+49 30 901820", "+4930901820"),
        ("DE", "030 901820", "+4930901820"),
        ("BE", "0470 12 34 56", "+32470123456"),
    ],
)
@pytest.mark.parametrize("carrier_code", CARRIERS)
def test_a_phone_reaches_the_carrier_as_e164(
    carrier_code: str, country_code: str, phone: str, expected: str, buyer: Caller, sandbox: Sandbox
) -> None:
    product_code = {"alpha": "alpha-13" if country_code == "FR" else "alpha_rapide_eco", "beta": "beta"}[carrier_code]
    zip_code = {"FR": "75011", "DE": "10115", "BE": "1000"}[country_code]
    place = {"countryCode": country_code, "zip": zip_code, "phone": phone}
    response = post(buyer, order(product_code, destination=place, origin={"phone": "04 72 00 11 22"}))
    assert response.status_code == 201, response.json()
    label = row()
    assert (label.sender["phone"], label.recipient["phone"]) == ("+33472001122", expected)
    assert sandbox.printed(sandbox.made()[0]).phone == expected


@pytest.mark.parametrize("carrier_code", CARRIERS)
@pytest.mark.parametrize("phone", [None, "", "   "])
def test_a_phone_may_be_left_out(phone: str | None, carrier_code: str, buyer: Caller, sandbox: Sandbox) -> None:
    body = order(PRODUCT[carrier_code])
    for name in ("originAddress", "destinationAddress"):
        if phone is None:
            del body[name]["phone"]
        else:
            body[name]["phone"] = phone
    assert post(buyer, body).status_code == 201
    assert (row().sender["phone"], row().recipient["phone"]) == ("", "")
    assert sandbox.printed(sandbox.made()[0]).phone == ""


# --- What of the request counts ---


def test_unknown_fields_are_ignored(buyer: Caller) -> None:
    body = order(shopId="other", id="X", weight=99, status="failed", unknown={"a": ["\0", None]})
    body["destinationAddress"] |= {"company": 5, "name": None}
    body["parcels"][0] |= {"height": "10"}
    answer = post(buyer, body).json()
    assert (answer["shopId"], answer["weight"], answer["status"]) == ("own", 1.25, "label_generated")
    assert answer["id"] != "X"
    assert row().recipient == RECIPIENT


def test_of_a_repeated_key_the_last_value_counts(buyer: Caller) -> None:
    body = bytes_of(order()).replace(b'"orderId":', b'"orderId":5,"orderId":"first","orderId":')
    assert post(buyer, body).json()["orderId"] == "5400000001"


@pytest.mark.parametrize("content_type", ["application/json; charset=utf-8", "APPLICATION/JSON", "application/json;"])
def test_json_is_taken_however_its_media_type_is_written(content_type: str, buyer: Caller) -> None:
    assert post(buyer, order(), content_type=content_type).status_code == 201


@pytest.mark.parametrize("accept", ["text/html", "application/xml", "", "*/*;q=0", "nonsense"])
def test_accept_is_ignored(accept: str, buyer: Caller) -> None:
    response = post(buyer, order(), headers={"Accept": accept})
    assert (response.status_code, response["Content-Type"]) == (201, "application/json")


def test_a_body_of_exactly_1_mib_is_taken(buyer: Caller) -> None:
    body = bytes_of(order())
    assert post(buyer, body + b" " * (1024 * 1024 - len(body))).status_code == 201


def test_any_text_that_can_be_printed_is_kept_as_it_is(buyer: Caller) -> None:
    text = "  \u00e9 e\u0301 \U0001f600 \u202e \n'\"<&;--  "
    assert post(buyer, order(orderId=text)).json()["orderId"] == text
    assert row().order_id == text

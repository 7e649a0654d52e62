"""A label is bought: the answer, its row and its PDF, for every product."""

import re
from datetime import UTC, datetime, timedelta
from typing import Any

import orjson
import pytest
from django.db.models import Model

from carriers.products import PRODUCTS
from labels.ids import id_prefix, id_time, new_label_id
from labels.models import LabelState
from shops.db import clock
from shops.staff import days
from tests.labels.conftest import Sandbox, row
from tests.labels.orders import LINKED, PRODUCT, RECIPIENT, SENDER, order, post, weighing
from tests.labels.urls import pages
from tests.support.api import Caller, client
from tests.support.cases import in_one_test

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


@pytest.mark.any_database
@in_one_test("product_code", PRODUCTS)
def test_every_product_can_be_bought(product_code: str, buyer: Caller, sandbox: Sandbox) -> None:
    ordered = order(product_code)
    body = post(buyer, ordered).json()
    assert (body.get("status"), body.get("productCode")) == ("label_generated", product_code), body
    (parcel,) = sandbox.made(body["id"])
    assert (parcel.carrier, parcel.tracking_number) == (PRODUCTS[product_code].carrier, body["trackingNumber"])
    label = sandbox.printed(parcel)
    assert label.pickup_point == ordered.get("pickupPointCode", "")


@pytest.mark.parametrize(("product_code", "count"), [("alpha-13", 3), (PRODUCT["beta"], 4), (LINKED, 4)])
def test_several_parcels_are_one_label_with_the_first_ones_number(
    product_code: str, count: int, buyer: Caller, sandbox: Sandbox
) -> None:
    weights = [0.5 + number for number in range(count)]
    body = post(buyer, order(product_code, parcels=weighing(*weights))).json()
    made = sandbox.made(body["id"])
    assert [parcel.weight_kg for parcel in made] == weights
    assert [parcel.parcel_rank for parcel in made] == (
        [1] * 4 if product_code == PRODUCT["beta"] else [*range(1, count + 1)]
    )
    assert body["trackingNumber"] == made[0].tracking_number
    assert body["weight"] == sum(weights)
    assert row().tracking_numbers == [parcel.tracking_number for parcel in made]
    pdf = client().get(body["labelUrl"]).content
    assert pages(pdf) == count * (5 if product_code == LINKED else 1)  # each with its customs form of four pages


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


# --- What of the request counts ---


def test_unknown_fields_are_ignored(buyer: Caller) -> None:
    body = order(shopId="other", id="X", weight=99, status="failed", unknown={"a": ["\0", None]})
    body["destinationAddress"] |= {"nickname": 5, "name": None}
    body["parcels"][0] |= {"depth": "10"}
    answer = post(buyer, body).json()
    assert (answer["shopId"], answer["weight"], answer["status"]) == ("own", 1.25, "label_generated")
    assert answer["id"] != "X"
    assert row().recipient == RECIPIENT


def test_of_a_repeated_key_the_last_value_counts(buyer: Caller) -> None:
    body = bytes_of(order()).replace(b'"orderId":', b'"orderId":5,"orderId":"first","orderId":')
    assert post(buyer, body).json()["orderId"] == "5400000001"


@in_one_test("content_type", ["application/json; charset=utf-8", "APPLICATION/JSON", "application/json;"])
def test_json_is_taken_however_its_media_type_is_written(content_type: str, buyer: Caller) -> None:
    assert post(buyer, order(), content_type=content_type).status_code == 201


@pytest.mark.any_database
@in_one_test("accept", ["text/html", "application/xml", "", "*/*;q=0", "nonsense"])
def test_accept_is_ignored(accept: str, buyer: Caller) -> None:
    response = post(buyer, order(), headers={"Accept": accept})
    assert (response.status_code, response["Content-Type"]) == (201, "application/json")


def test_a_body_of_exactly_64_kib_is_taken(buyer: Caller) -> None:
    body = bytes_of(order())
    assert post(buyer, body + b" " * (64 * 1024 - len(body))).status_code == 201


def test_any_text_that_can_be_printed_is_kept_as_it_is(buyer: Caller) -> None:
    text = "  \u00e9 e\u0301 \U0001f600 \u202e \n'\"<&;--  "
    assert post(buyer, order(orderId=text)).json()["orderId"] == text
    assert row().order_id == text


# The label's id


@pytest.mark.parametrize(
    "moment", ["2025-01-01T00:00+00:00", "2026-02-28T23:59:59.999+00:00", "2113-12-31T23:59+00:00"]
)
def test_a_label_id_tells_its_time_to_the_millisecond(moment: str) -> None:
    made_at = datetime.fromisoformat(moment)
    assert id_time(id_prefix(made_at)) == made_at
    assert id_prefix(made_at) < id_prefix(made_at + timedelta(milliseconds=1))


def test_a_new_label_id_tells_the_present_time() -> None:
    assert abs(id_time(new_label_id()) - datetime.now(UTC)) < timedelta(minutes=1)


def test_a_labels_id_tells_the_time_of_its_order_whatever_the_hosts_clock_says(
    sandbox: Sandbox, buyer: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Staff's days and figures go by the id, the API's by `createdAt`."""
    midnight = days.start_of(days.today())
    monkeypatch.setattr(clock, "upper_bound_now", lambda: midnight)  # the database's
    body = post(buyer, order()).json()
    assert id_time(body["id"]) == datetime.fromisoformat(body["createdAt"]) == midnight

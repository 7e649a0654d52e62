"""The baseline: the same look-up and search as a bare WSGI program with psycopg and orjson, and nothing else."""

import os
from collections.abc import Callable, Iterable
from threading import local
from typing import Any
from urllib.parse import parse_qs

import orjson
import psycopg

NAMES = [
    *("id", "shopId", "orderId", "orderNumber", "trackingId", "trackingNumbers", "carrierCode", "carrierProduct"),
    *("carrierDisplayName", "lastStatus", "lastStatusUpdatedAt", "carrierLastStatus", "estimatedDeliveryDateWindow"),
    *("deliveryDate", "endDepositDate", "destination", "lineItems", "events", "createdAt", "updatedAt"),
]
JSON = {"trackingNumbers", "carrierLastStatus", "estimatedDeliveryDateWindow", "destination", "lineItems", "events"}
COLUMNS = (
    "p.id, p.shop_id, order_id, order_number, tracking_id, tracking_numbers, carrier_code, carrier_product,"
    " carrier_display_name, last_status, last_status_updated_at, carrier_last_status, estimated_delivery_date_window,"
    " delivery_date, end_deposit_date, destination, line_items, events, p.created_at, updated_at"
)
LOOK_UP = (
    f"SELECT {COLUMNS} FROM parcels_parcelnumber n JOIN parcels_parcel p ON p.id = n.parcel_id"
    " WHERE n.shop_id = %s AND n.number = %s ORDER BY n.created_at DESC, n.parcel_id DESC LIMIT 1"
)
SEARCH = (
    f"SELECT {COLUMNS} FROM parcels_parcel p WHERE shop_id = %s AND customer_email = %s"
    " ORDER BY created_at DESC, id DESC LIMIT 50"
)
SHOP = os.environ["BENCHMARK_SHOP"]
threads = local()


def connection() -> psycopg.Connection:
    if not hasattr(threads, "connection"):
        threads.connection = psycopg.connect(os.environ["DATABASE_URL"], autocommit=True, prepare_threshold=1)
    return threads.connection  # type: ignore[no-any-return]  # a thread's own attribute


def document(row: tuple[Any, ...]) -> dict[str, Any]:
    return {
        name: orjson.Fragment(value) if name in JSON and value is not None else value
        for name, value in zip(NAMES, row, strict=True)
    }


def application(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
    path: str = environ["PATH_INFO"]
    if path.endswith("/search"):
        email = parse_qs(environ["QUERY_STRING"])["email"][0]
        rows = connection().execute(SEARCH, (SHOP, email)).fetchall()
        body = orjson.dumps([document(row) for row in rows])
    else:
        row = connection().execute(LOOK_UP, (SHOP, path.rpartition("/")[2])).fetchone()
        assert row is not None
        body = orjson.dumps(document(row))
    start_response("200 OK", [("Content-Type", "application/json"), ("Content-Length", str(len(body)))])
    return [body]

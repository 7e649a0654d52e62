"""The baseline: the same look-up and search as a bare WSGI program with psycopg, redis-py and orjson.

It checks the token, counts the request and sends the stored documents, as the service does, and nothing else.
"""

import hashlib
import os
import time
from collections.abc import Callable, Iterable
from threading import local
from typing import Any
from urllib.parse import parse_qs

import orjson
import psycopg
import redis

DOCUMENT = """
    convert_to('{' || p.document_start || ',"destination":' || p.destination || ',"lineItems":' || p.line_items
        || ',"events":' || p.events || ',"createdAt":' || p.created_at || ',"updatedAt":' || p.updated_at || '}',
        'UTF8')
"""
LOOK_UP = f"""
    SELECT {DOCUMENT} FROM parcels_parcelnumber n JOIN parcels_parcel p ON p.id = n.parcel_id
    WHERE n.shop_id = %s AND n.number = %s AND p.shop_id = n.shop_id AND NOT is_withdrawn
    ORDER BY n.created_at DESC, n.parcel_id DESC LIMIT 1
"""
SEARCH = f"""
    SELECT {DOCUMENT} FROM parcels_parcel p WHERE shop_id = %s AND customer_email = %s AND NOT is_withdrawn
    ORDER BY created_at DESC, id DESC LIMIT 50
"""
SHOP_OF_TOKEN = "SELECT shop_id FROM shops_accesstoken WHERE digest = %s AND revoked_at IS NULL"
TOKEN_CACHE_TTL_S = 2
WINDOW_S, LIMIT = 60, 100_000_000
counter = redis.Redis.from_url(os.environ["REDIS_URL"])
shops: dict[str, tuple[str, float]] = {}  # by token, with the time until which it is believed
threads = local()


def rows(statement: str, *values: str) -> list[tuple[Any, ...]]:
    if not hasattr(threads, "connection"):
        threads.connection = psycopg.connect(os.environ["DATABASE_URL"], autocommit=True, prepare_threshold=1)
    return threads.connection.execute(statement, values, binary=True).fetchall()  # type: ignore[no-any-return]  # local


def shop_of(token: str) -> str:
    shop, fresh_until = shops.get(token, ("", 0.0))
    if fresh_until < time.monotonic():
        [(shop,)] = rows(SHOP_OF_TOKEN, hashlib.sha256(token.encode()).hexdigest())
        shops[token] = shop, time.monotonic() + TOKEN_CACHE_TTL_S
    return shop


def count(shop: str) -> int:
    key = f"{shop}:{time.time() // WINDOW_S}"
    counted: Any = counter.incr(key)
    if counted == 1:
        counter.expire(key, WINDOW_S)
    return int(counted)


def application(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
    path: str = environ["PATH_INFO"]
    shop = shop_of(environ["HTTP_AUTHORIZATION"].removeprefix("Bearer "))
    if count(shop) > LIMIT:
        status, body = "429 Too Many Requests", orjson.dumps({"message": "Too many requests", "statusCode": 429})
    elif path.endswith("/search"):
        found = rows(SEARCH, shop, parse_qs(environ["QUERY_STRING"])["email"][0])
        status, body = "200 OK", b"[%b]" % b",".join(document for (document,) in found)
    else:
        [(body,)] = rows(LOOK_UP, shop, path.rpartition("/")[2])
        status = "200 OK"
    start_response(status, [("Content-Type", "application/json"), ("Content-Length", str(len(body)))])
    return [body]
